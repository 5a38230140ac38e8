//! Findings about an artifact, by source.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::Serialize;

use super::{NextStep, NoResumePoint, ResumePoint};
use crate::{artifact::ProjectPath, journal::EventId, tracked_artifact::TrackedArtifact};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeReport {
    pub artifact: ProjectPath,
    /// The last tier that was read.
    pub tier: Tier,
    /// Newest first per kind.
    pub sources: Vec<SourceReport>,
    pub delegations: Vec<OpenDelegation>,
    pub sessions: Vec<InterruptedSession>,
    pub cautions: Vec<String>,
}

impl ResumeReport {
    pub fn new(artifact: ProjectPath, frontmatter: SourceResult) -> Self {
        let sources =
            vec![SourceReport { source: StateSource::Frontmatter, name: None, result: frontmatter }];
        let (delegations, sessions, cautions) = (Vec::new(), Vec::new(), Vec::new());
        Self { artifact, tier: Tier::Frontmatter, sources, delegations, sessions, cautions }
    }

    pub fn add(&mut self, source: StateSource, name: Option<String>, result: SourceResult) {
        self.sources.push(SourceReport { source, name, result });
    }
}

/// Cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    Frontmatter = 1,
    Checkpoint,
    /// Journal, all checkpoints, git, delegations, other sessions.
    Everything,
}

impl FromStr for Tier {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let tiers = [Self::Frontmatter, Self::Checkpoint, Self::Everything];
        let found = tiers.into_iter().find(|tier| (*tier as u8).to_string() == text);
        found.ok_or_else(|| {
            format!("`{text}` is no tier: 1 (frontmatter), 2 (checkpoint) or 3 (everything) is wanted")
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct OpenDelegation {
    pub path: ProjectPath,
    pub status: Option<String>,
    pub next: Vec<NextStep>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct InterruptedSession {
    #[serde(rename = "session")]
    pub id: String,
    #[serde(rename = "last_event")]
    pub event: EventId,
    pub kind: String,
    pub at: Timestamp,
    pub artifact: Option<ProjectPath>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceReport {
    pub source: StateSource,
    /// Checkpoint path, event id, or commit.
    pub name: Option<String>,
    pub result: SourceResult,
}

/// For equal times, the later source wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StateSource {
    /// The newest commit with readable frontmatter.
    Git,
    Checkpoint,
    Journal,
    Frontmatter,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceResult {
    State {
        at: Option<Timestamp>,
        point: ResumePoint,
    },
    /// A state without a next step.
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

impl StateSource {
    pub const fn tier(self) -> Tier {
        match self {
            Self::Frontmatter => Tier::Frontmatter,
            Self::Checkpoint => Tier::Checkpoint,
            Self::Journal | Self::Git => Tier::Everything,
        }
    }
}

impl SourceReport {
    /// Only if it is trusted.
    pub const fn state(&self) -> Option<(Option<Timestamp>, &ResumePoint)> {
        match &self.result {
            SourceResult::State { at, point } => Some((*at, point)),
            _ => None,
        }
    }
}

impl SourceResult {
    pub fn of(artifact: &TrackedArtifact, at: Option<Timestamp>) -> Self {
        match ResumePoint::of(artifact) {
            Ok(point) => Self::State { at, point },
            Err(reason) => Self::Unclear { reason },
        }
    }

    pub fn nothing(reason: impl Into<String>) -> Self {
        Self::Nothing { reason: reason.into() }
    }

    pub fn distrusted(reason: impl Into<String>) -> Self {
        Self::Distrusted { reason: reason.into() }
    }

    pub const fn word(&self) -> &'static str {
        match self {
            Self::State { .. } => "state",
            Self::Unclear { .. } => "unclear",
            Self::Nothing { .. } => "nothing",
            Self::Distrusted { .. } => "distrusted",
        }
    }
}

impl fmt::Display for SourceReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |id: &'_ str| id.get(..12).unwrap_or(id).to_owned();
        match (self.source, &self.name) {
            (StateSource::Frontmatter, _) => out.write_str("the frontmatter"),
            (StateSource::Checkpoint, None) => out.write_str("checkpoints"),
            (StateSource::Checkpoint, Some(path)) => write!(out, "the checkpoint `{path}`"),
            (StateSource::Journal, None) => out.write_str("the journal"),
            (StateSource::Journal, Some(event)) => write!(out, "the journal, after event {}", short(event)),
            (StateSource::Git, None) => out.write_str("git"),
            (StateSource::Git, Some(commit)) => write!(out, "git, in commit {}", short(commit)),
        }
    }
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
