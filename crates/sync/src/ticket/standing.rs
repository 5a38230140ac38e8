//! Whether a ticket is open.

use serde::{Deserialize, Serialize};

/// Whether a ticket is open, as every tracker knows it: Jira's three status categories, and the reasons why GitHub closes an
/// issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Open, and nothing is done yet.
    ToDo,
    /// Open, and some of it is done.
    InProgress,
    /// Closed.
    Closed(CloseReason),
}

/// Why a ticket is closed: the values of `state_reason` in GitHub's REST description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseReason {
    /// The work is done.
    Completed,
    /// It will not be done.
    NotPlanned,
    /// Another ticket of the same artifact is the one that counts.
    Duplicate,
}

impl Standing {
    /// Whether it is open.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::ToDo | Self::InProgress)
    }
}
