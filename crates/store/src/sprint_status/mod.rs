//! `sprint-status.yaml` and `Status:` lines of BMAD stories beside the frontmatter.

pub(crate) mod ledgers;
pub(crate) mod sprint_ledgers;
#[cfg(feature = "write")]
pub(crate) mod story_ledgers;

pub use sprint_ledgers::{SprintLedger, SprintLedgers};
#[cfg(feature = "write")]
pub use story_ledgers::{
    BrokenSprintStatus, ImportDecision, LedgerLeft, LedgerProjection, StoryImport, StorySurvey, WaitingStory,
};
