//! The frontmatter of an artifact at a moment worth going back to: one file, written once, tracked by git.

mod content;
mod name;

pub use content::{Checkpoint, CheckpointContext, CheckpointProblem, NoCheckpoint};
pub use name::{CHECKPOINTS, checkpoint_folder, checkpoint_path, damaged_copy_path, surviving_keys};
