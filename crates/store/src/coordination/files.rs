//! The files of the configured format, written from the records.

use crate::Error;
use crate::records::{not_alive, not_human};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::PoisonError,
};

use super::Coordination;
use crate::commit::{CommitOptions, Expected, FsyncPolicy, read_whole, replace_whole};
use crate::projection::pack_files::{Files, Followed, Overwrite, RecordFormat};
use crate::projection::record_files;
use crate::records::{ChangedRecords, RecordSystem as _, behind};
use crate::signals::{read_signals, write_signal};
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::ProjectPath,
    coordination::{
        Drift, Format, Merged, Record, RecordKind, SYSTEM, State, file_stem, latest_time, merge, read,
        render, result_file, seen,
    },
    journal::ActorKind,
    records::{RecordKinds as _, RecordSet as _, Signal, Signals, System},
    transition::Remark,
};

/// The files' state: written, or changed by other programs.
pub type CoordinationFiles = Followed<Drift>;

pub(crate) struct FormatOf<'c, 'w> {
    coordination: &'c Coordination<'w>,
    format: Format,
    /// Read for the first rendering, and anew after the records.
    signals: RefCell<Option<Signals>>,
}

impl FormatOf<'_, '_> {
    pub(super) fn path(&self, name: &str) -> Option<ProjectPath> {
        self.coordination.file_of(self.format, name)
    }
}

impl RecordFormat for FormatOf<'_, '_> {
    type State = State;

    fn name(&self) -> &'static str {
        match self.format {
            Format::TasksFile => "coordination-a",
            Format::ServerState => "coordination-b",
            Format::OrchestratorState => "coordination-c",
        }
    }

    fn system(&self) -> &'static System {
        &SYSTEM
    }

    fn paths(&self) -> Vec<ProjectPath> {
        self.format.files().iter().filter_map(|name| self.path(name)).collect()
    }

    fn locks(&self) -> Vec<ProjectPath> {
        let names: &[&str] = match self.format {
            Format::TasksFile => &["agents.json.lock", "tasks.json.lock"],
            Format::ServerState | Format::OrchestratorState => &[],
        };
        names.iter().filter_map(|name| self.path(name)).collect()
    }

    fn present(&self) -> Result<State, Error> {
        self.signals.take();
        let (own, state) = (self.coordination, self.coordination.state()?);
        // History has no bodies: these files may have the last copy of a torn record's.
        let is_torn = |record: &&Record| record.kind.body_key().is_some() && !own.is_usable(record);
        let is_shown = |record: &&Record| self.seen(&state).record(record.kind, &record.id).is_some();
        if let Some(torn) = state.records().filter(is_torn).find(is_shown) {
            own.refuse_unusable(torn.kind, &torn.id)?;
        }
        Ok(state)
    }

    fn render(&self, state: &State) -> Files {
        let mut signals = self.signals.borrow_mut();
        let signals: &Signals = signals.get_or_insert_with(|| self.coordination.signals());
        // The latest record's time, so that the same records give the same bytes.
        let files = render(self.format, state, signals, &latest_time(state, signals));
        files.into_iter().filter_map(|(name, bytes)| Some((self.path(&name)?, bytes))).collect()
    }

    fn read(&self, files: &Files) -> Option<State> {
        let named = self
            .format
            .files()
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), files.get(&self.path(name)?)?.clone())));
        read(self.format, &named.collect::<BTreeMap<_, _>>()).ok()
    }

    fn seen(&self, state: &State) -> State {
        seen(self.format, state)
    }

    fn merge(
        &self,
        versions: (Option<&State>, &State, &State),
        is_overwritten: &dyn Fn(&str) -> bool,
    ) -> Merged {
        merge(self.format, versions, is_overwritten)
    }
}

impl ChangedRecords for Coordination<'_> {
    type Format<'f>
        = FormatOf<'f, 'f>
    where
        Self: 'f;

    fn record_format(&self) -> Result<Self::Format<'_>, Error> {
        Ok(self.format())
    }

    fn write_files(&self, overwrite: &Overwrite) -> Result<CoordinationFiles, Error> {
        self.project(overwrite)
    }

    fn known_signals(&self) -> Signals {
        read_signals(self.workspace.root(), super::SYSTEM)
    }

    fn note_signal(&self, signal: &Signal) -> Result<(), Error> {
        write_signal(self.workspace.root(), (super::SYSTEM, &file_stem(&signal.agent)), signal)
            .map_err(|source| not_alive(&signal.agent, source))
    }
}

impl Workspace {
    pub(crate) fn follow_tasks(&self, path: &ProjectPath) -> Option<Remark> {
        let coordination = self.coordination().filter(|own| path.starts_with(&own.settings.folder))?;
        // An unreadable one is reported when the files are updated.
        let record = coordination.read_record(path).ok().flatten();
        let task = record.filter(|record| record.kind == RecordKind::Task);
        Some(Remark::FilesLeft { reason: coordination.follow(task.as_slice()).behind? })
    }
}

impl Coordination<'_> {
    pub(super) fn format(&self) -> FormatOf<'_, '_> {
        self.format_of(self.settings.option)
    }

    pub(super) fn format_of(&self, format: Format) -> FormatOf<'_, '_> {
        FormatOf { coordination: self, format, signals: RefCell::new(None) }
    }

    /// Updates the files if the format wants it, with results of `ended`; errors are part of the result.
    pub(super) fn follow(&self, ended: &[Record]) -> CoordinationFiles {
        if self.settings.option == Format::OrchestratorState {
            return Followed::default();
        }
        self.write_all(ended, &Overwrite::None).unwrap_or_else(|error| behind(&error))
    }

    pub(super) fn state_to_change(&self) -> Result<State, Error> {
        self.state_to_claim().map(|(state, _)| state)
    }

    /// Also returns the ids of tasks changed by others in the files: nobody may claim them yet.
    pub(super) fn state_to_claim(&self) -> Result<(State, BTreeSet<String>), Error> {
        let (state, format) = (self.state()?, self.format());
        let drift = match self.settings.option {
            Format::OrchestratorState => Vec::new(),
            // Conflicts are reported when the files are updated.
            _ => {
                let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                let (root, options) = (self.workspace.root(), self.workspace.commit_options());
                record_files::adopt(root, options, &format, &mut found).unwrap_or_default()
            }
        };
        let tasks = drift.into_iter().filter(|drift| drift.kind == RecordKind::Task);
        Ok((state, tasks.map(|drift| drift.id).collect()))
    }

    /// Updates the files of any format; `overwrite` says which foreign changes to discard.
    pub fn project(&self, overwrite: &Overwrite) -> Result<CoordinationFiles, Error> {
        if !matches!(overwrite, Overwrite::None) {
            self.want_a_person("giving up what others wrote")?;
        }
        let tasks = self.state()?.tasks;
        self.write_all(&tasks, overwrite)
    }

    /// Refuses agents: a person decides which version counts.
    pub(super) fn want_a_person(&self, wanted: &'static str) -> Result<(), Error> {
        let actor = &self.workspace.attribution().actor;
        match actor.kind {
            ActorKind::Agent => Err(not_human(wanted, actor)),
            _ => Ok(()),
        }
    }

    pub fn drift(&self) -> Result<Vec<Drift>, Error> {
        record_files::drift(self.workspace.root(), self.workspace.commit_options(), &self.format())
    }

    fn write_all(&self, ended: &[Record], overwrite: &Overwrite) -> Result<CoordinationFiles, Error> {
        let options = self.workspace.commit_options();
        let (root, mut found) =
            (self.workspace.root(), self.found.lock().unwrap_or_else(PoisonError::into_inner));
        let mut followed = record_files::follow(root, options, &self.format(), overwrite, &mut found)?;
        drop(found);
        // Readers create no file.
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).keep(self.workspace.root());
        if self.settings.option == Format::TasksFile {
            // The page of a task in drift is about the other program's change.
            let is_ours = |task: &&Record| !followed.drift.iter().any(|drift| drift.id == task.id);
            for task in ended.iter().filter(is_ours).collect::<Vec<_>>() {
                followed.written.extend(self.write_result(task)?);
            }
        }
        Ok(followed)
    }

    /// Writes the page of a task's result for people, or removes it if the task is not ended any more.
    fn write_result(&self, task: &Record) -> Result<Option<ProjectPath>, Error> {
        let root = self.workspace.root();
        let path = self.settings.folder.join(&format!("results/{}.md", file_stem(&task.id)))?;
        let found = read_whole(root, &path).map_err(|error| Error::from(error).in_system())?;
        let wanted = result_file(task).map(|(_, bytes)| bytes);
        // A foreign page stays.
        let is_own = |page: &Vec<u8>| page.starts_with(format!("# Task: {}\n", task.id).as_bytes());
        if found == wanted || !found.as_ref().is_none_or(is_own) {
            return Ok(None);
        }
        let options = CommitOptions { fsync: FsyncPolicy::Never, ..*self.workspace.commit_options() };
        match wanted {
            Some(bytes) => {
                let expected = Expected::of(found.as_deref());
                replace_whole(root, &path, expected, &bytes, &options)
                    .map_err(|error| Error::from(error).in_system())?;
            }
            None => record_files::remove(root, &path)?,
        }
        Ok(Some(path))
    }
}
