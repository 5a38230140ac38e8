//! "May I go on?", answered by tier.
#![cfg_attr(
    feature = "write",
    expect(
        clippy::disallowed_methods,
        reason = "an edge module: whether there is a `.stepmark/` is asked here"
    )
)]

use crate::gates::{GateError, GateFolder, Gates, folder};
#[cfg(feature = "write")]
use crate::leases::LeaseError;
use crate::workspace::ArtifactError;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    lease::Lease,
    projection::gates::{Closed, Gate, GateDecision, GateMatch, find, verify},
    workflow::StepId,
};

/// The thoroughness with which a gate is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The gate and the artifact's stat: below 5 ms.
    Gate = 1,
    /// The artifact's frontmatter: below 100 ms.
    Frontmatter = 2,
    /// The frontmatter, under the artifact's lease: below 500 ms.
    Lease = 3,
}

/// The answer to "is this step done?".
#[derive(Clone, Debug)]
pub struct GateAnswer {
    pub path: ProjectPath,
    pub step: String,
    pub tier: Tier,
    /// Go on, or why not.
    pub verdict: Result<(), Closed>,
    pub gate: Option<Gate>,
    pub lease: Option<Lease>,
}

#[cfg(feature = "write")]
impl Gates<'_> {
    /// Takes the lease of the artifact at `path`, then asks whether `step` is done (tier 3). Where it is not,
    /// a lease that was not held before is given up again.
    ///
    /// # Errors
    /// When somebody else holds the lease, or the artifact cannot be read.
    pub fn check_exclusively(
        &self,
        path: &ProjectPath,
        step: &str,
        duration: std::time::Duration,
    ) -> Result<GateAnswer, LeaseError> {
        let taken = self.workspace.leases().take(path, duration, stepmark_model::lease::Claim::ForOneStep)?;
        let answer = self.verify(path, step);
        let is_open = answer.as_ref().is_ok_and(|answer| answer.verdict.is_ok());
        if !is_open && !taken.is_renewed {
            self.workspace.leases().release_taken(path, &taken.lease)?;
        }
        let lease = is_open.then_some(taken.lease);
        Ok(GateAnswer { tier: Tier::Lease, lease, ..answer? })
    }
}

impl Gates<'_> {
    /// Asks the gate of `step` (tier 1). The artifact is not read, unless it was written so short a time
    /// before its gate that the stat proves nothing, or has no gates yet: then they are made, and where that
    /// cannot be, its frontmatter answers.
    ///
    /// # Errors
    /// When gates or artifact cannot be read: then nothing is known.
    pub fn check(&self, path: &ProjectPath, step: &str) -> Result<GateAnswer, GateError> {
        let folder = GateFolder::of(self.workspace.root(), path)?;
        let stored = folder.read()?;
        // A reader makes no `.stepmark/` where there is none.
        #[cfg(feature = "write")]
        let stored = match stored {
            None if self.workspace.root().path().join(".stepmark").is_dir()
                && self.open(path, None).is_ok() =>
            {
                Some(folder.read()?.unwrap_or_default())
            }
            stored => stored,
        };
        let Some(stored) = stored else {
            let answer = self.verify(path, step).map_err(|error| match error {
                ArtifactError::Read { path, source } => GateError::Read { path: path.to_string(), source },
                other => GateError::Artifact(Box::new(other)),
            })?;
            return Ok(GateAnswer { tier: Tier::Gate, ..answer });
        };
        let (verdict, gate) = match find(&stored, &StepId::parse(step)) {
            GateMatch::Closed(closed) => (Err(closed), None),
            GateMatch::Gate(gate) => (self.judge(path, gate)?, Some(gate.clone())),
        };
        Ok(GateAnswer {
            path: path.clone(),
            step: step.to_owned(),
            tier: Tier::Gate,
            verdict,
            gate,
            lease: None,
        })
    }

    /// Asks the artifact itself (tier 2): is the step listed in a frontmatter that says one thing to every
    /// reader?
    ///
    /// # Errors
    /// When the artifact cannot be read: then nothing is known.
    pub fn verify(&self, path: &ProjectPath, step: &str) -> Result<GateAnswer, ArtifactError> {
        let asked = StepId::parse(step);
        let verdict = match self.workspace.artifact(path) {
            Ok(artifact) => {
                verify(artifact.artifact(), artifact.workflow(), artifact.steps().completed(), &asked)
            }
            Err(ArtifactError::Missing { .. }) => Err(Closed::NoArtifact),
            Err(error) => return Err(error),
        };
        // Only for information: gates that cannot be read change nothing about the answer.
        let gate = self.of(path).ok().and_then(|stored| match find(&stored, &asked) {
            GateMatch::Gate(gate) => Some(gate.clone()),
            GateMatch::Closed(_) => None,
        });
        let tier = Tier::Frontmatter;
        Ok(GateAnswer { path: path.clone(), step: step.to_owned(), tier, verdict, gate, lease: None })
    }

    fn judge(&self, path: &ProjectPath, gate: &Gate) -> Result<Result<(), Closed>, GateError> {
        Ok(match gate.judge(folder::stat(self.workspace.root(), path)?) {
            GateDecision::Open => Ok(()),
            GateDecision::Closed(closed) => Err(closed),
            GateDecision::OpenIf(hash) => match folder::ConsistentRead::of(self.workspace.root(), path)? {
                Some(seen) if seen.stat.is_same_file(&gate.stat) && FileHash::of(&seen.bytes) == hash => {
                    Ok(())
                }
                _ => Err(Closed::ArtifactChanged),
            },
        })
    }
}
