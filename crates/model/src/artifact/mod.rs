//! The typed view of a document: steps, status, scope, ids, times, and a diagnosis of every oddity.

mod path;
mod natural_order;
mod git_folder;
pub mod parsed_scalar;
mod path_globs;
mod field;
mod file_hash;
mod line_end_hashes;
mod steps;
mod inputs;
mod scope;
mod delegation;
mod times;
mod ambiguity;
mod body;
mod ledger_key;
mod story;
mod sprint_status;
mod diagnosis;
mod view;
mod state_value;
mod state_digest;
#[cfg(test)]
mod cases;

pub use body::BodyStatus;
pub use delegation::{ChainPath, Delegation};
pub use diagnosis::{Diagnosis, Problem};
pub use field::{Field, FieldKind};
pub use file_hash::{FileHash, FileHashError};
pub use git_folder::names_git_folder;
pub use inputs::InputDocument;
pub use ledger_key::{LedgerKey, LedgerPart};
pub use line_end_hashes::{LineEndHasher, LineEndHashes};
pub use natural_order::natural_order;
pub use path::{ProjectPath, ProjectPathError, READ_LIMIT};
pub use path_globs::{PathGlob, PathGlobError, PathGlobs};
pub use scope::Scope;
pub(crate) use sprint_status::STATES_KEY;
pub use sprint_status::{SPRINT_STATUS_NAME, SprintStatus};
pub use state_digest::StateDigest;
pub use state_value::StateUnreadable;
pub use steps::{STEPS_KEYS, StepItem, StepItemKind, Steps, StepsForm};
pub use story::{is_story_spec, story_key};
pub use times::{TIME_KEYS, Timestamp, is_time_key};
pub use view::{Artifact, FrontmatterState};
