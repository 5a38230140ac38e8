//! Checking artifacts of the project on the disk: the facts that rules ask for are gathered here.
#![expect(clippy::disallowed_methods, reason = "an edge module: whether files exist is asked here")]

use std::fs;

use super::{TrackedArtifact, Workspace, gates::GateError, walk::WalkError};
use crate::{
    artifact::ProjectPath,
    check::{self, Finding, Subject, Surroundings},
    delegation::Chains,
    journal::store::HistoryError,
};

/// Why artifacts cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The artifacts of the project, whose chains count, cannot be listed.
    #[error("cannot look for the artifacts that a chain of delegation names")]
    Chains(#[from] WalkError),
    /// Gates cannot be read.
    #[error(transparent)]
    Gates(#[from] GateError),
    /// History, which may explain what is gone, cannot be read.
    #[error("cannot ask the journal whether it explains what is gone")]
    History(#[from] HistoryError),
}

/// Which artifacts are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of the project.
    All,
    /// Some of them: what concerns several artifacts is looked up.
    Some,
}

/// The files on the disk.
struct OnDisk<'w>(&'w Workspace);

impl Surroundings for OnDisk<'_> {
    fn exists(&self, path: &ProjectPath) -> bool {
        fs::metadata(self.0.root().path().join(path.as_str())).is_ok()
    }
}

impl Workspace {
    /// What is wrong with each of `artifacts`, in their order; findings in file order.
    ///
    /// # Errors
    /// When the project's other artifacts or gates, which some rules ask for, cannot be read.
    pub fn check(
        &self,
        artifacts: &[TrackedArtifact],
        selection: Selection,
    ) -> Result<Vec<Vec<Finding>>, CheckError> {
        let chains = self.chains_of(artifacts, selection)?;
        let surroundings = OnDisk(self);
        let has_gates = self.has_gates();
        let check_one = |artifact: &TrackedArtifact| {
            let progress = artifact.progress();
            let subject = Subject {
                surroundings: Some(&surroundings),
                chains: chains.as_ref(),
                ..Subject::alone(artifact.artifact(), progress.as_ref())
            };
            let mut findings = check::findings(&subject);
            if has_gates {
                findings.extend(self.gate_findings(artifact)?);
            }
            Ok(findings)
        };
        artifacts.iter().map(check_one).collect()
    }

    /// The chains of delegation of the project. That takes all artifacts, so they are read where one of the checked ones takes
    /// part in a chain.
    fn chains_of(
        &self,
        artifacts: &[TrackedArtifact],
        selection: Selection,
    ) -> Result<Option<Chains>, WalkError> {
        if selection == Selection::All {
            return Ok(Some(Chains::of(artifacts.iter().map(TrackedArtifact::member))));
        }
        if !artifacts.iter().any(|artifact| artifact.state().delegation.is_some()) {
            return Ok(None);
        }
        Ok(Some(Chains::of(self.artifacts()?.artifacts.iter().map(TrackedArtifact::member))))
    }
}
