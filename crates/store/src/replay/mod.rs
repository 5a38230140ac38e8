//! History held against the artifacts and against itself.

pub(crate) mod replaying;

pub use replaying::{Obstacle, ReplayArtifactsError, Replayed, ReplayedArtifacts};
