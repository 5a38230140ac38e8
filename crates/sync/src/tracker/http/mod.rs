//! HTTP for trackers: answers are bounded in size and time, redirects stay within the host, and no credential
//! is shown.

mod client;

use std::{collections::BTreeMap, time::Duration};

use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use url::Url;

use crate::{
    breaker::{Failure, Reason},
    tracker::Outcome,
};

pub(super) use client::{HttpClient, HttpIdentity, HttpScheme};

#[derive(Clone, Debug)]
pub(in crate::tracker) struct HttpRequest {
    pub(in crate::tracker) method: Method,
    pub(in crate::tracker) url: Url,
    pub(in crate::tracker) body: Option<Json>,
    pub(in crate::tracker) effect: Effect,
}

/// The method does not tell: GraphQL reads with `POST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tracker) enum Effect {
    Reads,
    /// If the answer is lost, the request may have been done.
    Writes,
}

impl HttpRequest {
    pub(in crate::tracker) const fn get(url: Url) -> Self {
        Self { method: Method::GET, url, body: None, effect: Effect::Reads }
    }

    #[cfg(feature = "jira")]
    pub(in crate::tracker) const fn query(url: Url, body: Json) -> Self {
        Self { method: Method::POST, url, body: Some(body), effect: Effect::Reads }
    }

    pub(in crate::tracker) const fn write(method: Method, url: Url, body: Json) -> Self {
        Self { method, url, body: Some(body), effect: Effect::Writes }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    pub connect: Duration,
    /// To the last byte of the answer, redirects included.
    pub answer: Duration,
    /// A page of a hundred issues whose bodies are full has 26 MB.
    pub answer_bytes: usize,
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

#[derive(Clone, Debug)]
pub(in crate::tracker) struct HttpReply {
    pub(in crate::tracker) status: u16,
    /// By lower-case name; of several the last. Only those that are text.
    pub(in crate::tracker) headers: BTreeMap<String, String>,
    /// Without the credential, should the server repeat it.
    pub(in crate::tracker) body: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tracker) enum Refused {
    Failed(Failure),
    InDoubt(Failure),
}

impl Refused {
    /// A read that was lost leaves no doubt.
    const fn lost(effect: Effect, failure: Failure) -> Self {
        match effect {
            Effect::Reads => Self::Failed(failure),
            Effect::Writes => Self::InDoubt(failure),
        }
    }

    /// A server error leaves changes in doubt: a proxy may have lost the answer.
    pub(in crate::tracker) const fn answered(effect: Effect, failure: Failure) -> Self {
        match failure.reason {
            Reason::ServerError | Reason::Timeout | Reason::Unreadable => Self::lost(effect, failure),
            _ => Self::Failed(failure),
        }
    }

    pub(in crate::tracker) fn outcome<T>(self) -> Outcome<T> {
        match self {
            Self::Failed(failure) => Outcome::Failed(failure),
            Self::InDoubt(failure) => Outcome::InDoubt(failure),
        }
    }

    pub(in crate::tracker) const fn failure(&self) -> &Failure {
        match self {
            Self::Failed(failure) | Self::InDoubt(failure) => failure,
        }
    }

    /// After another write was done: then nothing is certain about the whole.
    pub(in crate::tracker) fn after_a_write(self) -> Self {
        match self {
            Self::Failed(failure) if failure.reason != Reason::Invalid => Self::InDoubt(failure),
            other => other,
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Failed(failure) | Refused::InDoubt(failure) => failure,
        }
    }
}

impl HttpReply {
    pub(in crate::tracker) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
    /// A success that cannot be read leaves a write in doubt.
    pub(in crate::tracker) fn read<T: DeserializeOwned>(
        &self,
        effect: Effect,
        refusal: Option<Failure>,
    ) -> Result<T, Refused> {
        let unreadable = |error| self.failure(Reason::Unreadable, &format!("{error}: {}", self.beginning()));
        match refusal {
            Some(failure) => Err(Refused::answered(effect, failure)),
            None => serde_json::from_str(&self.body)
                .map_err(|error: serde_json::Error| Refused::answered(effect, unreadable(error))),
        }
    }

    pub(in crate::tracker) fn failure(&self, reason: Reason, said: &str) -> Failure {
        Failure::new(reason, &format!("HTTP {}: {said}", self.status))
    }

    /// Enough to look for phrases.
    pub(in crate::tracker) fn beginning(&self) -> &str {
        &self.body[..self.body.floor_char_boundary(4096)]
    }
}
