//! The records of coordination on the disk: a file each.

use std::{io, sync::PoisonError};

use super::Coordination;
use crate::disk::folder::Folder;
use crate::workspace::ArtifactError;
#[cfg(feature = "write")]
use stepmark_model::spelling::with_causes;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, ProjectPathError},
    coordination::{CoordinationFacts, Record, RecordKind, State, file_stem, orphaned},
    records::{RecordError, RecordKinds as _, RecordSet as _},
};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    #[error("coordination has not begun here: `stepmark coordination init --goal TEXT` begins it")]
    NotBegun { folder: ProjectPath },
    /// A record is not what it should be. Nothing is guessed from the others.
    #[error(
        "`{path}` is no record of coordination: mend it, or bring an earlier state back with `stepmark restore`"
    )]
    Record { path: ProjectPath, source: RecordError },
    #[error(
        "`{path}` has the id `{id}`, whose file is `{wanted}`: move it there, or give it the id of its file"
    )]
    Misnamed { path: ProjectPath, id: String, wanted: ProjectPath },
    #[error("the records cannot stand in `{folder}`: give `coordination.folder` another value")]
    Reserved { folder: ProjectPath },
    #[error("the id of the {kind} is empty: give it one")]
    EmptyId { kind: RecordKind },
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    #[error("cannot list `{folder}`")]
    List { folder: ProjectPath, source: io::Error },
    #[error(transparent)]
    Path(#[from] ProjectPathError),
}

impl RecordsError {
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

impl Coordination<'_> {
    /// The path of the record `id`; that of the root, whatever its id.
    pub fn path_of(&self, kind: RecordKind, id: &str) -> Result<ProjectPath, RecordsError> {
        let folder = &self.settings.folder;
        if folder.as_str().split('/').any(|part| part == ".stepmark") {
            return Err(RecordsError::Reserved { folder: folder.clone() });
        }
        if id.is_empty() && kind != RecordKind::Coordination {
            return Err(RecordsError::EmptyId { kind });
        }
        let name = match kind.folder() {
            Some(folder) => format!("{folder}/{}.md", file_stem(id)),
            None => format!("{}.md", kind.name()),
        };
        Ok(self.settings.folder.join(&name)?)
    }

    pub fn state(&self) -> Result<State, RecordsError> {
        let root = self.path_of(RecordKind::Coordination, "")?;
        let root = match self.workspace.read_record(&root) {
            Ok(bytes) => read(&Artifact::read(root, bytes))?,
            Err(ArtifactError::Missing { .. }) => {
                return Err(RecordsError::NotBegun { folder: self.settings.folder.clone() });
            }
            Err(error) => return Err(error.into()),
        };
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        for kind in RecordKind::ALL.iter().copied() {
            let Some(folder) = self.folder_of(kind)? else { continue };
            let read = |path: &ProjectPath| self.read_record(path);
            found.extend(snapshot.read(self.workspace.root(), &folder, read)?);
        }
        drop(snapshot);
        State::from_records(std::iter::once(root).chain(found))
            .ok_or_else(|| RecordsError::NotBegun { folder: self.settings.folder.clone() })
    }

    /// The facts that records are held against; `None` where they cannot be read.
    pub(crate) fn facts(&self) -> Option<CoordinationFacts> {
        let state = self.state().ok()?;
        let stale = u64::from(self.settings.stale_seconds.get());
        let silent = orphaned(&state, &self.signals(), self.workspace.now(), stale);
        let orphaned = silent.iter().map(|task| task.id.clone()).collect();
        Some(CoordinationFacts {
            format: self.settings.format,
            claims_per_agent: self.claims_per_agent(),
            orphaned,
            state,
        })
    }

    pub(super) fn claims_per_agent(&self) -> usize {
        usize::try_from(self.settings.claims_per_agent.get()).unwrap_or(usize::MAX)
    }

    /// The record in the file at `path`; `None` where it is gone.
    pub(super) fn read_record(&self, path: &ProjectPath) -> Result<Option<Record>, RecordsError> {
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
    ) -> Result<Option<Record>, RecordsError> {
        let artifact = Artifact::read(path.clone(), bytes);
        let says_kind = |state: serde_json::Value| state.get("stepmark_kind").is_some();
        if !artifact.has_state_region() || artifact.state_value().is_ok_and(|state| !says_kind(state)) {
            return Ok(None);
        }
        let record = read(&artifact)?;
        let wanted = self.path_of(record.kind, &record.id)?;
        if wanted != *path {
            return Err(RecordsError::Misnamed { path: path.clone(), id: record.id, wanted });
        }
        Ok(Some(record))
    }

    /// The folder of a kind, as it is listed now; `None` where there is none.
    fn folder_of(&self, kind: RecordKind) -> Result<Option<Folder>, RecordsError> {
        let Some(folder) = kind.folder() else { return Ok(None) };
        let folder = self.settings.folder.join(folder)?;
        let root = self.workspace.root();
        root.resolve(&folder).map_err(ArtifactError::from)?;
        match Folder::open(root.path(), folder.to_string()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some).map_err(|source| RecordsError::List { folder, source }),
        }
    }
}

pub(super) fn read(artifact: &Artifact) -> Result<Record, RecordsError> {
    Record::of(artifact).map_err(|source| RecordsError::Record { path: artifact.path().clone(), source })
}
