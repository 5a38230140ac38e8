//! All that was found out about an artifact.

use jiff::Timestamp;

use super::{NextStep, SourceReport, Tier};
use crate::{artifact::ProjectPath, journal::EventId};

/// What is known of an artifact when it is decided where to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeReport {
    /// The artifact.
    pub artifact: ProjectPath,
    /// How far was looked; `None` before the first look.
    pub looked: Option<Tier>,
    /// What the sources said: of one kind, the newest first.
    pub sources: Vec<SourceReport>,
    /// Children that are not finished.
    pub delegations: Vec<OpenDelegation>,
    /// Other sessions that never ended.
    pub sessions: Vec<InterruptedSession>,
    /// What kept a source from being looked at wholly.
    pub cautions: Vec<String>,
}

/// Work that was given away and is not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDelegation {
    /// The child artifact.
    pub path: ProjectPath,
    /// Its `status`, as it is spelled.
    pub status: Option<String>,
    /// What comes next in it, if it tells.
    pub next: Vec<NextStep>,
}

/// A session that never ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptedSession {
    /// Its name.
    pub id: String,
    /// Its last event.
    pub event: EventId,
    /// What that was.
    pub kind: String,
    /// When.
    pub at: Timestamp,
    /// The artifact that it was about.
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
