//! The handle of a project: its root, configuration, workflows and artifacts.

pub(crate) mod workflow_listing;
pub(crate) mod workflow_state;
pub(crate) mod workflows;
pub(crate) mod clock;
pub(crate) mod snapshot;
pub(crate) mod handle;
#[cfg(feature = "history")]
pub(crate) mod project_history;
pub(crate) mod artifact_files;
#[cfg(any(feature = "history", feature = "watch"))]
pub(crate) mod artifact_folders;
#[cfg(feature = "write")]
pub(crate) mod claimed;
pub(crate) mod context;
pub(crate) mod chain;

pub use chain::{ArtifactChange, ArtifactChanges, ChainLink, Delegations, Revision};
pub use clock::Clock;
pub use context::{Context, ContextWorkflow, Contexts};
pub use handle::{Artifacts, Workspace};
#[cfg(feature = "history")]
pub use project_history::ProjectHistory;
pub use snapshot::UnusableRecord;
pub use workflows::Workflows;
