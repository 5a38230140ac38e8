//! Requests over HTTP, the only edge of trackers that are reached over a network: what comes back is bounded
//! in size and time, a redirect is followed within the host alone, and no credential is told. What an answer
//! means is decided elsewhere.

mod request;
mod client;

pub(super) use client::{HttpClient, HttpIdentity, HttpScheme};
pub use request::HttpLimits;
pub(super) use request::{Effect, HttpReply, HttpRequest, Refused};
