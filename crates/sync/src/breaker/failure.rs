//! A request that failed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Reason;

/// A request that failed, as the pure machines hear of it and as it is shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Why.
    pub reason: Reason,
    /// The moment that the tracker named for the next request, by this machine's clock.
    pub wait_until: Option<Timestamp>,
    /// What the tracker said, in one line, without credentials. At most a few hundred characters.
    pub detail: String,
}

impl Failure {
    /// A failure about which nothing else is known.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, wait_until: None, detail: detail.into() }
    }
}
