//! "May I go on?", from the artifact; and gates on the disk, an export of it (see
//! [`projection::gates`](stepmark_model::projection::gates)).
#![expect(clippy::disallowed_methods, reason = "an edge module: gates are read here")]

#[cfg(feature = "write")]
mod upkeep;

use std::{fs, path::PathBuf};

#[cfg(feature = "write")]
pub use upkeep::GateRebuild;

use crate::Error;
use crate::disk::{file_lock::uninterrupted, names_in_place, root::Root};
use crate::workspace::Workspace;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::ProjectPath,
    check::Finding,
    lease::Lease,
    projection::gates::{Closed, GATE_EXTENSION, GATES_FOLDER, GateStep, gate_findings, gate_steps, verify},
    workflow::StepId,
};

#[derive(Clone, Debug)]
pub struct GateAnswer {
    pub path: ProjectPath,
    pub step: String,
    /// `Ok`: go on.
    pub verdict: Result<(), Closed>,
    pub lease: Option<Lease>,
}

#[derive(Clone, Copy, Debug)]
pub struct Gates<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn gates(&self) -> Gates<'_> {
        Gates { workspace: self }
    }
}

impl Gates<'_> {
    /// `gates: true` in the configuration.
    pub fn are_on(&self) -> bool {
        self.workspace.configuration().gates
    }

    /// A project may have gates from before they were switched off.
    pub fn exist(&self) -> bool {
        uninterrupted(|| fs::read_dir(self.workspace.root().path().join(GATES_FOLDER))).is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        })
    }

    /// Reads the artifact: is `step` completed, in a frontmatter that all readers read alike?
    pub fn verify(&self, path: &ProjectPath, step: &str) -> Result<GateAnswer, Error> {
        let verdict = match self.workspace.artifact(path) {
            Ok(artifact) => {
                let completed = artifact.steps().completed();
                verify(artifact.artifact(), artifact.workflow(), completed, &StepId::parse(step))
            }
            Err(error) if error.is_missing() => Err(Closed::NoArtifact),
            Err(error) => return Err(error),
        };
        Ok(GateAnswer { path: path.clone(), step: step.to_owned(), verdict, lease: None })
    }

    /// Under the artifact's lease, so that nobody else changes the answer. If the step is not done, releases
    /// a lease taken here.
    #[cfg(feature = "write")]
    pub fn check_exclusively(
        &self,
        path: &ProjectPath,
        step: &str,
        duration: std::time::Duration,
    ) -> Result<GateAnswer, Error> {
        let taken = self.workspace.leases().take(path, duration, stepmark_model::lease::Claim::ForOneStep)?;
        let answer = self.verify(path, step);
        let is_done = answer.as_ref().is_ok_and(|answer| answer.verdict.is_ok());
        if !is_done && !taken.is_renewed {
            self.workspace.leases().release_taken(path, &taken.lease)?;
        }
        Ok(GateAnswer { lease: is_done.then_some(taken.lease), ..answer? })
    }

    pub fn steps(&self, path: &ProjectPath) -> Result<Vec<GateStep>, Error> {
        self.workspace.artifact(path).map(|artifact| steps_of(&artifact))
    }

    pub fn of(&self, path: &ProjectPath) -> Result<Vec<String>, Error> {
        GateFolder::of(self.workspace.root(), path)?.names()
    }

    pub fn findings(&self, artifact: &TrackedArtifact) -> Result<Vec<Finding>, Error> {
        Ok(gate_findings(artifact.artifact(), &steps_of(artifact), &self.of(artifact.path())?))
    }
}

fn steps_of(artifact: &TrackedArtifact) -> Vec<GateStep> {
    gate_steps(artifact.artifact(), artifact.workflow(), artifact.steps().completed())
}

#[derive(Debug)]
struct GateFolder {
    path: ProjectPath,
    place: PathBuf,
}

impl GateFolder {
    #[expect(clippy::expect_used, reason = "a project path below a constant one is a project path")]
    fn of(root: &Root, artifact: &ProjectPath) -> Result<Self, Error> {
        let path = ProjectPath::new(format!("{GATES_FOLDER}/{artifact}")).expect("a relative path");
        let place = root.resolve_for_writing(&path)?;
        Ok(Self { path, place })
    }

    fn names(&self) -> Result<Vec<String>, Error> {
        let failed = |source| Error::io(format!("cannot read `{}`", self.path), source);
        let mut names = names_in_place(&self.place).map_err(failed)?;
        names.retain(|name| name.ends_with(GATE_EXTENSION));
        Ok(names)
    }
}
