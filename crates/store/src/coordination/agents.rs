//! The root record, agents, their signs of life, and what they discover.

use serde_json::Value as Json;

use super::{
    Coordination, CoordinationError, SYSTEM,
    files::CoordinationFiles,
    records::RecordsError,
    tasks::{draft, keep},
};
use crate::changes::RecordDecision;
use crate::signals::write_signal;
use stepmark_model::{
    artifact::ProjectPath,
    coordination::{Record, RecordKind, TaskRefusal, file_stem},
    records::{RecordSet as _, Signal},
};

impl Coordination<'_> {
    /// Begins coordination with a goal and, perhaps, a plan as Markdown. Records that were brought in without
    /// a goal get it.
    pub fn begin(&self, goal: &str, plan: &str) -> Result<CoordinationFiles, CoordinationError> {
        match self.state() {
            Err(RecordsError::NotBegun { .. }) => {}
            Err(error) => return Err(error.into()),
            Ok(state) => return self.give_goal(&state.root, goal, plan),
        }
        let root = Record::root(goal, plan, self.settings.format, &self.now());
        self.write_new(&root, "coordination init")?;
        Ok(self.follow(&[]))
    }

    /// Gives the root record a goal, which it has not, and a plan where it has none.
    fn give_goal(
        &self,
        root: &Record,
        goal: &str,
        plan: &str,
    ) -> Result<CoordinationFiles, CoordinationError> {
        let own = root.text("goal").unwrap_or_default().to_owned();
        if !own.is_empty() || goal.is_empty() || !(plan.is_empty() || root.body.is_empty()) {
            return Err(CoordinationError::Begun { goal: own });
        }
        let mut after = root.clone();
        after.set("goal", goal);
        if !plan.is_empty() {
            plan.clone_into(&mut after.body);
        }
        let path = self.path_of(RecordKind::Coordination, "")?;
        self.attempt(std::slice::from_ref(&path), "coordination init", |found| {
            let Some(found) = found.first().and_then(Option::as_ref) else { return Ok(((), keep(1))) };
            if super::records::read(found)? != *root {
                return Err(CoordinationError::Busy { path: path.clone() });
            }
            let edit = |source| CoordinationError::Edit { path: path.clone(), source };
            Ok(((), vec![RecordDecision::Write(root.rewrite(found, &after).map_err(edit)?)]))
        })?;
        Ok(self.follow(&[]))
    }

    pub fn register(
        &self,
        agent: &str,
        role: &str,
        capabilities: Option<Json>,
    ) -> Result<CoordinationFiles, CoordinationError> {
        let path = self.path_of(RecordKind::Agent, agent)?;
        self.state_to_change()?;
        self.make_folder(std::slice::from_ref(&path))?;
        self.attempt(&[path], "coordination register", |found| {
            let before = found.first().and_then(Option::as_ref).map(super::records::read).transpose()?;
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

    /// Notes that an agent is alive; nothing is committed. The journal is told where its status changes.
    pub fn heartbeat(
        &self,
        agent: &str,
        status: Option<&str>,
    ) -> Result<CoordinationFiles, CoordinationError> {
        let state = self.state_to_change()?;
        if !state.agents.iter().any(|record| record.id == agent) {
            return Err(TaskRefusal::UnknownAgent { agent: agent.to_owned() }.into());
        }
        self.beat(agent, status)?;
        Ok(self.follow(&[]))
    }

    pub(super) fn beat(&self, agent: &str, status: Option<&str>) -> Result<(), CoordinationError> {
        let signal = Signal {
            agent: agent.to_owned(),
            at: self.now(),
            status: status.map(str::to_owned),
            ..Signal::default()
        };
        self.note_signal(&signal)
    }

    pub(super) fn note_signal(&self, signal: &Signal) -> Result<(), CoordinationError> {
        let agent = signal.agent.clone();
        write_signal(self.workspace.root(), (SYSTEM, &file_stem(&agent)), signal)
            .map_err(|source| CoordinationError::Signal { agent, source })
    }

    /// Keeps what an agent has discovered under an id that is new, and returns its record.
    pub fn discover(
        &self,
        (id, agent): (&str, &str),
        content: &str,
        tags: &[String],
    ) -> Result<(Record, CoordinationFiles), CoordinationError> {
        let state = self.state_to_change()?;
        let order = state.next_order(RecordKind::Discovery);
        let discovery = Record::discovery(id, (agent, content, tags), order, &self.now());
        self.write_new(&discovery, "coordination discover")?;
        Ok((discovery, self.follow(&[])))
    }

    /// Writes a record that is not there yet.
    fn write_new(&self, record: &Record, command: &str) -> Result<(), CoordinationError> {
        let path = self.path_of(record.kind, &record.id)?;
        self.make_folder(std::slice::from_ref(&path))?;
        let bytes = self.bytes_of(record)?;
        self.workspace.change_records(
            &[path],
            |_| draft(command),
            |found| match found {
                [None] => Ok(vec![RecordDecision::Write(bytes.clone())]),
                _ => Err(CoordinationError::from(TaskRefusal::IdTaken { id: record.id.clone() })),
            },
        )?;
        Ok(())
    }

    pub(super) fn bytes_of(&self, record: &Record) -> Result<Vec<u8>, CoordinationError> {
        record.to_file().map_err(|source| match self.path_of(record.kind, &record.id) {
            Ok(path) => CoordinationError::Edit { path, source },
            Err(error) => error.into(),
        })
    }

    pub(super) fn make_folder(&self, paths: &[ProjectPath]) -> Result<(), CoordinationError> {
        let fsync = self.workspace.commit_options().fsync;
        for (place, path) in paths.iter().enumerate() {
            if place == 0 || path.parent() != paths[place - 1].parent() {
                crate::commit::make_folders_to(self.workspace.root(), path, fsync).map_err(|error| {
                    crate::changes::ChangeError::from(crate::commit::CommitError::from(error))
                })?;
            }
        }
        Ok(())
    }

    pub(super) fn now(&self) -> String {
        self.workspace.now().to_string()
    }
}
