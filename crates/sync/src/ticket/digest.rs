//! What two tickets that say the same have in common.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use stepmark_model::artifact::{FileHash, FileHashError};

/// SHA-256 of the canonical form of a ticket ([`Ticket::canonical`](super::Ticket::canonical)). A tracker that has this digest
/// is sent nothing. Shown as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TicketDigest(FileHash);

impl TicketDigest {
    pub(super) fn of(canonical: &str) -> Self {
        Self(FileHash::of(canonical.as_bytes()))
    }
}

impl fmt::Display for TicketDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl fmt::Debug for TicketDigest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl FromStr for TicketDigest {
    type Err = FileHashError;

    fn from_str(text: &str) -> Result<Self, FileHashError> {
        text.parse().map(Self)
    }
}
