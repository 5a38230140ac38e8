//! The records of ASDD on the disk: a file each.
#![expect(clippy::disallowed_methods, reason = "an edge module: the folder of slices is listed here")]

use std::{fs, io};

use super::Asdd;
use crate::workspace::ArtifactError;
#[cfg(feature = "write")]
use stepmark_model::spelling::with_causes;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, ProjectPathError},
    asdd::{Record, SliceKind, State},
    records::{RecordError, RecordSet as _, file_stem},
};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AsddRecordsError {
    #[error("ASDD has not begun here: `stepmark asdd init` begins it")]
    NotBegun,
    /// A record is not what it should be. Nothing is guessed from the others.
    #[error(
        "`{path}` is no record of ASDD: mend it, or make it again from what is known with `stepmark asdd rebuild`"
    )]
    Record { path: ProjectPath, source: RecordError },
    #[error(
        "`{path}` has the id `{id}`, whose file is `{wanted}`: move it there, or give it the id of its file"
    )]
    Misnamed { path: ProjectPath, id: String, wanted: ProjectPath },
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    #[error("cannot list `{folder}`")]
    List { folder: ProjectPath, source: io::Error },
    #[error(transparent)]
    Path(#[from] ProjectPathError),
}

impl AsddRecordsError {
    /// The file that is none that can be used, and why.
    #[cfg(feature = "write")]
    pub(crate) fn unusable(self) -> Option<(ProjectPath, String)> {
        let reason = with_causes(&self);
        match self {
            Self::Record { path, .. } | Self::Misnamed { path, .. } => Some((path, reason)),
            Self::Artifact(ArtifactError::Read { path, .. }) => Some((path, reason)),
            _ => None,
        }
    }
}

impl Asdd<'_> {
    /// The path of the record `id`; that of the project, whatever its id.
    pub fn path_of(&self, kind: SliceKind, id: &str) -> Result<ProjectPath, AsddRecordsError> {
        let name = match kind {
            SliceKind::Project => "project.md".to_owned(),
            SliceKind::Slice => format!("slices/{}.md", file_stem(id)),
        };
        Ok(self.settings.folder.join(&name)?)
    }

    pub fn state(&self) -> Result<State, AsddRecordsError> {
        let project = self.path_of(SliceKind::Project, "")?;
        let project = self.read_record(&project)?.ok_or(AsddRecordsError::NotBegun)?;
        let slices = self.paths_in("slices")?.into_iter().map(|path| self.read_record(&path));
        let records: Result<Vec<Option<Record>>, _> = slices.collect();
        let records = records?.into_iter().flatten().chain([project]);
        State::from_records(records).ok_or(AsddRecordsError::NotBegun)
    }

    /// The record in the file at `path`; `None` where it is gone, or no record.
    pub(super) fn read_record(&self, path: &ProjectPath) -> Result<Option<Record>, AsddRecordsError> {
        match self.workspace.read_record(path) {
            Ok(bytes) => self.read_bytes(path, bytes),
            Err(ArtifactError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The record in `bytes`; `None` where these are no record, as a note that somebody put beside them.
    pub(super) fn read_bytes(
        &self,
        path: &ProjectPath,
        bytes: Vec<u8>,
    ) -> Result<Option<Record>, AsddRecordsError> {
        let artifact = Artifact::read(path.clone(), bytes);
        let says_kind = |state: serde_json::Value| state.get("stepmark_kind").is_some();
        if !artifact.has_state_region() || artifact.state_value().is_ok_and(|state| !says_kind(state)) {
            return Ok(None);
        }
        let record = read(&artifact)?;
        let wanted = self.path_of(record.kind, &record.id)?;
        if wanted != *path {
            return Err(AsddRecordsError::Misnamed { path: path.clone(), id: record.id, wanted });
        }
        Ok(Some(record))
    }

    /// The Markdown files in a folder of ASDD, in the order of their names.
    pub(super) fn paths_in(&self, folder: &str) -> Result<Vec<ProjectPath>, AsddRecordsError> {
        let folder = self.settings.folder.join(folder)?;
        let names = self.names_in(&folder)?.into_iter();
        let names = names.filter(|name| name.ends_with(".md") && !name.starts_with('.'));
        Ok(names.map(|name| folder.join(&name)).collect::<Result<_, _>>()?)
    }

    /// The names in a folder, in order; none where it is not there.
    pub(super) fn names_in(&self, folder: &ProjectPath) -> Result<Vec<String>, AsddRecordsError> {
        let place = self.workspace.root().resolve(folder).map_err(ArtifactError::from)?;
        let failed = |source| AsddRecordsError::List { folder: folder.clone(), source };
        let entries = match fs::read_dir(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        names.sort_unstable();
        Ok(names)
    }
}

pub(super) fn read(artifact: &Artifact) -> Result<Record, AsddRecordsError> {
    Record::of(artifact).map_err(|source| AsddRecordsError::Record { path: artifact.path().clone(), source })
}
