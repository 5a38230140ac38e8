//! Running a flow: claims, reports, verdicts, and decisions of people.

use super::Flows;
use super::checkpoints::busy;
use crate::signals::write_signal;
use crate::{Error, records::not_alive};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::flows::{
    Acting, Attempt, AttemptEnd, FlowKind, FlowRecord, FlowRefusal, FlowState, Judgement, claim, end_attempt,
    make, verify,
};
use stepmark_model::packs::MoveCall;
use stepmark_model::records::{Signal, file_stem};

/// Retries of a claim if others are faster.
const ATTEMPTS: usize = 32;

impl Flows<'_> {
    /// Starts, pauses, resumes, and so on. Aborting a flow aborts its open tasks; repeatable after an
    /// interruption.
    pub fn make(&self, flow: &str, made: &str, reason: Option<&str>) -> Result<FlowState, Error> {
        let state = self.unedited(flow)?;
        let acting = self.acting(reason);
        if made == "start" {
            self.create_missing(flow)?;
        }
        let is_again = made == "abort" && state.flow.status() == "ABORTED" && acting.is_human();
        if !is_again {
            self.move_flow(flow, &MoveCall::new("flow", made), &acting)?;
        }
        match made {
            "abort" => self.abort_open(flow, &acting)?,
            // Its last task may have passed meanwhile.
            "resume" => drop(self.complete(&self.state(flow)?, &acting)?),
            _ => {}
        }
        if ["pause", "abort"].contains(&made) {
            self.seal()?;
        }
        self.state(flow)
    }

    pub(super) fn move_flow(
        &self,
        flow: &str,
        made: &MoveCall,
        acting: &Acting,
    ) -> Result<FlowRecord, Error> {
        let command = made.name.replacen("merge-", "merge ", 1);
        self.change_flow(flow, (&command, acting), |state| make(state, None, made, acting))
    }

    pub fn make_of_task(
        &self,
        (flow, task): (&str, &str),
        made: &MoveCall,
        reason: Option<&str>,
    ) -> Result<FlowRecord, Error> {
        self.unedited(flow)?;
        let acting = self.acting(reason);
        self.change_task((flow, task), (&made.name, &acting), |state| make(state, Some(task), made, &acting))
    }

    /// The next task, or the named one. First ends attempts of silent agents and finishes interrupted
    /// commands.
    pub fn claim(
        &self,
        (flow, task): (&str, Option<&str>),
        agent: &str,
        runtime: Option<&str>,
    ) -> Result<FlowRecord, Error> {
        let mut state = self.finished(flow)?;
        let acting = self.acting(None);
        let take = |task: &str| {
            self.change_task((flow, task), ("next --claim", &acting), |state| {
                claim(state, task, (agent, runtime), &acting)
            })
        };
        if let Some(task) = task {
            return take(task);
        }
        for _ in 0..ATTEMPTS {
            let ready: Vec<String> = state.ready().into_iter().map(|task| task.task().to_owned()).collect();
            let Some(first) = ready.first() else { return Err(not_ready(&state, &acting, agent)) };
            match take(first) {
                Err(error) if is_taken(&error) => state = self.state(flow)?,
                taken => return taken,
            }
        }
        Err(busy(&self.flow_path(flow)?))
    }

    /// A crashed attempt has failed: nothing is left to judge.
    pub fn end_attempt(&self, (flow, task): (&str, &str), end: &AttemptEnd) -> Result<FlowRecord, Error> {
        self.unedited(flow)?;
        let acting = self.acting(None);
        let record = self.change_task((flow, task), ("attempt end", &acting), |state| {
            end_attempt(state, task, end, &acting)
        })?;
        match record.attempts().last().filter(|ended| ended.is_crashed()) {
            Some(crashed) => self.fail_crashed((flow, task), crashed, &acting),
            None => Ok(record),
        }
    }

    /// A crashed attempt has failed: nothing is left to judge. Does nothing if somebody else was faster.
    fn fail_crashed(
        &self,
        (flow, task): (&str, &str),
        crashed: &Attempt,
        acting: &Acting,
    ) -> Result<FlowRecord, Error> {
        let judgement = Judgement { attempt_id: Some(crashed.attempt_id.clone()), ..Judgement::default() };
        match self.judge((flow, task), &judgement, acting) {
            Err(error) if error.detail::<FlowRefusal>().is_some() => {
                Ok(self.state(flow)?.task(task)?.clone())
            }
            judged => judged,
        }
    }

    pub fn verify(
        &self,
        (flow, task): (&str, &str),
        judgement: &Judgement,
        reason: Option<&str>,
    ) -> Result<FlowRecord, Error> {
        let state = self.unedited(flow)?;
        let mut judgement = judgement.clone();
        if let Ok(record) = state.task(task) {
            judgement.changed.extend(self.changed_files(record)?);
            judgement.checkpoint = record.checkpoints().pop();
        }
        let record = self.judge((flow, task), &judgement, &self.acting(reason))?;
        self.seal()?;
        Ok(record)
    }

    /// Like `verify`, with the consequences: a failed task may go to a person, as the graph says; a flow
    /// completes after its last task.
    fn judge(
        &self,
        (flow, task): (&str, &str),
        judgement: &Judgement,
        acting: &Acting,
    ) -> Result<FlowRecord, Error> {
        let mut is_last = false;
        let record = self.change_task((flow, task), ("verify", acting), |state| {
            // Under the flow's lock, so that of two that end at once one is the last.
            is_last = state.unfinished() == [task];
            verify(state, task, judgement, acting)
        })?;
        match record.status() {
            "FAILED" => {
                self.escalate_failed(&self.state(flow)?)?;
                Ok(self.state(flow)?.task(task)?.clone())
            }
            "SUCCESS" if is_last => {
                self.complete(&self.state(flow)?, acting)?;
                Ok(record)
            }
            _ => Ok(record),
        }
    }

    /// The flow after finishing what other commands left unfinished.
    pub(super) fn finished(&self, flow: &str) -> Result<FlowState, Error> {
        let state = self.unedited(flow)?;
        match self.finish_interrupted(&state)? {
            true => Ok(self.state(flow)?),
            false => Ok(state),
        }
    }

    /// Ends attempts of silent agents, judges crashed ones, and completes interrupted commands. Returns
    /// whether there were any.
    fn finish_interrupted(&self, state: &FlowState) -> Result<bool, Error> {
        let (flow, acting) = (state.flow.id(), self.acting(None));
        if state.flow.status() != "RUNNING" {
            return Ok(false);
        }
        let mut is_changed = false;
        for task in &state.tasks {
            let id = (flow, task.task());
            let done = if task.status() == "RUNNING"
                && let Some(open) = task.open_attempt()
                && self.is_silent(&open)
            {
                let end = AttemptEnd { attempt_id: Some(open.attempt_id), ..AttemptEnd::default() };
                self.end_attempt(id, &end)
            } else if task.status() == "VERIFYING"
                && let Some(crashed) = task.attempts().last().filter(|ended| ended.is_crashed())
            {
                self.fail_crashed(id, crashed, &acting)
            } else {
                continue;
            };
            unless_refused(done)?;
            is_changed = true;
        }
        Ok(self.escalate_failed(state)? || self.complete(state, &acting)? || is_changed)
    }

    fn escalate_failed(&self, state: &FlowState) -> Result<bool, Error> {
        let (flow, acting) = (state.flow.id(), self.acting(None));
        let waiting = state.to_escalate();
        for task in &waiting {
            let id = task.task();
            unless_refused(self.change_task((flow, id), ("escalate", &acting), |state| {
                make(state, Some(id), &MoveCall::new("flow", "escalate"), &acting)
            }))?;
        }
        Ok(!waiting.is_empty())
    }

    fn complete(&self, state: &FlowState, acting: &Acting) -> Result<bool, Error> {
        if state.flow.status() != "RUNNING" || !state.unfinished().is_empty() {
            return Ok(false);
        }
        unless_refused(self.move_flow(state.flow.id(), &MoveCall::new("flow", "complete"), acting))?;
        self.seal()?;
        Ok(true)
    }

    fn abort_open(&self, flow: &str, acting: &Acting) -> Result<(), Error> {
        for task in &self.state(flow)?.tasks {
            let id = task.task();
            if !task.has_ended() {
                unless_refused(self.change_task((flow, id), ("abort", acting), |state| {
                    make(state, Some(id), &MoveCall::new("flow", "abort-task"), acting)
                }))?;
            }
        }
        Ok(())
    }

    pub(crate) fn finish_cut_off(&self) -> Vec<ProjectPath> {
        let finish = |id: &String| {
            let state = self.unedited(id).ok()?;
            let finished = match state.flow.status() {
                "CREATED" if state.tasks.len() < state.graph.tasks.len() => self.create_missing(id),
                "ABORTED" if !state.tasks.iter().all(FlowRecord::has_ended) => {
                    self.abort_open(id, &self.acting(None))
                }
                _ => return None,
            };
            finished.ok().and_then(|()| self.flow_path(id).ok())
        };
        self.ids().iter().filter_map(finish).collect()
    }

    fn is_silent(&self, open: &Attempt) -> bool {
        let stale = i64::from(self.settings.stale_seconds.get());
        let time = |text: &str| text.parse::<jiff::Timestamp>().ok();
        let signal = self.signals().get(&open.agent).and_then(|signal| time(&signal.at));
        let last = time(&open.started_at).into_iter().chain(signal).max();
        // A sign from the far future is a wrong clock's: it counts no longer than others.
        let since = |at: jiff::Timestamp| self.workspace.now().as_second().saturating_sub(at.as_second());
        last.is_none_or(|at| since(at).saturating_abs() > stale)
    }

    /// Keeps an open attempt alive; commits nothing.
    pub fn beat(&self, (flow, task): (&str, &str), agent: Option<&str>) -> Result<FlowRecord, Error> {
        let state = self.state(flow)?;
        let end = AttemptEnd { agent: agent.map(str::to_owned), ..AttemptEnd::default() };
        // Whoever may not end it may not keep it alive.
        end_attempt(&state, task, &end, &self.acting(None))?;
        let record = state.task(task)?;
        let agent = record.open_attempt().unwrap_or_default().agent;
        let (at, current) = (self.workspace.now().to_string(), Some(record.id().to_owned()));
        let signal = Signal { agent: agent.clone(), at, current, ..Signal::default() };
        write_signal(self.workspace.root(), (super::SYSTEM, &file_stem(&agent)), &signal)
            .map_err(|source| not_alive(&agent, source))?;
        Ok(record.clone())
    }

    /// Seals the live segments, so that a clone can replay.
    pub(super) fn seal(&self) -> Result<(), Error> {
        let session = self.workspace.attribution().session.as_ref();
        self.workspace.history().seal(session)?;
        Ok(())
    }
}

/// Ignores refusals: somebody else was faster.
fn unless_refused<T>(done: Result<T, Error>) -> Result<(), Error> {
    match done {
        Err(error) if error.detail::<FlowRefusal>().is_none() => Err(error),
        _ => Ok(()),
    }
}

/// The flow is not running, or no task is ready.
fn not_ready(state: &FlowState, acting: &Acting, agent: &str) -> Error {
    let running = state.graph.tasks.first().map(|task| claim(state, &task.id, (agent, None), acting));
    match running {
        Some(Err(
            refusal @ (FlowRefusal::Status { kind: FlowKind::Flow, .. } | FlowRefusal::GraphChanged { .. }),
        )) => refusal.into(),
        _ => state.nothing_ready().into(),
    }
}

fn is_taken(error: &Error) -> bool {
    use FlowRefusal::{ScopeTaken, Status};
    matches!(error.detail(), Some(Status { kind: FlowKind::Execution, .. } | ScopeTaken { .. }))
}
