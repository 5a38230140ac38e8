//! Changes of tasks: each decided on what was read, and again under the locks of all records that it rests
//! on.

use std::{cell::RefCell, collections::BTreeSet};

use serde_json::Value as Json;

use super::{Coordination, CoordinationError, files::CoordinationFiles, records::read};
use crate::changes::RecordDecision;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    coordination::{
        NewTask, Record, RecordKind, State, TaskMove, TaskRefusal, check_dependencies, claimable, decide,
        dependants_freed, held_by, is_held, open_dependencies, orphaned,
    },
    journal::{EventDraft, Kind},
    record::RecordSet as _,
};

/// The number of times that a decision is made anew where others change the records meanwhile.
const ATTEMPTS: usize = 32;

/// A task that was changed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskChange {
    /// The task as it is now.
    pub task: Record,
    /// The ids of tasks that became available with it.
    pub freed: Vec<String>,
    /// The ids of tasks that were taken from silent agents before.
    pub orphaned: Vec<String>,
    /// The state of the files that follow.
    pub files: CoordinationFiles,
}

/// The outcome of one attempt under the locks.
enum Attempt {
    Made(Record),
    /// The task is not as it was read: somebody else was faster.
    Taken,
    /// A record that the decision rests on is not as it was read.
    Outdated,
}

impl Coordination<'_> {
    /// Makes tasks, and returns them with their ids.
    ///
    /// # Errors
    /// When a dependency is unknown or leads in a circle, an id is taken, or they cannot be written.
    pub fn create(&self, wanted: &[NewTask]) -> Result<(Vec<Record>, CoordinationFiles), CoordinationError> {
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
        self.make_folder(&paths)?;
        for (paths, tasks) in paths.chunks(COMMIT).zip(made.chunks(COMMIT)) {
            let new = tasks.iter().map(|task| self.bytes_of(task)).collect::<Result<Vec<_>, _>>()?;
            self.workspace.change_records(
                paths,
                |_| draft("task add"),
                |found| {
                    let taken = tasks.iter().zip(found).find(|(_, found)| found.is_some());
                    match taken {
                        Some((task, _)) => Err(TaskRefusal::IdTaken { id: task.id.clone() }.into()),
                        None => Ok(new.iter().cloned().map(RecordDecision::Write).collect::<Vec<_>>()),
                    }
                },
            )?;
        }
        Ok((made, self.follow(&[])))
    }

    /// Gives `agent` the best of the tasks that it may have: the highest priority, then the oldest. Tasks of
    /// agents that are silent are freed first.
    ///
    /// # Errors
    /// When there is none, or the agent holds as many as it may.
    pub fn claim(&self, agent: &str) -> Result<TaskChange, CoordinationError> {
        let mut freed = Vec::new();
        for _ in 0..ATTEMPTS {
            let mut state = self.state_to_change()?;
            let orphans = self.free_orphans(&state)?;
            if !orphans.is_empty() {
                freed.extend(orphans);
                state = self.state()?;
            }
            self.refuse_more(&state, agent)?;
            let candidates = claimable(&state, agent, self.workspace.now());
            if candidates.is_empty() {
                return Err(nothing_to_claim(&state, freed));
            }
            let attempts = candidates.into_iter().map(|task| self.claim_one(&state, &task.id, agent));
            // Whoever claims at the same time takes the best ones: then the next is as good.
            let attempt = attempts.into_iter().find(|attempt| !matches!(attempt, Ok(Attempt::Taken)));
            if let Some(Attempt::Made(task)) = attempt.transpose()? {
                let files = self.followed(Some(agent), &[]);
                return Ok(TaskChange { task, freed: Vec::new(), orphaned: freed, files });
            }
        }
        Err(CoordinationError::Busy { path: self.settings.folder.clone() })
    }

    /// Makes `made` on the task `id`.
    ///
    /// # Errors
    /// When it is refused, there is no such task, or the records cannot be changed.
    pub fn make(&self, id: &str, made: &TaskMove) -> Result<TaskChange, CoordinationError> {
        if let TaskMove::Claim { agent, .. } = made {
            return self.claim_task(id, agent);
        }
        for _ in 0..ATTEMPTS {
            let state = self.state_to_change()?;
            let (attempt, mut freed) = self.make_once(&state, id, made)?;
            if let Attempt::Made(task) = attempt {
                let ends = matches!(made, TaskMove::Complete { .. });
                let others = if ends { self.free_dependants(id) } else { Ok(Vec::new()) };
                let mut files = self.followed(made.agent(), std::slice::from_ref(&task));
                match others {
                    Ok(others) => freed.extend(others),
                    Err(error) => files.behind = files.behind.or_else(|| Some(error.to_string())),
                }
                return Ok(TaskChange { task, freed, orphaned: Vec::new(), files });
            }
        }
        Err(CoordinationError::Busy { path: self.path_of(RecordKind::Task, id)? })
    }

    /// Gives `agent` the task `id`.
    ///
    /// # Errors
    /// When it is refused, or there is no such task.
    pub fn claim_task(&self, id: &str, agent: &str) -> Result<TaskChange, CoordinationError> {
        for _ in 0..ATTEMPTS {
            let state = self.state_to_change()?;
            let orphaned = self.free_orphans(&state)?;
            let state = if orphaned.is_empty() { state } else { self.state()? };
            let task = task_of(&state, id)?;
            if decide(task, &self.claim_by(agent), &state, &self.now())? == *task {
                let (task, files) = (task.clone(), self.follow(&[]));
                return Ok(TaskChange { task, freed: Vec::new(), orphaned, files });
            }
            if let Attempt::Made(task) = self.claim_one(&state, id, agent)? {
                let files = self.followed(Some(agent), &[]);
                return Ok(TaskChange { task, freed: Vec::new(), orphaned, files });
            }
        }
        Err(CoordinationError::Busy { path: self.path_of(RecordKind::Task, id)? })
    }

    /// Claims the task `id`, which was available in `state`, with the record of its agent in one commit.
    fn claim_one(&self, state: &State, id: &str, agent: &str) -> Result<Attempt, CoordinationError> {
        let paths = [self.path_of(RecordKind::Task, id)?, self.path_of(RecordKind::Agent, agent)?];
        let known = state.agents.iter().find(|record| record.id == agent);
        if known.is_none() {
            self.make_folder(&paths[1..])?;
        }
        let (now, made) = (self.now(), self.claim_by(agent));
        self.attempt(&paths, "task claim", |found| {
            let [Some(task), own] = found else { return Ok((Attempt::Taken, keep(2))) };
            let task = read(task)?;
            let own = own.as_ref().map(read).transpose()?;
            if own.as_ref() != known {
                return Ok((Attempt::Outdated, keep(2)));
            }
            if task.status() != "available" {
                return Ok((Attempt::Taken, keep(2)));
            }
            let claimed = decide(&task, &made, state, &now)?;
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

    /// Makes `made` on the task `id` as it was in `state`, with its holder and the tasks that wait for it.
    fn make_once(
        &self,
        state: &State,
        id: &str,
        made: &TaskMove,
    ) -> Result<(Attempt, Vec<String>), CoordinationError> {
        let task = task_of(state, id)?;
        // What is refused leaves no trace.
        let wanted = decide(task, made, state, &self.now())?;
        if wanted == *task {
            return Ok((Attempt::Made(wanted), Vec::new()));
        }
        let holder = state.agents.iter().find(|agent| Some(agent.id.as_str()) == task.claimed_by());
        let ends = matches!(made, TaskMove::Complete { .. });
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
        let attempt = self.attempt(&paths, &format!("task {}", made.name()), |found| {
            let found = found
                .iter()
                .map(|found| found.as_ref().map(read).transpose())
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
    fn free_dependants(&self, id: &str) -> Result<Vec<String>, CoordinationError> {
        let state = self.state()?;
        let mut freed = Vec::new();
        for after in dependants_freed(id, &state) {
            let before = task_of(&state, &after.id)?;
            let path = self.path_of(RecordKind::Task, &after.id)?;
            freed.extend(self.attempt(&[path], "task done", |found| {
                let found = found.first().and_then(Option::as_ref).map(read).transpose()?;
                Ok(match found.as_ref() == Some(before) {
                    true => (Some(after.id.clone()), vec![RecordDecision::Edit(before.edits_to(&after))]),
                    // Somebody else is at it.
                    false => (None, keep(1)),
                })
            })?);
        }
        Ok(freed)
    }

    /// Frees the tasks of agents that are silent for too long.
    fn free_orphans(&self, state: &State) -> Result<Vec<String>, CoordinationError> {
        let stale = u64::from(self.settings.stale_seconds.get());
        let mut freed = Vec::new();
        for task in orphaned(state, &self.signals(), self.workspace.now(), stale) {
            // Whoever is faster has freed or ended it.
            if let (Attempt::Made(task), _) = self.make_once(state, &task.id, &TaskMove::Orphan)? {
                freed.push(task.id);
            }
        }
        Ok(freed)
    }

    /// The steps behind a change that is made: a sign of life of `agent`, and the files, with the results of
    /// the tasks in `ended`. A failure is told beside the change.
    fn followed(&self, agent: Option<&str>, ended: &[Record]) -> CoordinationFiles {
        let silent = agent.and_then(|agent| self.beat(agent, None).err());
        let files = self.follow(ended);
        let behind = files.behind.clone().or_else(|| silent.map(|error| error.to_string()));
        CoordinationFiles { behind, ..files }
    }

    /// A claim by `agent`.
    fn claim_by(&self, agent: &str) -> TaskMove {
        TaskMove::Claim { agent: agent.to_owned(), at_most: self.claims_per_agent() }
    }

    /// Refuses where `agent` has as many tasks as it may have.
    fn refuse_more(&self, state: &State, agent: &str) -> Result<(), TaskRefusal> {
        let held: Vec<String> = held_by(state, agent).into_iter().map(|task| task.id.clone()).collect();
        match held.len() < self.claims_per_agent() {
            true => Ok(()),
            false => Err(TaskRefusal::TooManyClaims { agent: agent.to_owned(), held }),
        }
    }

    /// One commit of the records at `paths`, told as `command`.
    pub(super) fn attempt<T>(
        &self,
        paths: &[ProjectPath],
        command: &str,
        mut decide: impl FnMut(&[Option<Artifact>]) -> Result<(T, Vec<RecordDecision>), CoordinationError>,
    ) -> Result<T, CoordinationError> {
        let made = RefCell::new(None);
        self.workspace.change_records(
            paths,
            |_| draft(command).in_one_decision(),
            |found| {
                let (attempt, decisions) = decide(found)?;
                made.replace(Some(attempt));
                Ok::<_, CoordinationError>(decisions)
            },
        )?;
        // A commit that ends well has decided at least once.
        made.into_inner().ok_or_else(|| CoordinationError::Busy { path: self.settings.folder.clone() })
    }
}

/// The number of records of one commit where many are made.
pub(super) const COMMIT: usize = 64;

pub(super) fn draft(command: &str) -> EventDraft {
    EventDraft::new(Kind::CHANGE).with_command(command.to_owned()).decided()
}

fn keep(count: usize) -> Vec<RecordDecision> {
    vec![RecordDecision::Keep; count]
}

fn task_of<'s>(state: &'s State, id: &str) -> Result<&'s Record, CoordinationError> {
    let task = state.tasks.iter().find(|task| task.id == id);
    task.ok_or_else(|| CoordinationError::NoTask { id: id.to_owned() })
}

/// The agent without the task `id`, which it has completed or not.
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

fn nothing_to_claim(state: &State, orphaned: Vec<String>) -> CoordinationError {
    let waits = |task: &&Record| !is_held(task) && !open_dependencies(task, state).is_empty();
    let has = |task: &&Record, words: &[&str]| words.contains(&task.status());
    let open = || state.tasks.iter().filter(|task| has(task, &["available", "pending", "blocked"]));
    CoordinationError::NothingToClaim {
        available: open().filter(|task| !waits(task)).count(),
        waiting: open().filter(waits).count(),
        held: state.tasks.iter().filter(|task| is_held(task)).count(),
        orphaned,
    }
}
