//! History held against the artifacts and against itself.

pub(crate) mod history_verification;
pub(crate) mod replaying;

pub use history_verification::verify_history;
pub use replaying::{Obstacle, ReplayArtifactsError, Replayed, ReplayedArtifacts};
