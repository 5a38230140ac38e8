//! Changes of tasks: each decided on what was read, and again under the locks of all records that it rests
//! on.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{Coordination, agents::changed, files::CoordinationFiles};
use crate::changes::{ChangeError, RECORDS_A_COMMIT, RecordDecision};
use crate::records::{ChangedRecords as _, RecordSystem as _, SystemError, draft, keep};
use stepmark_model::{
    artifact::Artifact,
    coordination::{
        NewTask, Record, RecordKind, State, TaskRefusal, check_dependencies, decide, dependants_freed,
        is_held,
    },
    journal::Kind,
    packs::MoveCall,
    records::RecordSet as _,
};

/// The number of times that a decision is made anew where others change the records meanwhile.
pub(super) const ATTEMPTS: usize = 32;

#[derive(Clone, Debug)]
pub struct TaskChange {
    pub task: Record,
    pub freed: Vec<String>,
    /// The ids of tasks that were taken from silent agents before.
    pub orphaned: Vec<String>,
    pub files: CoordinationFiles,
}

pub(super) enum Attempt {
    Made(Record),
    /// The task is not as it was read: somebody else was faster.
    Taken,
    /// A record that the decision rests on is not as it was read.
    Outdated,
}

impl Coordination<'_> {
    /// The reason why `new` cannot wait for the tasks that it names; `None` where `old` waited for them too.
    pub(crate) fn wrong_reference(&self, old: Option<&Artifact>, new: &Artifact) -> Option<String> {
        if !new.path().starts_with(&self.settings.folder) {
            return None;
        }
        let [old, new] = [old, Some(new)].map(|found| Self::read_artifact(found?).ok());
        let new = new.filter(|new| new.kind == RecordKind::Task)?;
        if old.is_some_and(|old| old.dependencies() == new.dependencies()) {
            return None;
        }
        check_dependencies(&self.state().ok()?, &[new]).err().map(|refusal| refusal.to_string())
    }

    pub fn create(&self, wanted: &[NewTask]) -> Result<(Vec<Record>, CoordinationFiles), SystemError> {
        let state = self.state_to_change()?;
        let now = self.now();
        let places = state.next_order(RecordKind::Task)..;
        let made: Vec<Record> = places.zip(wanted).map(|(place, task)| task.record(place, &now)).collect();
        check_dependencies(&state, &made)?;
        let mut ids: BTreeSet<&str> = state.tasks.iter().map(|task| task.id.as_str()).collect();
        if let Some(taken) = made.iter().find(|task| !ids.insert(&task.id)) {
            return Err(TaskRefusal::IdTaken { id: taken.id.clone() }.into());
        }
        let paths = made
            .iter()
            .map(|task| self.path_of(RecordKind::Task, &task.id))
            .collect::<Result<Vec<_>, _>>()?;
        // A task that is gone keeps its id.
        let known = self.workspace.history().ask(|history| history.known_below(&self.settings.folder));
        let known = known.map_err(ChangeError::from)?;
        if let Some((_, task)) = paths.iter().zip(&made).find(|(path, _)| known.binary_search(path).is_ok()) {
            return Err(TaskRefusal::IdTaken { id: task.id.clone() }.into());
        }
        self.make_folders(&paths)?;
        for (paths, tasks) in paths.chunks(RECORDS_A_COMMIT).zip(made.chunks(RECORDS_A_COMMIT)) {
            let new = tasks.iter().map(|task| self.bytes_of(task)).collect::<Result<Vec<_>, _>>()?;
            self.attempt(paths, draft(Kind::CHANGE, "task add"), |found| {
                match tasks.iter().zip(found).find(|(_, found)| found.is_some()) {
                    Some((task, _)) => Err(TaskRefusal::IdTaken { id: task.id.clone() }.into()),
                    None => Ok(((), new.iter().cloned().map(RecordDecision::Write).collect())),
                }
            })?;
        }
        Ok((made, self.follow(&[])))
    }

    /// The task that `given` names: by its id, or a beginning that no other has.
    pub fn task_id(&self, given: &str) -> Result<String, SystemError> {
        Ok(self.whole_id(RecordKind::Task, given)?)
    }

    pub fn make(&self, id: &str, made: &MoveCall) -> Result<TaskChange, SystemError> {
        if let ("claim", Some(agent)) = (&*made.name, made.text("agent")) {
            return self.claim_task(id, agent);
        }
        for _ in 0..ATTEMPTS {
            let state = self.state_to_change()?;
            let (attempt, mut freed) = self.make_once(&state, id, made)?;
            if let Attempt::Made(task) = attempt {
                let ends = made.name == "done";
                let others = if ends { self.free_dependants(id) } else { Ok(Vec::new()) };
                let mut files = self.followed(made.text("agent"), std::slice::from_ref(&task));
                match others {
                    Ok(others) => freed.extend(others),
                    Err(error) => files.behind = files.behind.or_else(|| Some(error.to_string())),
                }
                return Ok(TaskChange { task, freed, orphaned: Vec::new(), files });
            }
        }
        Err(SystemError::Busy { path: self.path_of(RecordKind::Task, id)? })
    }

    pub(super) fn make_once(
        &self,
        state: &State,
        id: &str,
        made: &MoveCall,
    ) -> Result<(Attempt, Vec<String>), SystemError> {
        let task = task_of(state, id)?;
        // What is refused leaves no trace.
        let wanted = decide(task, made, (state, self.claims_per_agent()), &self.now())?;
        if wanted == *task {
            return Ok((Attempt::Made(wanted), Vec::new()));
        }
        let holder = state.agents.iter().find(|agent| Some(agent.id.as_str()) == task.claimed_by());
        let ends = made.name == "done";
        let freed = if ends { dependants_freed(id, state) } else { Vec::new() };
        let rest = holder.into_iter().chain(&freed);
        let before: Vec<&Record> = std::iter::once(task)
            .chain(holder)
            .chain(freed.iter().filter_map(|record| state.tasks.iter().find(|task| task.id == record.id)))
            .collect();
        let after: Vec<Record> = std::iter::once(wanted.clone())
            .chain(
                holder.map(|agent| if is_held(&wanted) { agent.clone() } else { released(agent, id, ends) }),
            )
            .chain(rest.filter(|record| record.kind == RecordKind::Task).cloned())
            .collect();
        let paths = before
            .iter()
            .map(|record| self.path_of(record.kind, &record.id))
            .collect::<Result<Vec<_>, _>>()?;
        let attempt = self.attempt(&paths, changed(&format!("task {}", made.name)), |found| {
            let found = found
                .iter()
                .map(|found| found.as_ref().map(Self::read_artifact).transpose())
                .collect::<Result<Vec<_>, _>>()?;
            if found.iter().zip(&before).any(|(found, before)| found.as_ref() != Some(before)) {
                return Ok((Attempt::Outdated, keep(paths.len())));
            }
            let edits =
                before.iter().zip(&after).map(|(before, after)| RecordDecision::Edit(before.edits_to(after)));
            Ok((Attempt::Made(wanted.clone()), edits.collect()))
        })?;
        Ok((attempt, freed.into_iter().map(|task| task.id).collect()))
    }

    /// Makes the tasks available that wait for `id`, which is done, and for nothing else: another one that
    /// they waited for may have been completed at the same time.
    fn free_dependants(&self, id: &str) -> Result<Vec<String>, SystemError> {
        let state = self.state()?;
        let mut freed = Vec::new();
        for after in dependants_freed(id, &state) {
            let before = task_of(&state, &after.id)?;
            let path = self.path_of(RecordKind::Task, &after.id)?;
            freed.extend(self.attempt(&[path], changed("task done"), |found| {
                let found = found.first().and_then(Option::as_ref).map(Self::read_artifact).transpose()?;
                Ok(match found.as_ref() == Some(before) {
                    true => (Some(after.id.clone()), vec![RecordDecision::Edit(before.edits_to(&after))]),
                    // Somebody else is at it.
                    false => (None, keep(1)),
                })
            })?);
        }
        Ok(freed)
    }

    /// The steps behind a change that is made: a sign of life of `agent`, and the files, with the results of
    /// the tasks in `ended`. A failure is told beside the change.
    pub(super) fn followed(&self, agent: Option<&str>, ended: &[Record]) -> CoordinationFiles {
        let silent = agent.and_then(|agent| self.beat(agent, None).err());
        let files = self.follow(ended);
        let behind = files.behind.clone().or_else(|| silent.map(|error| error.to_string()));
        CoordinationFiles { behind, ..files }
    }
}

pub(super) fn task_of<'s>(state: &'s State, id: &str) -> Result<&'s Record, SystemError> {
    let task = state.tasks.iter().find(|task| task.id == id);
    task.ok_or_else(|| SystemError::Unknown { what: "task", id: id.to_owned() })
}

fn released(agent: &Record, id: &str, is_completed: bool) -> Record {
    let mut agent = agent.clone();
    if agent.text("current_task") == Some(id) {
        agent.set("current_task", Json::Null);
    }
    if is_completed {
        let completed = agent.values.get("tasks_completed").and_then(Json::as_i64).unwrap_or_default();
        agent.set("tasks_completed", Json::from(completed.saturating_add(1)));
    }
    agent
}
