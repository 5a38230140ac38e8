//! A look at agents that are silent, and at conflicts that nobody settles.

use serde_json::json;

use super::Asdd;
use crate::records::{ChangedRecords as _, SystemError};
use stepmark_model::{
    asdd::{reconcile, slice_move, timeouts},
    journal::{EventDraft, Kind},
    records::read_time,
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Monitored {
    pub silent: Vec<(String, u64)>,
    pub blocked: Vec<(String, String)>,
}

impl Asdd<'_> {
    /// Looks at the agents that say they work: the journal is told each time that the time of one has run
    /// out, and its slice is blocked when that happened too often. Slices that are locked for a conflict
    /// which no rule decides are blocked when their time is over.
    pub fn monitor(&self) -> Result<Monitored, SystemError> {
        let mut found = Monitored::default();
        self.end_conflicts(&self.state_to_change()?, &mut found)?;
        let (mut signals, state) = (self.signals(), self.state()?);
        for timeout in timeouts(&signals, &state, self.workspace.now(), self.settings.monitor.timeout_seconds)
        {
            let Some(signal) = signals.get_mut(&timeout.agent) else { continue };
            let told = signal.numbers.get(TOLD).copied().unwrap_or_default();
            let times = i64::try_from(timeout.times).unwrap_or(i64::MAX);
            if times > told {
                let event = EventDraft::new(Kind::of("agent-timeout"))
                    .with_command("asdd monitor")
                    .with("agent", timeout.agent.as_str())
                    .with("slice", timeout.slice.clone())
                    .with("times", timeout.times);
                self.workspace.history().append_event(event)?;
                signal.numbers.insert(TOLD.to_owned(), times);
                self.note_signal(signal)?;
            }
            let is_open = |id: &String| {
                let is_blocked = found.blocked.iter().any(|(blocked, _)| blocked == id);
                let slice = state.slice(id).filter(|_| !is_blocked);
                slice.is_some_and(|slice| slice.status() != "BLOCKED" && slice.status() != "DONE")
            };
            if timeout.times > self.settings.monitor.retries
                && let Some(slice) = timeout.slice.clone().filter(is_open)
            {
                let reason = format!("`{}` is silent since {}", timeout.agent, signal.at);
                self.block_for(&slice, "TIMEOUT", reason, &mut found)?;
            }
            found.silent.push((timeout.agent, timeout.times));
        }
        Ok(found)
    }

    /// Blocks slices whose proposals contradict each other for too long.
    fn end_conflicts(
        &self,
        state: &stepmark_model::asdd::State,
        found: &mut Monitored,
    ) -> Result<(), SystemError> {
        let steering = self.rules().steering;
        for slice in state.slices.iter().filter(|slice| slice.status() == "LOCK") {
            let since = slice.values.get("lock").and_then(|lock| read_time(lock.get("timestamp")?.as_str()?));
            let seconds = i64::try_from(self.settings.conflict_seconds).unwrap_or(i64::MAX);
            let is_over =
                since.is_none_or(|since| self.workspace.now().duration_since(since).as_secs() >= seconds);
            let pending = self.pending(&slice.id, slice.base())?;
            if let (true, Err(conflicts)) = (is_over, reconcile(&pending, &steering)) {
                let texts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
                self.block_for(&slice.id, "CONFLICT", texts.join("; "), found)?;
            }
        }
        Ok(())
    }

    fn block_for(
        &self,
        id: &str,
        kind: &str,
        reason: String,
        found: &mut Monitored,
    ) -> Result<(), SystemError> {
        let blocker = json!({"kind": kind, "to": "tech_lead", "text": reason, "timestamp": self.now()});
        let made = slice_move("block").with("reason", &*reason).with("blocker", blocker);
        self.make(id, "asdd-block", &made)?;
        found.blocked.push((id.to_owned(), reason));
        Ok(())
    }
}

const TOLD: &str = "timeouts_told";
