//! The checkpoints of a project, as they are read.
#![expect(clippy::disallowed_methods, reason = "an edge module: folders of checkpoints are listed here")]

#[cfg(feature = "write")]
pub(crate) mod checkpointing;
#[cfg(feature = "write")]
pub(crate) mod restoring;

#[cfg(feature = "write")]
pub use checkpointing::{CheckpointError, CheckpointMade};
#[cfg(feature = "write")]
pub use restoring::{RestoreError, Restored};

use std::{fs, io};

use crate::disk::uninterrupted::uninterrupted;
use crate::workspace::{ArtifactError, Workspace};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::ArtifactKey,
    projection::checkpoint::{CHECKPOINTS, Checkpoint, CheckpointProblem, checkpoint_folder, surviving_keys},
};

const ENDING: &str = ".json";

#[derive(Debug, thiserror::Error)]
pub enum CheckpointReadError {
    #[error(transparent)]
    Read(#[from] ArtifactError),
    #[error("the checkpoint `{place}` cannot be trusted")]
    Problem { place: ProjectPath, source: CheckpointProblem },
}

#[derive(Debug, thiserror::Error)]
#[error("cannot list the checkpoints in `{folder}`")]
pub struct CheckpointListError {
    pub folder: String,
    pub source: io::Error,
}

#[derive(Clone, Copy, Debug)]
pub struct Checkpoints<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn checkpoints(&self) -> Checkpoints<'_> {
        Checkpoints { workspace: self }
    }
}

impl Checkpoints<'_> {
    /// The checkpoint in the file at `place`, proven.
    pub fn at(&self, place: &ProjectPath) -> Result<Checkpoint, CheckpointReadError> {
        let bytes = self.workspace.read_file(place)?;
        Checkpoint::parse(&bytes)
            .map_err(|source| CheckpointReadError::Problem { place: place.clone(), source })
    }

    /// The files of an artifact's checkpoints, the newest first. The artifact may be damaged or gone.
    pub fn places(&self, path: &ProjectPath) -> Result<Vec<ProjectPath>, CheckpointPlacesError> {
        let keys = match self.workspace.read_file(path) {
            Ok(bytes) => surviving_keys(&Artifact::read(path.clone(), bytes)),
            Err(ArtifactError::Missing { .. }) => vec![ArtifactKey::of_path(path)],
            Err(error) => return Err(error.into()),
        };
        Ok(self.of(&keys)?)
    }

    /// The files of the checkpoints under these keys, the newest first.
    pub(crate) fn of(&self, keys: &[ArtifactKey]) -> Result<Vec<ProjectPath>, CheckpointListError> {
        let mut places = Vec::new();
        for key in keys {
            places.extend(self.checkpoints_in(&checkpoint_folder(key))?);
        }
        // Names start with the time.
        places.sort_by(|one, other| name(other).cmp(name(one)));
        Ok(places)
    }

    pub fn all(&self) -> Result<Vec<ProjectPath>, CheckpointListError> {
        let mut places = Vec::new();
        for folder in self.names_in(CHECKPOINTS)? {
            places.extend(self.checkpoints_in(&format!("{CHECKPOINTS}/{folder}"))?);
        }
        places.sort();
        Ok(places)
    }

    fn checkpoints_in(&self, folder: &str) -> Result<Vec<ProjectPath>, CheckpointListError> {
        let names = self.names_in(folder)?.into_iter().filter(|name| name.ends_with(ENDING));
        Ok(names.filter_map(|name| ProjectPath::new(format!("{folder}/{name}")).ok()).collect())
    }

    /// The names in a folder of the project; none where there is no such folder.
    fn names_in(&self, folder: &str) -> Result<Vec<String>, CheckpointListError> {
        let list = || -> io::Result<Vec<String>> {
            let path = ProjectPath::new(folder).map_err(io::Error::other)?;
            let place = self.workspace.root().resolve(&path).map_err(io::Error::other)?;
            let mut names = Vec::new();
            for entry in uninterrupted(|| fs::read_dir(&place))? {
                names.extend(entry?.file_name().into_string());
            }
            Ok(names)
        };
        match list() {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Vec::new())
            }
            listed => listed.map_err(|source| CheckpointListError { folder: folder.to_owned(), source }),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CheckpointPlacesError {
    #[error(transparent)]
    List(#[from] CheckpointListError),
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
}

fn name(place: &ProjectPath) -> &str {
    place.as_str().rsplit('/').next().unwrap_or_default()
}
