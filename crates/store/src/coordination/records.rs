//! Records of coordination on the disk, one file each.

use crate::{Error, records::not_listed};
use std::{io, sync::PoisonError};

use super::Coordination;
use crate::disk::folder::Folder;
use crate::records::{RecordSystem as _, record_system};
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::ProjectPath,
    coordination::{CoordinationFacts, RecordKind, SYSTEM, State, file_stem, orphaned},
    records::RecordKinds as _,
};

record_system!(Coordination, RecordKind);

impl Coordination<'_> {
    /// The root has one path, whatever the id.
    pub fn path_of(&self, kind: RecordKind, id: &str) -> Result<ProjectPath, Error> {
        let folder = &self.settings.folder;
        if folder.as_str().split('/').any(|part| part == ".stepmark") {
            return Err(Error::refused(format!(
                "the records cannot stand in `{folder}`: give `coordination.folder` another value"
            )));
        }
        if id.is_empty() && kind != RecordKind::Coordination {
            return Err(Error::refused(format!("the id of the {} is empty: give it one", kind.name())));
        }
        let name = match kind.folder() {
            Some(folder) => format!("{folder}/{}.md", file_stem(id)),
            None => format!("{}.md", kind.name()),
        };
        Ok(self.settings.folder.join(&name)?)
    }

    pub fn state(&self) -> Result<State, Error> {
        let root = self.path_of(RecordKind::Coordination, "")?;
        let (mut records, mut others) = self.read_records([root]);
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        for kind in RecordKind::ALL.iter().copied() {
            let Some(folder) = self.folder_of(kind)? else { continue };
            let read = |path: &ProjectPath| self.read_record(path);
            let (found, none) = snapshot.read(self.workspace.root(), &folder, read);
            records.extend(found);
            others.extend(none);
        }
        drop(snapshot);
        self.state_of(records, others)
    }

    /// `None` if they cannot be read.
    pub(crate) fn facts(&self) -> Option<CoordinationFacts> {
        let state = self.state().ok()?;
        let stale = u64::from(self.settings.stale_seconds.get());
        let silent = orphaned(&state, &self.signals(), self.workspace.now(), stale);
        let orphaned = silent.iter().map(|task| task.id.clone()).collect();
        Some(CoordinationFacts {
            format: self.settings.option,
            claims_per_agent: self.claims_per_agent(),
            orphaned,
            state,
        })
    }

    pub(super) fn claims_per_agent(&self) -> usize {
        usize::try_from(self.settings.claims_per_agent.get()).unwrap_or(usize::MAX)
    }

    fn folder_of(&self, kind: RecordKind) -> Result<Option<Folder>, Error> {
        let Some(folder) = kind.folder() else { return Ok(None) };
        let folder = self.settings.folder.join(folder)?;
        let root = self.workspace.root();
        root.resolve(&folder).map_err(Error::from)?;
        match Folder::open(root.path(), folder.to_string()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some).map_err(|source| not_listed(&folder, source)),
        }
    }
}
