//! `sprint-status.yaml` and `Status:` lines of BMAD stories beside the frontmatter: which files, read and
//! published how. What is written, and whether it may be, is decided in
//! [`bmad::sprint`](stepmark_model::bmad::sprint).

mod ledgers;
#[cfg(feature = "write")]
mod following;
#[cfg(feature = "write")]
mod import;
#[cfg(feature = "write")]
mod projecting;

#[cfg(feature = "write")]
use std::sync::Arc;

use crate::workspace::Workspace;
#[cfg(feature = "write")]
use stepmark_model::{
    bmad::sprint::{Story, StoryState},
    tracked_artifact::TrackedArtifact,
};

#[cfg(feature = "write")]
pub(crate) use following::{MovedStory, listing_of};
#[cfg(feature = "write")]
pub use following::{StorySurvey, WaitingStory};
#[cfg(feature = "write")]
pub use import::{ImportDecision, StoryImport};
pub(crate) use ledgers::Ledgers;
pub use ledgers::{BrokenSprintStatus, SprintLedger, SprintLedgers};
#[cfg(feature = "write")]
pub use projecting::{LedgerLeft, LedgerProjection};

/// The stories of BMAD's sprints, in `sprint-status.yaml` and in their own files.
#[derive(Clone, Copy, Debug)]
pub struct StoryLedgers<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    /// The stories of BMAD's sprints, in `sprint-status.yaml` and in their own files.
    pub const fn ledgers(&self) -> StoryLedgers<'_> {
        StoryLedgers { workspace: self }
    }
}

#[cfg(feature = "write")]
fn story_state(artifact: &TrackedArtifact) -> StoryState {
    Story::read(artifact.artifact(), || artifact.lifecycle().map(|choice| Arc::clone(&choice.lifecycle)))
}
