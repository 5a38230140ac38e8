//! Where a credential would go.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::BaseUrl;

/// The address and the part of it that a tracker sends to: a repository or a project. A person allows one of these at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Destination {
    base_url: String,
    target: String,
}

impl Destination {
    /// The `target` (`owner/name`, or the key of a project) at `base_url`.
    pub fn new(base_url: &BaseUrl, target: String) -> Self {
        Self { base_url: base_url.as_str().to_owned(), target }
    }

    /// The repository or project.
    pub fn target(&self) -> &str {
        &self.target
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.base_url, self.target)
    }
}
