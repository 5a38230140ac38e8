//! All that was found out about an artifact.

use jiff::Timestamp;

use super::{NextStep, SourceReport, Tier};
use crate::{artifact::ProjectPath, journal::EventId};

/// All facts on which the point to go on is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeReport {
    pub artifact: ProjectPath,
    /// The furthest tier that was read; `None` before the first look.
    pub looked: Option<Tier>,
    /// The reports of the sources; of one kind, the newest first.
    pub sources: Vec<SourceReport>,
    pub delegations: Vec<OpenDelegation>,
    pub sessions: Vec<InterruptedSession>,
    /// The obstacles to reading a source wholly.
    pub cautions: Vec<String>,
}

/// Work that was given away and is not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDelegation {
    pub path: ProjectPath,
    pub status: Option<String>,
    pub next: Vec<NextStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptedSession {
    pub id: String,
    pub event: EventId,
    pub kind: String,
    pub at: Timestamp,
    pub artifact: Option<ProjectPath>,
}

impl ResumeReport {
    /// Nothing is known yet.
    pub const fn none(artifact: ProjectPath) -> Self {
        Self {
            artifact,
            looked: None,
            sources: Vec::new(),
            delegations: Vec::new(),
            sessions: Vec::new(),
            cautions: Vec::new(),
        }
    }
}
