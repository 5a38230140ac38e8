//! Issues of GitHub or GitHub Enterprise (docs/formats.md, "Trackers"): REST for creations and lists, GraphQL
//! in batches for changes and reads where it exists, else REST.

mod issue;
mod request;
mod rest;
mod graphql;
mod service;

pub use service::{GitHubSettings, GitHubTracker};
