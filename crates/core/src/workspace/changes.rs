//! Changing artifacts: read, decide, edit, prove, commit; again from the start when another program was faster.

use std::path::Path;

use super::{
    ArtifactError, CONFIGURATION_PATH, STEPMARK_GITIGNORE, TrackedArtifact, Workspace, initial_configuration,
    workflows::WorkflowFileError,
};
use crate::{
    artifact::{Artifact, ProjectPath, ProjectPathError},
    commit::{self, CommitError, CommitOptions, Conflict, Outcome, PublishError, UpdateError},
    document::{EditError, Region, apply},
    transition::{Command, Plan, Remark, Strictness, TransitionRefusal},
};

/// A command that was carried out.
#[derive(Debug)]
pub struct Carried {
    /// The artifact as it is now.
    pub artifact: TrackedArtifact,
    /// What is to be said about it.
    pub remarks: Vec<Remark>,
    /// What was written.
    pub outcome: Outcome,
}

/// Whether `initialise` found a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialised {
    /// There was none; now there is.
    Created,
    /// It was there, and is as it was.
    Existing,
}

/// Why an artifact was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The path names no file of the project.
    #[error(transparent)]
    Path(#[from] ProjectPathError),
    /// It cannot be read.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The command makes no sense for it.
    #[error("`{path}` is left as it is")]
    Refused {
        /// The artifact.
        path: ProjectPath,
        /// Why.
        source: TransitionRefusal,
    },
    /// The edit cannot be made faithfully.
    #[error("cannot edit `{path}`")]
    Edit {
        /// The artifact.
        path: ProjectPath,
        /// The bytes that were to be edited, to show the place.
        bytes: Vec<u8>,
        /// Why.
        source: EditError,
    },
    /// It cannot be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// What can end a decision.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Undecided(#[from] ChangeError);

impl ChangeError {
    /// Whether another program's writing kept this change from being made: trying again later helps.
    pub const fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::Commit(CommitError::Publish(PublishError::Conflict(_) | PublishError::Busy { .. }))
        )
    }

    /// The conflict, where another program changed the file meanwhile.
    pub fn conflict(&self) -> Option<&Conflict> {
        match self {
            Self::Commit(CommitError::Publish(PublishError::Conflict(conflict))) => Some(conflict),
            _ => None,
        }
    }
}

impl Workspace {
    /// Changes the artifact at `path` by the plan of `decide`, which is called again with a new reading when another
    /// program changed the file meanwhile; so it must depend on the artifact it is given alone.
    ///
    /// # Errors
    /// When the artifact cannot be read, `decide` refuses, the edit cannot be proven, or the file cannot be written.
    /// Then nothing is changed.
    pub fn update(
        &self,
        path: impl AsRef<Path>,
        mut decide: impl FnMut(&TrackedArtifact) -> Result<Plan, TransitionRefusal>,
    ) -> Result<Carried, ChangeError> {
        let path = ProjectPath::new(path)?;
        let mut remarks = Vec::new();
        let mut last: Option<TrackedArtifact> = None;
        let outcome = commit::update(self.root(), &path, &CommitOptions::default(), |bytes| {
            let artifact = self.read_again(&path, bytes)?;
            let plan =
                decide(&artifact).map_err(|source| ChangeError::Refused { path: path.clone(), source })?;
            let edited = apply(bytes, &Region::Frontmatter, &plan.edits)
                .map_err(|source| ChangeError::Edit { path: path.clone(), bytes: bytes.to_vec(), source })?;
            remarks = plan.remarks;
            if edited.splices.is_empty() {
                last = Some(artifact);
                return Ok::<_, Undecided>(None);
            }
            last = Some(self.read_again(&path, &edited.bytes)?);
            Ok(Some(edited.bytes))
        });
        let outcome = outcome.map_err(|error| match error {
            UpdateError::Decide(Undecided(error)) => error,
            UpdateError::Commit(CommitError::Missing { path }) => ArtifactError::Missing { path }.into(),
            UpdateError::Commit(error) => error.into(),
        })?;
        match last {
            Some(artifact) => Ok(Carried { artifact, remarks, outcome }),
            // A commit that ends well has decided at least once.
            None => Err(ArtifactError::Missing { path }.into()),
        }
    }

    /// Carries out a command on the artifact at `path`.
    ///
    /// # Errors
    /// Those of [`Workspace::update`].
    pub fn carry_out(
        &self,
        path: &ProjectPath,
        command: &Command,
        strictness: Strictness,
    ) -> Result<Carried, ChangeError> {
        self.update(path, |artifact| artifact.decide(command, strictness))
    }

    /// Makes the configuration of the project, with `project_id` as its identity, if there is none.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn initialise(&self, project_id: &str) -> Result<Initialised, ChangeError> {
        let options = CommitOptions::default();
        let create = |path: &str, text: &str| {
            let path = ProjectPath::new(path)?;
            match commit::create(self.root(), &path, text.as_bytes(), &options) {
                Ok(_) => Ok(Initialised::Created),
                Err(CommitError::Publish(PublishError::Conflict(_))) => Ok(Initialised::Existing),
                Err(error) => Err(ChangeError::from(error)),
            }
        };
        create(".stepmark/.gitignore", STEPMARK_GITIGNORE)?;
        create(CONFIGURATION_PATH, &initial_configuration(project_id))
    }

    fn read_again(&self, path: &ProjectPath, bytes: &[u8]) -> Result<TrackedArtifact, ChangeError> {
        let tracked = self.track(Artifact::read(path.clone(), bytes.to_vec()));
        tracked.map_err(|error: WorkflowFileError| ArtifactError::from(error).into())
    }
}
