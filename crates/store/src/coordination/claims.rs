//! Claims of tasks: by the best that there is, or by name.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{
    Coordination,
    agents::changed,
    tasks::{ATTEMPTS, Attempt, TaskChange, task_of},
};
use crate::changes::RecordDecision;
use crate::records::{ChangedRecords as _, RecordSystem as _, SystemError, keep};
use stepmark_model::coordination::{
    Format, Record, RecordKind, State, TaskRefusal, claimable, decide, is_held, open_dependencies, orphaned,
    task_move,
};

impl Coordination<'_> {
    /// Gives `agent` the best of the tasks that it may have: the highest priority, then the oldest. Tasks of
    /// agents that are silent are freed first.
    pub fn claim(&self, agent: &str) -> Result<TaskChange, SystemError> {
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
            candidates.retain(|task| !undecided.contains(&task.id));
            if candidates.is_empty() {
                return Err(nothing_to_claim(&state, freed, undecided));
            }
            let attempts = candidates.into_iter().map(|task| self.claim_one(&state, &task.id, agent));
            // Whoever claims at the same time takes the best ones: then the next is as good.
            let attempt = attempts.into_iter().find(|attempt| !matches!(attempt, Ok(Attempt::Taken)));
            if let Some(Attempt::Made(task)) = attempt.transpose()? {
                let files = self.followed(Some(agent), &[]);
                return Ok(TaskChange { task, freed: Vec::new(), orphaned: freed, files });
            }
        }
        Err(SystemError::Busy { path: self.settings.folder.clone() })
    }

    pub fn claim_task(&self, id: &str, agent: &str) -> Result<TaskChange, SystemError> {
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
                return Err(SystemError::Changed { id: id.to_owned() });
            }
            if let Attempt::Made(task) = self.claim_one(&state, id, agent)? {
                let files = self.followed(Some(agent), &[]);
                return Ok(TaskChange { task, freed: Vec::new(), orphaned, files });
            }
        }
        Err(SystemError::Busy { path: self.path_of(RecordKind::Task, id)? })
    }

    /// The task that `agent` would be given.
    pub fn next(&self, agent: &str) -> Result<Record, SystemError> {
        let state = self.state()?;
        let changed = match self.settings.format {
            Format::OrchestratorState => Vec::new(),
            // What cannot be compared is told when the files follow.
            _ => self.drift().unwrap_or_default(),
        };
        let is_free = |task: &&Record| !changed.iter().any(|drift| drift.id == task.id);
        let best = claimable(&state, agent, self.workspace.now()).into_iter().find(is_free).cloned();
        let undecided = || changed.iter().map(|drift| drift.id.clone()).collect();
        best.ok_or_else(|| nothing_to_claim(&state, Vec::new(), undecided()))
    }

    fn claim_one(&self, state: &State, id: &str, agent: &str) -> Result<Attempt, SystemError> {
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

    /// Frees the tasks of agents that are silent for too long.
    fn free_orphans(&self, state: &State) -> Result<Vec<String>, SystemError> {
        let stale = u64::from(self.settings.stale_seconds.get());
        let mut freed = Vec::new();
        for task in orphaned(state, &self.signals(), self.workspace.now(), stale) {
            // Whoever is faster has freed or ended it.
            if let (Attempt::Made(task), _) = self.make_once(state, &task.id, &task_move("orphan", None))? {
                freed.push(task.id);
            }
        }
        Ok(freed)
    }
}

fn nothing_to_claim(state: &State, orphaned: Vec<String>, changed: BTreeSet<String>) -> SystemError {
    let waits = |task: &&Record| !is_held(task) && !open_dependencies(task, state).is_empty();
    let has = |task: &&Record, words: &[&str]| words.contains(&task.status());
    let open = || state.tasks.iter().filter(|task| has(task, &["available", "pending", "blocked"]));
    SystemError::NothingToClaim {
        available: open().filter(|task| !waits(task)).count(),
        waiting: open().filter(waits).count(),
        held: state.tasks.iter().filter(|task| is_held(task)).count(),
        orphaned,
        changed,
    }
}
