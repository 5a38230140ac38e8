//! Reading a project's checkpoints.

#[cfg(feature = "write")]
pub(crate) mod checkpointing;
#[cfg(feature = "write")]
pub(crate) mod restoring;

#[cfg(feature = "write")]
pub use checkpointing::CheckpointMade;
#[cfg(feature = "write")]
pub use restoring::Restored;

use std::io;

use crate::workspace::Workspace;
use crate::{Error, disk::names_in_place};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::ArtifactKey,
    projection::checkpoint::{CHECKPOINTS, Checkpoint, checkpoint_folder, surviving_keys},
};

const ENDING: &str = ".json";

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
    pub fn at(&self, place: &ProjectPath) -> Result<Checkpoint, Error> {
        let bytes = self.workspace.read_file(place);
        let bytes =
            bytes.map_err(|error| error.help("`stepmark checkpoint list ARTIFACT` shows the checkpoints"))?;
        Checkpoint::parse(&bytes).map_err(|source| {
            Error::refused(format!("the checkpoint `{place}` cannot be trusted"))
                .because(source)
                .help("take it back from git, or use another one")
        })
    }

    /// Newest first. The artifact may be damaged or missing.
    pub fn places(&self, path: &ProjectPath) -> Result<Vec<ProjectPath>, Error> {
        let keys = match self.workspace.read_file(path) {
            Ok(bytes) => surviving_keys(&Artifact::read(path.clone(), bytes)),
            Err(error) if error.is_missing() => vec![ArtifactKey::of_path(path)],
            Err(error) => return Err(error),
        };
        self.of(&keys)
    }

    /// Newest first.
    pub(crate) fn of(&self, keys: &[ArtifactKey]) -> Result<Vec<ProjectPath>, Error> {
        let mut places = self.in_folders(keys.iter().map(checkpoint_folder))?;
        // Names start with the time.
        places.sort_by(|one, other| other.file_name().cmp(one.file_name()));
        Ok(places)
    }

    pub fn all(&self) -> Result<Vec<ProjectPath>, Error> {
        let folders = self.names_in(CHECKPOINTS)?;
        self.in_folders(folders.iter().map(|folder| format!("{CHECKPOINTS}/{folder}")))
    }

    fn in_folders(&self, folders: impl Iterator<Item = String>) -> Result<Vec<ProjectPath>, Error> {
        let mut places = Vec::new();
        for folder in folders {
            let names = self.names_in(&folder)?.into_iter().filter(|name| name.ends_with(ENDING));
            places.extend(names.filter_map(|name| ProjectPath::new(format!("{folder}/{name}")).ok()));
        }
        places.sort();
        Ok(places)
    }

    fn names_in(&self, folder: &str) -> Result<Vec<String>, Error> {
        let path = ProjectPath::new(folder).map_err(io::Error::other);
        let place = path.and_then(|path| self.workspace.root().resolve(&path).map_err(io::Error::other));
        let names = place.and_then(|place| names_in_place(&place));
        names.map_err(|source| Error::io(format!("cannot list the checkpoints in `{folder}`"), source))
    }
}
