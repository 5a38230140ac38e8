//! The root record, agents, their signs of life, and what they discover.

use serde_json::Value as Json;

use super::{Coordination, files::CoordinationFiles};
use crate::changes::RecordDecision;
use crate::records::{ChangedRecords as _, RecordSystem as _, RecordsError, SystemError, draft, keep};
use stepmark_model::{
    coordination::{Record, RecordKind, TaskRefusal},
    journal::{EventDraft, Kind},
    records::{RecordSet as _, Signal},
};

impl Coordination<'_> {
    pub fn begin(&self, goal: &str, plan: &str) -> Result<CoordinationFiles, SystemError> {
        match self.state() {
            Err(RecordsError::NotBegun { .. }) => {}
            Err(error) => return Err(error.into()),
            Ok(state) => return self.give_goal(&state.root, goal, plan),
        }
        let root = Record::root(goal, plan, self.settings.option, &self.now());
        self.write_record(&root, "coordination init")?;
        Ok(self.follow(&[]))
    }

    fn give_goal(&self, root: &Record, goal: &str, plan: &str) -> Result<CoordinationFiles, SystemError> {
        let own = root.text("goal").unwrap_or_default().to_owned();
        if !own.is_empty() || goal.is_empty() || !(plan.is_empty() || root.body.is_empty()) {
            return Err(SystemError::Begun { system: "coordination", goal: Some(own) });
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
                return Err(SystemError::Busy { path: path.clone() });
            }
            let edit = |source| SystemError::Edit { path: path.clone(), source };
            Ok(((), vec![RecordDecision::Write(root.rewrite(found, &after).map_err(edit)?)]))
        })?;
        Ok(self.follow(&[]))
    }

    pub fn register(
        &self,
        agent: &str,
        role: &str,
        capabilities: Option<Json>,
    ) -> Result<CoordinationFiles, SystemError> {
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

    /// Notes that an agent is alive; nothing is committed. The journal is told where its status changes.
    pub fn heartbeat(&self, agent: &str, status: Option<&str>) -> Result<CoordinationFiles, SystemError> {
        let state = self.state_to_change()?;
        if !state.agents.iter().any(|record| record.id == agent) {
            return Err(TaskRefusal::UnknownAgent { agent: agent.to_owned() }.into());
        }
        self.beat(agent, status)?;
        Ok(self.follow(&[]))
    }

    pub(super) fn beat(&self, agent: &str, status: Option<&str>) -> Result<(), SystemError> {
        let signal = Signal {
            agent: agent.to_owned(),
            at: self.now(),
            status: status.map(str::to_owned),
            ..Signal::default()
        };
        self.note_signal(&signal)
    }

    /// Keeps what an agent has discovered under an id that is new, and returns its record.
    pub fn discover(
        &self,
        (id, agent): (&str, &str),
        content: &str,
        tags: &[String],
    ) -> Result<(Record, CoordinationFiles), SystemError> {
        let state = self.state_to_change()?;
        let order = state.next_order(RecordKind::Discovery);
        let discovery = Record::discovery(id, (agent, content, tags), order, &self.now());
        self.write_record(&discovery, "coordination discover")?;
        Ok((discovery, self.follow(&[])))
    }

    fn write_record(&self, record: &Record, command: &str) -> Result<(), SystemError> {
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
