//! Bringing the ledgers of stories to what frontmatter says: which files, read and published how. What is written, and whether it may
//! be, is decided in [`project::story_ledger`](stepmark_model::projection::story_ledger).

mod following;
mod import;
mod projecting;
mod shelf;
mod survey;

pub(crate) use following::{MovedStory, listing_of};
pub use import::{ImportDecision, StoryImport};
pub use projecting::{BrokenSprintStatus, LedgerLeft, LedgerProjection};
pub use survey::{StorySurvey, WaitingStory};

use std::sync::Arc;

use stepmark_model::projection::story_ledger::{Story, StoryState};
use stepmark_model::tracked_artifact::TrackedArtifact;

/// What an artifact is to the ledgers.
pub(crate) fn standing_of(artifact: &TrackedArtifact) -> StoryState {
    Story::read(artifact.artifact(), || artifact.lifecycle().map(|choice| Arc::clone(&choice.lifecycle)))
}
