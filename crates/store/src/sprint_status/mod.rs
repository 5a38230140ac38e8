//! `sprint-status.yaml` and `Status:` lines of BMAD stories beside the frontmatter.

pub(crate) mod ledgers;
pub(crate) mod sprint_ledgers;
#[cfg(feature = "write")]
pub(crate) mod story_ledgers;

use crate::workspace::Workspace;

pub use sprint_ledgers::{SprintLedger, SprintLedgers};
#[cfg(feature = "write")]
pub use story_ledgers::{
    BrokenSprintStatus, ImportDecision, LedgerLeft, LedgerProjection, StoryImport, StorySurvey, WaitingStory,
};

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
