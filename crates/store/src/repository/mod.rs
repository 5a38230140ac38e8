//! What git says about the artifacts of a project: versions, branches, changed and checked-out files.

pub(crate) mod chains_in_version;
pub(crate) mod changed_artifacts;
pub(crate) mod checked_out;
#[cfg(feature = "write")]
pub(crate) mod committed_files;
#[cfg(feature = "write")]
pub(crate) mod default_branch;
#[cfg(feature = "write")]
pub(crate) mod git;
pub(crate) mod git_history;

use crate::workspace::Workspace;

pub use changed_artifacts::{ChangedArtifact, ChangedArtifacts, ChangedArtifactsError};
pub use checked_out::CheckedOut;
#[cfg(feature = "write")]
pub use committed_files::CommittedFiles;

/// The git repository that a project lies in.
#[derive(Clone, Copy, Debug)]
pub struct Repository<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    /// The git repository that a project lies in.
    pub const fn repository(&self) -> Repository<'_> {
        Repository { workspace: self }
    }
}
