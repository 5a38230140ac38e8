//! The typed view of a document: steps, status, scope, ids, times, and a diagnosis of every oddity.

mod path;
pub mod parsed_scalar;
mod field;
mod digest;
mod steps;
mod inputs;
mod scope;
mod delegation;
mod ambiguity;
mod body;
mod ledger_key;
mod sprint_status;
mod diagnosis;
mod view;
#[cfg(test)]
mod cases;

pub use body::BodyStatus;
pub use delegation::{ChainPath, Delegation};
pub use diagnosis::{Diagnosis, Problem};
pub use digest::{FileHash, FileHashError, LineEndHasher, LineEndHashes, StateDigest, StateUnreadable};
pub use field::{Field, FieldKind};
pub use field::{TIME_KEYS, Timestamp, is_time_key};
pub use inputs::InputDocument;
pub use ledger_key::{LedgerKey, LedgerPart};
pub use ledger_key::{is_story_spec, story_key};
pub use path::{
    PathGlob, PathGlobError, PathGlobs, ProjectPath, ProjectPathError, READ_LIMIT, names_git_folder,
    natural_order,
};
pub use scope::Scope;
pub(crate) use sprint_status::STATES_KEY;
pub use sprint_status::{SPRINT_STATUS_NAME, SprintStatus};
pub use steps::{STEPS_KEYS, StepItem, StepItemKind, Steps, StepsForm};
pub use view::{Artifact, FrontmatterState};
