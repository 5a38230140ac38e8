//! What is sent.

use reqwest::Method;
use serde_json::Value as Json;
use url::Url;

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
