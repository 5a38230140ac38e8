//! Gates on the disk: `.stepmark/gates/ARTIFACT/STEP.gate` (see
//! [`projection::gates`](stepmark_model::projection::gates) for what they mean).
//!
//! # Flow
//! Before a change is published, the gates of steps that it takes away are removed; after it, those of the
//! artifact are brought up to date, since the stat of the file is in each. Whoever dies in between leaves
//! gates that a comparison with the stat closes. They are not flushed: a loss of power leaves no gate, or one
//! that the comparison closes.
#![expect(clippy::disallowed_methods, reason = "an edge module: gates are read here")]

mod answer;
mod folder;
#[cfg(feature = "write")]
mod upkeep;
#[cfg(feature = "write")]
mod rebuild;
#[cfg(test)]
#[cfg(feature = "write")]
mod reliability_cases;
#[cfg(test)]
#[cfg(feature = "write")]
mod upkeep_cases;

use std::{fs, io};

pub use answer::{GateAnswer, Tier};
#[cfg(feature = "write")]
pub use rebuild::GateRebuild;

use folder::GateFolder;

use crate::disk::walk::WalkError;
use crate::disk::{root::ResolveError, uninterrupted::uninterrupted};
use crate::workspace::{ArtifactError, Workspace, workflows::WorkflowFileError};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::ProjectPath,
    check::Finding,
    projection::gates::{GATES_FOLDER, GateStep, StoredGate, gate_findings, gate_steps},
};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error("cannot read `{path}`")]
    Read { path: String, source: io::Error },
    #[error(transparent)]
    Workflow(#[from] WorkflowFileError),
    #[error(transparent)]
    Walk(#[from] WalkError),
    #[error(transparent)]
    Artifact(Box<ArtifactError>),
    #[error("cannot change the gates of `{artifact}` in `{GATES_FOLDER}`")]
    Write { artifact: ProjectPath, source: io::Error },
    #[cfg(feature = "write")]
    #[error(transparent)]
    History(#[from] crate::history::HistoryError),
    #[cfg(feature = "write")]
    #[error(transparent)]
    Lock(#[from] crate::commit::LockError),
}

fn steps_of(artifact: &TrackedArtifact) -> Vec<GateStep> {
    gate_steps(artifact.artifact(), artifact.workflow(), artifact.steps().completed())
}

/// The gates of a project's artifacts.
#[derive(Clone, Copy, Debug)]
pub struct Gates<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    /// The gates of a project's artifacts.
    pub const fn gates(&self) -> Gates<'_> {
        Gates { workspace: self }
    }
}

impl Gates<'_> {
    /// The gates that stand for an artifact, in the order of their file names.
    pub fn of(&self, path: &ProjectPath) -> Result<Vec<StoredGate>, GateError> {
        Ok(GateFolder::of(self.workspace.root(), path)?.read()?.unwrap_or_default())
    }

    /// The names and stats of the gates of an artifact, as text: while it is the same, so are they. `None`
    /// where one was written just now, so that it may change without a trace.
    pub(crate) fn stats(&self, path: &ProjectPath) -> Result<Option<String>, GateError> {
        GateFolder::of(self.workspace.root(), path)?.stats()
    }

    /// Returns whether the project has gates at all: without any, none is missed.
    pub fn exist(&self) -> bool {
        uninterrupted(|| fs::read_dir(self.workspace.root().path().join(GATES_FOLDER))).is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        })
    }

    /// Returns a finding for each place where the gates of `artifact` are not those of its steps.
    pub fn findings(&self, artifact: &TrackedArtifact) -> Result<Vec<Finding>, GateError> {
        let stored = self.of(artifact.path())?;
        Ok(gate_findings(artifact.artifact(), &steps_of(artifact), &stored))
    }
}
