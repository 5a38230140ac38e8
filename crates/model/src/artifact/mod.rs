//! The typed view of a document, with a diagnosis of each oddity.

mod path;

mod field;
mod digest;
mod delegation;
mod body;
mod diagnosis;
mod frontmatter_state;
mod view;

pub use body::{BodyStatus, KIND_KEY, Kind, is_same_status, with_plain_boxes};
pub use delegation::{ChainPath, Delegation, InputDocument};
pub use diagnosis::{Diagnosis, Problem};
pub use digest::{FileHash, FileHashError, LineEndHasher, LineEndHashes, StateDigest, StateUnreadable};
pub use field::{
    Field, FieldKind, STEPS_KEYS, Scope, StepItem, StepItemKind, Steps, StepsForm, TIME_KEYS, Timestamp,
    is_time_key,
};
pub use frontmatter_state::FrontmatterState;
pub use path::{
    PathGlob, PathGlobs, ProjectPath, ProjectPathError, READ_LIMIT, names_git_folder, natural_order,
};
pub use view::{Artifact, file_with_state, state_edits, state_file, state_region};

#[cfg(test)]
mod cases;
