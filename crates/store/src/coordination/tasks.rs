//! Changes of tasks, decided on the records read, and again under the locks of all records involved. Claims
//! take the best task, or a named one.

use crate::records::no_record;
use crate::{Error, ErrorKind, records::busy};
use std::{collections::BTreeSet, sync::PoisonError};

use serde_json::Value as Json;

use super::{Coordination, files::CoordinationFiles, importing::changed};
use crate::changes::{RECORDS_A_COMMIT, RecordDecision};
use crate::records::{ChangedRecords as _, RecordSystem as _, draft, keep};
use stepmark_model::{
    artifact::Artifact,
    coordination::{
        Format, NewTask, Record, RecordKind, State, TaskRefusal, check_dependencies, claimable, decide,
        dependants_freed, is_held, open_dependencies, orphaned, task_move,
    },
    journal::Kind,
    packs::MoveCall,
    records::RecordSet as _,
    spelling::{argument, with_causes},
};

/// Retries if others change the records.
const ATTEMPTS: usize = 32;

#[derive(Clone, Debug)]
pub struct TaskChange {
    pub task: Record,
    pub freed: Vec<String>,
    /// Tasks taken from silent agents first.
    pub orphaned: Vec<String>,
    pub files: CoordinationFiles,
}

enum Attempt {
    Made(Record),
    /// The task has changed: somebody else was faster.
    Taken,
    /// A record behind the decision has changed.
    Outdated,
}

impl Coordination<'_> {
    /// `None` if the references are valid, or `old` has the same ones.
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

    pub fn create(&self, wanted: &[NewTask]) -> Result<(Vec<Record>, CoordinationFiles), Error> {
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
        // A removed task keeps its id.
        let known = self.workspace.history().ask(|history| history.known_below(&self.settings.folder));
        let known = known.map_err(Error::unwritten)?;
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

    pub fn task_id(&self, given: &str) -> Result<String, Error> {
        self.whole_id(RecordKind::Task, given)
    }

    pub fn make(&self, id: &str, made: &MoveCall) -> Result<TaskChange, Error> {
        if let ("claim", Some(agent)) = (&*made.name, made.text("agent")) {
            return self.claim_task(id, agent);
        }
        for _ in 0..ATTEMPTS {
            let state = self.state_to_change()?;
            let ends = made.name == "done";
            let mut freed = if ends { dependants_freed(id, &state) } else { Vec::new() };
            freed.retain(|task| self.is_usable(task));
            let is_other = |error: &Error| error.path().is_some() && !self.is_of_task(id, error);
            let (attempt, mut freed) = match self.make_once(&state, id, made, freed) {
                // A faulty record blocks no other task: each is freed by itself.
                Err(error) if ends && is_other(&error) => self.make_once(&state, id, made, Vec::new()),
                attempt => attempt,
            }?;
            if let Attempt::Made(task) = attempt {
                let others = if ends { self.free_dependants(id, &mut freed) } else { Ok(()) };
                let mut files = self.followed(made.text("agent"), std::slice::from_ref(&task));
                files.behind = files.behind.or_else(|| Some(with_causes(&others.err()?)));
                return Ok(TaskChange { task, freed, orphaned: Vec::new(), files });
            }
        }
        Err(busy(&self.path_of(RecordKind::Task, id)?))
    }

    fn make_once(
        &self,
        state: &State,
        id: &str,
        made: &MoveCall,
        freed: Vec<Record>,
    ) -> Result<(Attempt, Vec<String>), Error> {
        let task = task_of(state, id)?;
        // A refusal changes nothing.
        let wanted = decide(task, made, (state, self.claims_per_agent()), &self.now())?;
        if wanted == *task {
            return Ok((Attempt::Made(wanted), Vec::new()));
        }
        let holder = state.agents.iter().find(|agent| Some(agent.id.as_str()) == task.claimed_by());
        let ends = made.name == "done";
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

    /// Another dependency may have completed at the same time.
    fn free_dependants(&self, id: &str, freed: &mut Vec<String>) -> Result<(), Error> {
        let state = self.state()?;
        let mut failed = None;
        for after in dependants_freed(id, &state).into_iter().filter(|task| self.is_usable(task)) {
            let before = task_of(&state, &after.id)?;
            let path = self.path_of(RecordKind::Task, &after.id)?;
            let made = self.attempt(&[path], changed("task done"), |found| {
                let found = found.first().and_then(Option::as_ref).map(Self::read_artifact).transpose()?;
                Ok(match found.as_ref() == Some(before) {
                    true => (Some(after.id.clone()), vec![RecordDecision::Edit(before.edits_to(&after))]),
                    // Somebody else is changing it.
                    false => (None, keep(1)),
                })
            });
            match made {
                Ok(made) => freed.extend(made),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Records that `agent` is alive and updates the files with results of `ended`; errors go to the result.
    pub(super) fn followed(&self, agent: Option<&str>, ended: &[Record]) -> CoordinationFiles {
        let silent = agent.and_then(|agent| self.beat(agent, None).err());
        let files = self.follow(ended);
        let behind = files.behind.clone().or_else(|| silent.map(|error| error.to_string()));
        CoordinationFiles { behind, ..files }
    }
}

fn task_of<'s>(state: &'s State, id: &str) -> Result<&'s Record, Error> {
    let task = state.tasks.iter().find(|task| task.id == id);
    task.ok_or_else(|| no_record("task", id))
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

impl Coordination<'_> {
    /// By priority, then age. Frees the tasks of silent agents first.
    pub fn claim(&self, agent: &str) -> Result<TaskChange, Error> {
        let mut freed = Vec::new();
        for _ in 0..ATTEMPTS {
            let (mut state, undecided) = self.state_to_claim()?;
            let orphans = self.free_orphans(&state)?;
            if !orphans.is_empty() {
                freed.extend(orphans);
                state = self.state()?;
            }
            if let Some(refusal) = TaskRefusal::of_claims(&state, agent, self.claims_per_agent()) {
                return Err(refusal.into());
            }
            let mut candidates = claimable(&state, agent, self.workspace.now());
            candidates.retain(|task| !undecided.contains(&task.id) && self.is_usable(task));
            if candidates.is_empty() {
                return Err(nothing_to_claim(&state, &freed, &undecided));
            }
            let (mut left, mut is_taken) = (None, false);
            for task in candidates {
                match self.claim_one(&state, &task.id, agent) {
                    // A concurrent claim takes the best ones; then the next is as good.
                    Ok(Attempt::Taken) => is_taken = true,
                    // A faulty task comes last.
                    Err(error) if self.is_of_task(&task.id, &error) => left = left.or(Some(error)),
                    Err(error) => return Err(error),
                    Ok(Attempt::Outdated) => {
                        is_taken = true;
                        break;
                    }
                    Ok(Attempt::Made(task)) => {
                        let files = self.followed(Some(agent), &[]);
                        return Ok(TaskChange { task, freed: Vec::new(), orphaned: freed, files });
                    }
                }
            }
            if let Some(error) = left.filter(|_| !is_taken) {
                return Err(error);
            }
        }
        Err(busy(&self.settings.folder))
    }

    pub fn claim_task(&self, id: &str, agent: &str) -> Result<TaskChange, Error> {
        let claim = task_move("claim", Some(agent));
        for _ in 0..ATTEMPTS {
            let (state, undecided) = self.state_to_claim()?;
            let orphaned = self.free_orphans(&state)?;
            let state = if orphaned.is_empty() { state } else { self.state()? };
            let task = task_of(&state, id)?;
            if decide(task, &claim, (&state, self.claims_per_agent()), &self.now())? == *task {
                let (task, files) = (task.clone(), self.follow(&[]));
                return Ok(TaskChange { task, freed: Vec::new(), orphaned, files });
            }
            if undecided.contains(id) {
                return Err(changed_elsewhere(id));
            }
            if let Attempt::Made(task) = self.claim_one(&state, id, agent)? {
                let files = self.followed(Some(agent), &[]);
                return Ok(TaskChange { task, freed: Vec::new(), orphaned, files });
            }
        }
        Err(busy(&self.path_of(RecordKind::Task, id)?))
    }

    pub fn next(&self, agent: &str) -> Result<Record, Error> {
        let state = self.state()?;
        let changed = match self.settings.option {
            Format::OrchestratorState => Vec::new(),
            // If they cannot be compared, updating the files reports it.
            _ => self.drift().unwrap_or_default(),
        };
        let is_free =
            |task: &&Record| self.is_usable(task) && !changed.iter().any(|drift| drift.id == task.id);
        let best = claimable(&state, agent, self.workspace.now()).into_iter().find(is_free).cloned();
        let undecided = || changed.iter().map(|drift| drift.id.clone()).collect();
        best.ok_or_else(|| nothing_to_claim(&state, &[], &undecided()))
    }

    fn claim_one(&self, state: &State, id: &str, agent: &str) -> Result<Attempt, Error> {
        let paths = [self.path_of(RecordKind::Task, id)?, self.path_of(RecordKind::Agent, agent)?];
        let known = state.agents.iter().find(|record| record.id == agent);
        if known.is_none() {
            self.make_folders(&paths[1..])?;
        }
        let (now, made) = (self.now(), task_move("claim", Some(agent)));
        self.attempt(&paths, changed("task claim"), |found| {
            let [Some(task), own] = found else { return Ok((Attempt::Taken, keep(2))) };
            let task = Self::read_artifact(task)?;
            let own = own.as_ref().map(Self::read_artifact).transpose()?;
            if own.as_ref() != known {
                return Ok((Attempt::Outdated, keep(2)));
            }
            if task.status() != "available" {
                return Ok((Attempt::Taken, keep(2)));
            }
            let claimed = decide(&task, &made, (state, self.claims_per_agent()), &now)?;
            let before = own.clone();
            let mut own = own.unwrap_or_else(|| Record::agent(agent, "worker", &now));
            own.set("current_task", Json::from(id));
            let own = match before {
                Some(before) => RecordDecision::Edit(before.edits_to(&own)),
                None => RecordDecision::Write(self.bytes_of(&own)?),
            };
            Ok((Attempt::Made(claimed.clone()), vec![RecordDecision::Edit(task.edits_to(&claimed)), own]))
        })
    }

    fn free_orphans(&self, state: &State) -> Result<Vec<String>, Error> {
        let stale = u64::from(self.settings.stale_seconds.get());
        let mut freed = Vec::new();
        let orphaned = orphaned(state, &self.signals(), self.workspace.now(), stale);
        let is_movable = |task: &&Record| {
            let holder = state.agents.iter().find(|agent| Some(&*agent.id) == task.claimed_by());
            self.is_usable(task) && holder.is_none_or(|agent| self.is_usable(agent))
        };
        for task in orphaned.into_iter().filter(is_movable) {
            // A faster process has freed or ended it; a faulty one stays with its agent.
            match self.make_once(state, &task.id, &task_move("orphan", None), Vec::new()) {
                Ok((Attempt::Made(task), _)) => freed.push(task.id),
                Err(error) if error.path().is_none() => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(freed)
    }

    pub(super) fn is_usable(&self, record: &Record) -> bool {
        let unusable = self.workspace.unusable.lock().unwrap_or_else(PoisonError::into_inner);
        unusable.is_empty()
            || self.path_of(record.kind, &record.id).is_ok_and(|path| !unusable.contains_key(&path))
    }

    fn is_of_task(&self, id: &str, error: &Error) -> bool {
        self.path_of(RecordKind::Task, id).is_ok_and(|path| error.path() == Some(&path))
    }
}

fn nothing_to_claim(state: &State, orphaned: &[String], changed: &BTreeSet<String>) -> Error {
    let waits = |task: &&Record| !is_held(task) && !open_dependencies(task, state).is_empty();
    let has = |task: &&Record, words: &[&str]| words.contains(&task.status());
    let open = || state.tasks.iter().filter(|task| has(task, &["available", "pending", "blocked"]));
    let available = open().filter(|task| !waits(task)).count();
    let waiting = open().filter(waits).count();
    let held = state.tasks.iter().filter(|task| is_held(task)).count();
    let message = format!(
        "no task can be claimed: {available} available, {waiting} waiting for others, {held} held{}{}",
        taken(orphaned),
        undecided(changed)
    );
    let error = Error::new(ErrorKind::idle(available + waiting + held, !changed.is_empty()), message);
    if changed.is_empty() {
        return error;
    }
    let help = "`stepmark import coordination --take file` takes the changes, `stepmark coordination project \
                --overwrite` gives them up";
    error.help(help).help_of_tools("a person decides on the changed ones")
}

fn changed_elsewhere(id: &str) -> Error {
    let message = format!(
        "another program changed the task `{id}` in a state file, and perhaps works on it: nobody claims it"
    );
    let help = format!(
        "`stepmark import coordination --take file` takes the change, `stepmark coordination project --overwrite {}` gives it up",
        argument(id)
    );
    let tools = "claim_task gives you another one; a person decides on this one";
    Error::refused(message).help(help).help_of_tools(tools)
}

fn taken(orphaned: &[String]) -> String {
    match orphaned {
        [] => String::new(),
        ids => format!("; the agents of {} were silent for too long, and hold them no more", ids.join(", ")),
    }
}

fn undecided(changed: &BTreeSet<String>) -> String {
    match changed.iter().map(String::as_str).collect::<Vec<_>>().join(", ") {
        ids if ids.is_empty() => ids,
        ids => format!(
            "; other programs changed {ids} in the state files: nobody claims what is undecided there"
        ),
    }
}
