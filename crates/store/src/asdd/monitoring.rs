//! Finds silent agents, and conflicts that nobody settles.

use super::{Asdd, changing::draft};
use crate::{Error, records::not_written};
use crate::{
    changes::RecordDecision,
    commit::make_folders_to,
    history::History,
    records::{ChangedRecords as _, RecordSystem as _},
};
use serde_json::json;
use stepmark_model::{
    artifact::ProjectPath,
    asdd::{FoundFile, Record, SliceKind, from_files, reconcile, slice_move, timeouts},
    journal::{EventDraft, Kind},
    records::read_time,
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Monitored {
    pub silent: Vec<(String, u64)>,
    pub blocked: Vec<(String, String)>,
}

impl Asdd<'_> {
    /// Records each expired agent and blocks its slice after too many expiries. Slices locked for a conflict
    /// without a rule are blocked when their time is over.
    pub fn monitor(&self) -> Result<Monitored, Error> {
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
                self.workspace.history().append_event(event).map_err(Error::in_system)?;
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

    fn end_conflicts(&self, state: &stepmark_model::asdd::State, found: &mut Monitored) -> Result<(), Error> {
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

    fn block_for(&self, id: &str, kind: &str, reason: String, found: &mut Monitored) -> Result<(), Error> {
        let blocker = json!({"kind": kind, "to": "tech_lead", "text": reason, "timestamp": self.now()});
        let made = slice_move("block").with("reason", &*reason).with("blocker", blocker);
        self.make(id, "asdd-block", &made)?;
        found.blocked.push((id.to_owned(), reason));
        Ok(())
    }
}

const TOLD: &str = "timeouts_told";

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Rebuilt {
    pub from_history: Vec<String>,
    /// Those that files told of, and that a tech lead has to look at.
    pub from_files: Vec<String>,
}

impl Asdd<'_> {
    /// Recreates missing or unreadable slices from history, and from phase files without a slice.
    pub fn rebuild(&self) -> Result<Rebuilt, Error> {
        let mut rebuilt = Rebuilt::default();
        for (path, record) in self.lost()? {
            make_folders_to(self.workspace.root(), &path, self.workspace.commit_options().fsync)?;
            let bytes = record.to_file().map_err(|source| not_written(&path, source))?;
            self.attempt(&[path], draft("restore", "asdd rebuild"), |_| {
                Ok(((), vec![RecordDecision::Write(bytes.clone())]))
            })?;
            rebuilt.from_history.push(record.id);
        }
        let state = self.state()?;
        for slice in from_files(&self.files_of_phases()?, &state) {
            self.write_record(&slice, draft("asdd-rebuilt", "asdd rebuild"))?;
            rebuilt.from_files.push(slice.id);
        }
        self.follow();
        Ok(rebuilt)
    }

    /// Without removed slices.
    fn lost(&self) -> Result<Vec<(ProjectPath, Record)>, Error> {
        let (folder, history) = (self.path_of(SliceKind::Slice, "x")?.parent(), self.workspace.history());
        let mut lost = Vec::new();
        for known in history.ask(History::artifacts)? {
            let is_slice = known.path.parent() == folder && !known.goes_on;
            if !is_slice || self.read_record(&known.path).is_ok_and(|record| record.is_some()) {
                continue;
            }
            let Some(state) = self.workspace.last_state(&known)? else { continue };
            if let Ok(mut record) = Record::of_state(state, String::new()) {
                if known.heads.len() > 1 {
                    // After a checkout of an older version only a person knows which one counts.
                    record.set("needs_human_review", vec!["status"]);
                }
                lost.push((known.path, record));
            }
        }
        Ok(lost)
    }

    /// `specs/NAME/KEY.md`.
    fn files_of_phases(&self) -> Result<Vec<FoundFile>, Error> {
        let specs = self.settings.folder.join("specs")?;
        let mut found = Vec::new();
        for name in self.names_in(&specs)? {
            for key in ["intent", "requirements", "design", "tasks"] {
                let path = format!("{specs}/{name}/{key}.md");
                if let Some(hash) = self.hash(&path) {
                    found.push(FoundFile {
                        slice: name.clone(),
                        key: key.to_owned(),
                        path,
                        hash: hash.to_string(),
                    });
                }
            }
        }
        Ok(found)
    }
}
