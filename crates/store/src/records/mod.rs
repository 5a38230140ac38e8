//! Records of systems on the disk, one Markdown file each.

#[cfg(feature = "write")]
mod changing;
#[cfg(feature = "write")]
mod importing;
#[cfg(feature = "write")]
mod rows;

use std::{collections::BTreeMap, io, sync::PoisonError};
use stepmark_frontmatter::{Span, merge_conflict, merge_sides};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    records::{Record, RecordKinds as _, RecordSet, System},
    spelling::{listed, with_causes},
};

use crate::Error;
use crate::workspace::{Workspace, snapshot::OtherFile, snapshot::UnusableRecord};

#[cfg(feature = "write")]
pub(crate) use changing::{ChangedRecords, behind, draft, keep};
#[cfg(feature = "write")]
pub(crate) use changing::{busy, faulty, not_alive, not_human, not_written, nothing_to_import};
#[cfg(feature = "write")]
pub use importing::{ImportRow, ImportSurvey};
#[cfg(feature = "write")]
pub use rows::{RowChange, RowSurvey};

/// A system's answers about its fields, named alike in all systems.
macro_rules! record_system {
    ($system:ident, $kind:ident) => {
        #[cfg(feature = "write")]
        impl $system<'_> {
            pub(crate) fn record_paths(&self) -> Option<std::collections::BTreeSet<ProjectPath>> {
                use stepmark_model::records::RecordSet as _;
                let state = self.state().ok()?;
                Some(state.records().filter_map(|own| self.path_of(own.kind, &own.id).ok()).collect())
            }
        }

        impl $crate::records::RecordSystem for $system<'_> {
            type State = State;

            const SYSTEM: &'static stepmark_model::records::System = &SYSTEM;

            fn workspace(&self) -> &Workspace {
                self.workspace
            }

            fn folder(&self) -> &ProjectPath {
                &self.settings.folder
            }

            fn place_of(&self, kind: $kind, id: &str) -> Result<ProjectPath, Error> {
                self.path_of(kind, id)
            }

            fn records(&self) -> Result<State, Error> {
                self.state()
            }
        }
    };
}
pub(crate) use record_system;

/// Completes a prefix; returns it unchanged if none fits, or several ids that do.
pub(crate) fn whole_id<'i>(ids: impl Iterator<Item = &'i str>, given: &str) -> Result<String, String> {
    let mut ids: Vec<&str> = ids.filter(|id| id.starts_with(given)).collect();
    ids.sort_unstable();
    match ids[..] {
        [] => Ok(given.to_owned()),
        [only] => Ok(only.to_owned()),
        _ if ids.contains(&given) => Ok(given.to_owned()),
        _ => Err(listed(&ids)),
    }
}

pub(crate) type KindOf<S> = <<S as RecordSystem>::State as RecordSet>::Kind;

/// A system with its records in a folder, one file each.
#[cfg_attr(not(feature = "write"), expect(dead_code, reason = "only a change asks for all of them"))]
pub(crate) trait RecordSystem {
    type State: RecordSet;

    const SYSTEM: &'static System;

    fn workspace(&self) -> &Workspace;

    fn folder(&self) -> &ProjectPath;

    fn place_of(&self, kind: KindOf<Self>, id: &str) -> Result<ProjectPath, Error>;

    fn records(&self) -> Result<Self::State, Error>;

    fn read_artifact(artifact: &Artifact) -> Result<Record<KindOf<Self>>, Error> {
        let failed = |source| {
            let (path, System { name, mend, .. }) = (artifact.path(), Self::SYSTEM);
            Error::refused(format!("`{path}` is no record of {name}: mend it, or {mend}"))
                .because(source)
                .at(path)
        };
        Record::of(artifact).map_err(failed)
    }

    /// Accepts a unique prefix.
    fn whole_id(&self, kind: KindOf<Self>, given: &str) -> Result<String, Error> {
        if self.workspace().read_file(&self.place_of(kind, given)?).is_ok() {
            return Ok(given.to_owned());
        }
        let state = self.records()?;
        let ids = state.of_kind(kind).iter().map(|record| record.id.as_str());
        whole_id(ids, given).map_err(|ids| {
            let kind = kind.name();
            Error::refused(format!("`{given}` begins the id of several of the kind {kind}: {ids}"))
        })
    }

    fn read_records(
        &self,
        paths: impl IntoIterator<Item = ProjectPath>,
    ) -> (Vec<Record<KindOf<Self>>>, Vec<OtherFile<Error>>) {
        let (mut records, mut others) = (Vec::new(), Vec::new());
        for path in paths {
            match self.read_record(&path) {
                Ok(Some(record)) => records.push(record),
                Ok(None) => others.push((path, None)),
                Err(error) => others.push((path, Some(error))),
            }
        }
        (records, others)
    }

    /// Combines `records` with `others` as history has them: a torn file blocks only its own changes.
    fn state_of(
        &self,
        mut records: Vec<Record<KindOf<Self>>>,
        others: Vec<OtherFile<Error>>,
    ) -> Result<Self::State, Error> {
        let (workspace, mut unusable) = (self.workspace(), BTreeMap::new());
        #[cfg(feature = "write")]
        let mut recorded = workspace.last_recorded(self.folder(), &others);
        #[cfg(not(feature = "write"))]
        let mut recorded = BTreeMap::<ProjectPath, serde_json::Value>::new();
        let mut begins = None;
        for (path, mut error) in others {
            if let Some(error) = error.take_if(|error| error.path().is_none()) {
                return Err(error);
            }
            let bytes = workspace.read_file(&path).ok();
            if error.is_none() && bytes.is_none() {
                continue;
            }
            let artifact = Artifact::read(path.clone(), bytes.unwrap_or_default());
            let body = String::from_utf8_lossy(&artifact.bytes()[artifact.document().body().range()]);
            let recorded = recorded.remove(&path);
            let recorded = recorded.and_then(|state| Record::of_state(state, body.into_owned()).ok());
            let recorded =
                recorded.filter(|own| self.place_of(own.kind, &own.id).is_ok_and(|place| place == path));
            if recorded.is_some() || error.is_some() {
                let reason = error.as_ref().map(|error| with_causes(error));
                unusable.insert(path.clone(), UnusableRecord { reason, is_recorded: recorded.is_some() });
            }
            records.extend(recorded);
            begins = begins.or(error.filter(|_| path.parent().as_ref() == Some(self.folder())));
        }
        workspace.note_unusable(self.folder(), unusable);
        let state = Self::State::from_records(records);
        state.ok_or_else(|| begins.unwrap_or(not_begun(Self::SYSTEM)))
    }

    /// Refuses a record with a torn file: nobody continues from its last state in history.
    fn refuse_unusable(&self, kind: KindOf<Self>, id: &str) -> Result<(), Error> {
        let path = self.place_of(kind, id)?;
        let bytes = self.workspace().read_record(&path)?;
        Self::read_artifact(&Artifact::read(path, bytes)).map(drop)
    }

    /// `None` if it is gone, or not a record.
    fn read_record(&self, path: &ProjectPath) -> Result<Option<Record<KindOf<Self>>>, Error> {
        match self.workspace().read_record(path) {
            Ok(bytes) => self.read_bytes(path, bytes),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `None` if it is not a record, as a note beside them.
    fn read_bytes(&self, path: &ProjectPath, bytes: Vec<u8>) -> Result<Option<Record<KindOf<Self>>>, Error> {
        let artifact = Artifact::read(path.clone(), bytes);
        let says_kind = |state: serde_json::Value| state.get("stepmark_kind").is_some();
        if !artifact.has_state_region() || artifact.state_value().is_ok_and(|state| !says_kind(state)) {
            return Ok(None);
        }
        let record = Self::read_artifact(&artifact)?;
        let wanted = self.place_of(record.kind, &record.id)?;
        match wanted == *path {
            true => Ok(Some(record)),
            false => {
                Err(Error::refused(format!(
                    "`{path}` has the id `{}`, whose file is `{wanted}`: move it there, or give it the id of its file",
                    record.id
                )).at(path))
            }
        }
    }
}

impl Workspace {
    /// Of a file with git's conflict markers our side, for decisions on other records. The record itself can
    /// be changed once resolved.
    pub(crate) fn read_record(&self, path: &ProjectPath) -> Result<Vec<u8>, Error> {
        let bytes = self.read_file(path)?;
        if merge_conflict(&bytes, Span::new(0, bytes.len())).is_none() {
            return Ok(bytes);
        }
        let sides = std::str::from_utf8(&bytes).ok().and_then(merge_sides);
        Ok(sides.map(|[(_, ours), _]| ours.into_bytes()).unwrap_or(bytes))
    }

    fn note_unusable(&self, folder: &ProjectPath, found: BTreeMap<ProjectPath, UnusableRecord>) {
        let mut unusable = self.unusable.lock().unwrap_or_else(PoisonError::into_inner);
        unusable.retain(|path, _| !path.starts_with(folder));
        unusable.extend(found);
    }

    /// Unusable files among records, as last read.
    pub fn unusable_records(&self) -> BTreeMap<ProjectPath, UnusableRecord> {
        self.unusable.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(crate) fn not_begun(system: &System) -> Error {
    Error::not_begun(format!("{} has not begun here: `{}` begins it", system.name, system.begin))
}

/// `what`: `task` or `slice`.
pub fn no_record(what: &str, id: &str) -> Error {
    let error = Error::no_record(format!("there is no {what} `{id}`"));
    match what {
        "task" => {
            error.help("`stepmark task list` shows the tasks").help_of_tools("get_all_tasks lists the tasks")
        }
        _ => error.help("`stepmark asdd status` lists the slices"),
    }
}

pub(crate) fn not_listed(folder: &ProjectPath, source: io::Error) -> Error {
    Error::refused(format!("cannot list `{folder}`")).because(source)
}
