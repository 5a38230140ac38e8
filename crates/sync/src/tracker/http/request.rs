//! A request over HTTP, its limits, and the reply.

use std::{collections::BTreeMap, time::Duration};

use reqwest::Method;
use serde_json::Value as Json;
use url::Url;

use crate::breaker::Failure;

/// A request.
#[derive(Clone, Debug)]
pub(in crate::tracker) struct HttpRequest {
    /// The method.
    pub(in crate::tracker) method: Method,
    /// Where it goes: to the host of the client, or it is not sent.
    pub(in crate::tracker) url: Url,
    /// What is sent along.
    pub(in crate::tracker) body: Option<Json>,
    /// Whether it changes something.
    pub(in crate::tracker) effect: Effect,
}

/// Whether a request changes something. The method does not tell: GraphQL reads with `POST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tracker) enum Effect {
    /// Nothing: a lost answer leaves no doubt.
    Reads,
    /// Something: where the answer is lost, nobody knows whether it was done.
    Writes,
}

impl HttpRequest {
    /// A request that reads at `url`.
    pub(in crate::tracker) const fn get(url: Url) -> Self {
        Self { method: Method::GET, url, body: None, effect: Effect::Reads }
    }

    /// A request that asks `url` for what `body` says, and changes nothing.
    #[cfg(feature = "jira")]
    pub(in crate::tracker) const fn query(url: Url, body: Json) -> Self {
        Self { method: Method::POST, url, body: Some(body), effect: Effect::Reads }
    }

    /// A request that writes `body` at `url`.
    pub(in crate::tracker) const fn write(method: Method, url: Url, body: Json) -> Self {
        Self { method, url, body: Some(body), effect: Effect::Writes }
    }
}

/// The limits of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Until there is a connection.
    pub connect: Duration,
    /// From the beginning to the last byte of the answer, redirects included.
    pub answer: Duration,
    /// How many bytes an answer has at most. A page of a hundred issues whose bodies are full has 26 MB.
    pub answer_bytes: usize,
    /// How many redirects are followed.
    pub redirects: u8,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(60),
            answer_bytes: 48 * 1024 * 1024,
            redirects: 3,
        }
    }
}

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub(in crate::tracker) struct HttpReply {
    /// The status.
    pub(in crate::tracker) status: u16,
    /// The headers that are text, by their lower-case names; of several with one name the last.
    pub(in crate::tracker) headers: BTreeMap<String, String>,
    /// The body, without the credential, should the server repeat it.
    pub(in crate::tracker) body: String,
}

/// No answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tracker) enum HttpFailure {
    /// The request never left: nothing was done.
    NotSent(Failure),
    /// It may have arrived.
    Lost(Failure),
}

impl HttpReply {
    /// A header by its lower-case name.
    pub(in crate::tracker) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}
