//! The statement of one source.

use std::fmt;

use jiff::Timestamp;

use super::{NoResumePoint, ResumePoint, Tier};
use crate::{artifact::ProjectPath, journal::EventId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceReport {
    pub source: StateSource,
    pub result: SourceResult,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateSource {
    Frontmatter,
    /// A checkpoint; `None` where there is none to name.
    Checkpoint(Option<ProjectPath>),
    /// The last state of the journal, after this event.
    Journal(Option<EventId>),
    /// The newest committed version whose frontmatter can be read.
    GitHistory(Option<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceResult {
    State {
        /// The time of the state, as far as the source knows.
        at: Option<Timestamp>,
        point: ResumePoint,
    },
    /// A state, which does not tell how to go on.
    Unclear {
        reason: NoResumePoint,
    },
    Nothing {
        reason: String,
    },
    Distrusted {
        reason: String,
    },
}

impl SourceReport {
    /// The state that it tells of and that is believed, and when it was so.
    pub const fn state(&self) -> Option<(Option<Timestamp>, &ResumePoint)> {
        match &self.result {
            SourceResult::State { at, point } => Some((*at, point)),
            _ => None,
        }
    }

    /// The reason why it is not believed.
    pub fn distrusted(&self) -> Option<&str> {
        match &self.result {
            SourceResult::Distrusted { reason } => Some(reason),
            _ => None,
        }
    }
}

impl StateSource {
    pub const fn tier(&self) -> Tier {
        match self {
            Self::Frontmatter => Tier::Frontmatter,
            Self::Checkpoint(_) => Tier::Checkpoint,
            Self::Journal(_) | Self::GitHistory(_) => Tier::Everything,
        }
    }

    pub const fn word(&self) -> &'static str {
        match self {
            Self::Frontmatter => "frontmatter",
            Self::Checkpoint(_) => "checkpoint",
            Self::Journal(_) => "journal",
            Self::GitHistory(_) => "git",
        }
    }

    pub fn name(&self) -> Option<String> {
        match self {
            Self::Frontmatter => None,
            Self::Checkpoint(path) => path.as_ref().map(ToString::to_string),
            Self::Journal(event) => event.as_ref().map(ToString::to_string),
            Self::GitHistory(commit) => commit.clone(),
        }
    }
}

impl fmt::Display for StateSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frontmatter => out.write_str("the frontmatter"),
            Self::Checkpoint(None) => out.write_str("checkpoints"),
            Self::Checkpoint(Some(path)) => write!(out, "the checkpoint `{path}`"),
            Self::Journal(None) => out.write_str("the journal"),
            Self::Journal(Some(event)) => {
                write!(out, "the journal, after event {}", short(&event.to_string()))
            }
            Self::GitHistory(None) => out.write_str("git"),
            Self::GitHistory(Some(commit)) => write!(out, "git, in commit {}", short(commit)),
        }
    }
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

impl fmt::Display for SourceResult {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State { at: Some(at), point } => write!(out, "{} ({at})", point.in_words()),
            Self::State { at: None, point } => out.write_str(&point.in_words()),
            Self::Unclear { reason } => reason.fmt(out),
            Self::Nothing { reason } => out.write_str(reason),
            Self::Distrusted { reason } => write!(out, "not believed: {reason}"),
        }
    }
}
