//! Importing state files, checkpoints of them, and converting between formats.

use crate::records::not_begun;
use crate::records::{not_written, nothing_to_import};
use crate::{Error, ErrorKind, records::busy};
use std::{io, path::Path};

use super::{Coordination, CoordinationFiles};
use crate::{
    changes::RecordDecision,
    commit::{Expected, read_whole, replace_whole},
    disk::file_reading::read_file,
    projection::{
        file_findings::{FileFindings, FollowingFile},
        pack_files::Overwrite,
        record_files,
    },
    records::{ChangedRecords as _, ImportRow, ImportSurvey, RecordSystem as _, draft, keep},
};
use serde_json::Value as Json;
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::{
    artifact::ProjectPath,
    coordination::{
        Files, Format, Record, RecordKind, SYSTEM, State, TaskRefusal, file_stem, heartbeats, read,
    },
    journal::{EventDraft, Kind},
    records::{RecordSet as _, Signal},
};

#[derive(Clone, Debug)]
pub struct StateFile {
    pub format: Format,
    pub survey: ImportSurvey<RecordKind>,
}

impl Coordination<'_> {
    /// Compares a file, or a folder of option A, with the records; `None`: the configured one.
    pub fn survey(&self, path: Option<&ProjectPath>) -> Result<StateFile, Error> {
        let is_folder = path.is_none_or(|path| path.extension() != Some("json"));
        let read = |format: Format, number: usize, name: &str| {
            let place = match path {
                None => self.format_of(format).path(name),
                Some(path) if is_folder => path.join(name).ok(),
                Some(path) if number == 0 => Some(path.clone()),
                Some(path) => path.parent().map_or_else(|| ProjectPath::new(name), |own| own.join(name)).ok(),
            };
            let bytes = place.map(|place| read_whole(self.workspace.root(), &place)).transpose();
            Ok(bytes.map_err(|error| Error::from(error).in_system())?.flatten())
        };
        let (format, files) = self.state_files(path.is_none(), is_folder, read)?.ok_or_else(|| {
            nothing(path.map_or_else(|| self.settings.folder.to_string(), ToString::to_string))
        })?;
        let own =
            self.format_of(self.settings.option).path(format.files().first().copied().unwrap_or_default());
        let is_own = format == self.settings.option
            && path.is_none_or(|path| {
                own.is_some_and(|own| own == *path || own.parent().as_ref() == Some(path))
            });
        self.compare(format, &files, is_own)
    }

    /// May be outside the project: it is only read.
    pub fn survey_outside(&self, place: &Path) -> Result<StateFile, Error> {
        let is_folder = place.extension().is_none_or(|extension| extension != "json");
        let read = |_: Format, number: usize, name: &str| {
            let place = match (is_folder, number) {
                (true, _) => place.join(name),
                (false, 0) => place.to_owned(),
                (false, _) => place.with_file_name(name),
            };
            match read_file(&place) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(source) => {
                    Err(Error::refused(format!("cannot read `{}`", place.display())).because(source))
                }
            }
        };
        let found = self.state_files(false, is_folder, read)?;
        let (format, files) = found.ok_or_else(|| nothing(place.display().to_string()))?;
        self.compare(format, &files, false)
    }

    fn compare(&self, format: Format, files: &Files, is_own: bool) -> Result<StateFile, Error> {
        let ours = match self.state() {
            Ok(state) => Some(state),
            Err(error) if error.kind() == ErrorKind::NotBegun => None,
            Err(error) => return Err(error),
        };
        // If the file has our last version, only the artifact was changed since.
        let last = if is_own { self.last_and_found()?.0 } else { None };
        let signals = files.get(format.heartbeat_file()).map(|bytes| heartbeats(bytes)).unwrap_or_default();
        let theirs = (read(format, files)?, signals);
        let survey = ImportSurvey::of(&self.format_of(format), theirs, ours.as_ref(), (is_own, last));
        Ok(StateFile { format, survey })
    }

    /// Imports new records, changed ones if `takes_file`; missing ones are removed if `removes`. Returns the
    /// number of changed records, and the files' state.
    pub fn import(
        &self,
        found: &StateFile,
        takes_file: bool,
        removes: bool,
    ) -> Result<(usize, CoordinationFiles), Error> {
        if takes_file && found.survey.rows.iter().any(ImportRow::is_disputed) {
            self.want_a_person("taking what a file says of records")?;
        }
        found.survey.bring_in(self, (takes_file, removes), || self.last_and_found())
    }

    /// The records as last written to the files, and as in the files now; option C has no last version.
    fn last_and_found(&self) -> Result<record_files::LastAndFound<State>, Error> {
        let options = self.workspace.commit_options();
        let (last, found) = record_files::last_and_found(self.workspace.root(), options, &self.format())?;
        let follows = self.settings.option != Format::OrchestratorState;
        Ok((last.filter(|_| follows), found))
    }

    /// State files by their names in the format, and the format. A folder is of the format with these names;
    /// a single file may have any name, with its siblings beside it. `read` gets an index among the format's
    /// names. `is_own`: the files are of the configured format if there are records.
    fn state_files(
        &self,
        is_own: bool,
        is_folder: bool,
        read: impl Fn(Format, usize, &str) -> Result<Option<Vec<u8>>, Error>,
    ) -> Result<Option<(Format, Files)>, Error> {
        let formats =
            [self.settings.option, Format::TasksFile, Format::ServerState, Format::OrchestratorState];
        let known = if is_own && self.state().is_ok() { &formats[..1] } else { &formats[..] };
        for format in known.iter().copied() {
            let mut files = Files::new();
            for (number, name) in format.files().iter().enumerate() {
                files.extend(read(format, number, name)?.map(|bytes| ((*name).to_owned(), bytes)));
            }
            let Some(first) = format.files().first().and_then(|name| files.get(*name)) else { continue };
            // A file that is not JSON has no format: the parser says what is wrong.
            if is_folder || Format::of(first).is_none_or(|own| own == format) {
                return Ok(Some((format, files)));
            }
        }
        Ok(None)
    }
}

fn nothing(place: String) -> Error {
    nothing_to_import("state file of coordination in", &place)
}

impl Coordination<'_> {
    /// Switches to another option: writes its files, sets it in the configuration, and removes the former
    /// option's files unless others wrote them. Returns the written and the removed files.
    pub fn convert(&self, to: Format) -> Result<(CoordinationFiles, Vec<ProjectPath>), Error> {
        let key =
            |format: &Format| (KeyPath::key("coordination").then("option"), Value::from(format.to_string()));
        let (option, value) = key(&to);
        let changed = self.workspace.configure(option, value)?;
        let Some(coordination) = changed.coordination() else {
            return Err(not_begun(&SYSTEM));
        };
        let files = coordination.project(&Overwrite::None).or_else(|error| {
            // Files of the former option may exist.
            let (option, value) = key(&self.settings.option);
            changed.configure(option, value)?;
            Err(error)
        })?;
        let options = self.workspace.commit_options();
        Ok((files, record_files::withdraw(self.workspace.root(), options, &self.format())?))
    }

    pub fn checkpoint_path(&self, name: &str) -> Result<ProjectPath, Error> {
        Ok(self.settings.folder.join("checkpoints")?.join(&format!("{}.json", file_stem(name)))?)
    }

    /// Writes the state file, with a copy called `name`.
    pub fn checkpoint(&self, name: &str) -> Result<ProjectPath, Error> {
        self.project(&Overwrite::None)?;
        let (root, options) = (self.workspace.root(), self.workspace.commit_options());
        let bytes = read_whole(root, &self.settings.state_file)
            .map_err(|error| Error::from(error).in_system())?
            .unwrap_or_default();
        let path = self.checkpoint_path(name)?;
        let before = read_whole(root, &path).map_err(|error| Error::from(error).in_system())?;
        replace_whole(root, &path, Expected::of(before.as_deref()), &bytes, options)
            .map_err(|error| Error::from(error).in_system())?;
        Ok(path)
    }

    pub fn file_states(&self) -> Result<Vec<FollowingFile>, Error> {
        self.states_of_files()
    }

    /// Skips option C, whose file is only written on demand.
    pub(crate) fn file_findings(
        &self,
        state: &State,
        read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
    ) -> Vec<FileFindings> {
        self.findings_of_files(state, self.settings.option == Format::OrchestratorState, read)
    }
}

impl Coordination<'_> {
    pub fn begin(&self, goal: &str, plan: &str) -> Result<CoordinationFiles, Error> {
        match self.state() {
            Err(error) if error.kind() == ErrorKind::NotBegun => {}
            Err(error) => return Err(error),
            Ok(state) => return self.give_goal(&state.root, goal, plan),
        }
        let root = Record::root(goal, plan, self.settings.option, &self.now());
        self.write_record(&root, "coordination init")?;
        Ok(self.follow(&[]))
    }

    fn give_goal(&self, root: &Record, goal: &str, plan: &str) -> Result<CoordinationFiles, Error> {
        let own = root.text("goal").unwrap_or_default().to_owned();
        if !own.is_empty() || goal.is_empty() || !(plan.is_empty() || root.body.is_empty()) {
            return Err(Error::refused(format!(
                "coordination has begun here already, with the goal `{own}`"
            ))
            .help("`stepmark task add TEXT` adds a task")
            .help_of_tools("create_task adds a task"));
        }
        let mut after = root.clone();
        after.set("goal", goal);
        if !plan.is_empty() {
            plan.clone_into(&mut after.body);
        }
        let path = self.path_of(RecordKind::Coordination, "")?;
        self.attempt(std::slice::from_ref(&path), changed("coordination init"), |found| {
            let Some(found) = found.first().and_then(Option::as_ref) else { return Ok(((), keep(1))) };
            if Self::read_artifact(found)? != *root {
                return Err(busy(&path));
            }
            let edit = |source| not_written(&path, source);
            Ok(((), vec![RecordDecision::Write(root.rewrite(found, &after).map_err(edit)?)]))
        })?;
        Ok(self.follow(&[]))
    }

    pub fn register(
        &self,
        agent: &str,
        role: &str,
        capabilities: Option<Json>,
    ) -> Result<CoordinationFiles, Error> {
        let path = self.path_of(RecordKind::Agent, agent)?;
        self.state_to_change()?;
        self.make_folders(std::slice::from_ref(&path))?;
        self.attempt(&[path], changed("coordination register"), |found| {
            let before = found.first().and_then(Option::as_ref).map(Self::read_artifact).transpose()?;
            let mut after = before.clone().unwrap_or_else(|| Record::agent(agent, role, &self.now()));
            after.set("role", role);
            if let Some(capabilities) = &capabilities {
                after.set("capabilities", capabilities.clone());
            }
            let decision = match before {
                Some(before) => RecordDecision::Edit(before.edits_to(&after)),
                None => RecordDecision::Write(self.bytes_of(&after)?),
            };
            Ok(((), vec![decision]))
        })?;
        self.beat(agent, None)?;
        Ok(self.follow(&[]))
    }

    /// Commits nothing; the journal gets an event only if the agent's status changes.
    pub fn heartbeat(&self, agent: &str, status: Option<&str>) -> Result<CoordinationFiles, Error> {
        let state = self.state_to_change()?;
        if !state.agents.iter().any(|record| record.id == agent) {
            return Err(TaskRefusal::UnknownAgent { agent: agent.to_owned() }.into());
        }
        self.beat(agent, status)?;
        Ok(self.follow(&[]))
    }

    pub(super) fn beat(&self, agent: &str, status: Option<&str>) -> Result<(), Error> {
        let signal = Signal {
            agent: agent.to_owned(),
            at: self.now(),
            status: status.map(str::to_owned),
            ..Signal::default()
        };
        self.note_signal(&signal)
    }

    /// Keeps an agent's discovery under a new id.
    pub fn discover(
        &self,
        (id, agent): (&str, &str),
        content: &str,
        tags: &[String],
    ) -> Result<(Record, CoordinationFiles), Error> {
        let state = self.state_to_change()?;
        let order = state.next_order(RecordKind::Discovery);
        let discovery = Record::discovery(id, (agent, content, tags), order, &self.now());
        self.write_record(&discovery, "coordination discover")?;
        Ok((discovery, self.follow(&[])))
    }

    fn write_record(&self, record: &Record, command: &str) -> Result<(), Error> {
        let taken = || TaskRefusal::IdTaken { id: record.id.clone() }.into();
        self.write_new(record, draft(Kind::CHANGE, command), taken)
    }

    pub(super) fn now(&self) -> String {
        self.workspace.now().to_string()
    }
}

pub(super) fn changed(command: &str) -> EventDraft {
    draft(Kind::CHANGE, command).in_one_decision()
}
