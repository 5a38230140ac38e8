//! The event log of a flow: its events, the check that they explain the records, and a person's decision if
//! not.

use super::checkpoints;
use super::records::{no_flow_record, unknown};
use std::sync::PoisonError;
use stepmark_model::spelling::argument;

use super::{Flows, creating::bytes_of, files::FlowFiles, records::read};
use crate::{
    Error, ErrorKind, changes::RecordDecision, history::Point, replay::Replayed, repository::CheckedOut,
};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    flows::{Acting, FlowKind, FlowRecord, FlowRefusal, FlowState},
    journal::{ArtifactKey, Event, EventDraft, EventId, HistoryState, Kind},
};

#[derive(Clone, Debug)]
pub struct FlowEvent {
    pub path: ProjectPath,
    pub event: Event,
}

impl Flows<'_> {
    /// The events of a flow, its graph and its executions: causes first, then by time. In the same
    /// millisecond: the graph, the flow's creation, its executions, then the flow's other events.
    pub fn events(&self, flow: &str) -> Result<Vec<FlowEvent>, Error> {
        let mut found = Vec::new();
        let of_flow = self.flow_path(flow)?;
        for path in self.paths(flow)? {
            let key = self.key_of(&path)?;
            let lineage = self.workspace.history().ask(|history| history.lineage(&key, &path))?;
            let mut latest = jiff::Timestamp::MIN;
            for event in lineage.events() {
                // Clocks differ: an effect never precedes its cause.
                latest = latest.max(event.at);
                let follows = path == of_flow && event.n > 1;
                found.push(((latest, follows), FlowEvent { path: path.clone(), event: event.clone() }));
            }
        }
        found.sort_by_key(|(order, _)| *order);
        Ok(found.into_iter().map(|(_, told)| told).collect())
    }

    pub fn replay(&self, flow: &str) -> Result<Vec<Replayed>, Error> {
        let mut checked_out = self.workspace.repository().checked_out();
        let paths = self.paths(flow)?;
        paths.iter().map(|path| self.replay_record(path, &mut checked_out)).collect()
    }

    /// Nothing explains a missing record: no command removes one.
    fn replay_record(&self, path: &ProjectPath, checked_out: &mut CheckedOut) -> Result<Replayed, Error> {
        let history = self.workspace.history();
        let mut replayed = history.replay(path, checked_out)?;
        let heads = || history.ask(|history| history.heads(&replayed.key, path));
        if self.workspace.read_file(path).is_err_and(|error| error.is_missing())
            && let Some(head) = heads()?.last()
        {
            replayed.state = HistoryState::Unexplained { head: head.id };
        }
        Ok(replayed)
    }

    pub fn state_at(&self, flow: &str, event: &str) -> Result<FlowState, Error> {
        let event = self.workspace.history().ask(|history| history.event(event))?.id;
        let now = self.state(flow)?;
        let unknown = || unknown("flow", flow);
        let then = self.record_at(&self.flow_path(flow)?, FlowKind::Flow, event)?.ok_or_else(unknown)?;
        let mut tasks = Vec::new();
        for task in &now.graph.tasks {
            tasks.extend(self.record_at(&self.task_path(flow, &task.id)?, FlowKind::Execution, event)?);
        }
        Ok(FlowState { flow: then, tasks, ..now })
    }

    /// Refuses if a record was edited outside stepmark.
    pub(super) fn unedited(&self, flow: &str) -> Result<FlowState, Error> {
        let files = match self.files(flow) {
            Ok(files) if self.is_explained(flow, &files)? => Ok(files),
            found => match self.edited(flow)? {
                edited if edited.is_empty() => found.and_then(|_| self.files(flow)),
                paths => return Err(checkpoints::edited(flow, &paths)),
            },
        }?;
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).keep(self.workspace.root());
        Ok(files.state)
    }

    /// True if each file is its record's last version in history.
    fn is_explained(&self, flow: &str, files: &FlowFiles) -> Result<bool, Error> {
        let paths = self.paths_of(flow, &files.state.flow)?;
        let known: Option<Vec<_>> = paths
            .into_iter()
            .map(|path| files.get(&path).map(|(key, digests)| (key, path, digests)))
            .collect();
        let Some(known) = known else { return Ok(false) };
        Ok(self.workspace.history().ask(|history| history.are_at_heads(&known))?.iter().all(|known| *known))
    }

    /// Records of the flow that no event explains. Takes the locks, which wait for running changes and finish
    /// interrupted ones.
    fn edited(&self, flow: &str) -> Result<Vec<ProjectPath>, Error> {
        let edited = self.unexplained(self.paths(flow)?)?;
        if edited.is_empty() {
            return Ok(edited);
        }
        let keep = |found: &[Option<Artifact>]| Ok(found.iter().map(|_| RecordDecision::Keep).collect());
        self.workspace.change_records::<Error>(&edited, |_| EventDraft::new(Kind::CHANGE), keep)?;
        self.unexplained(edited)
    }

    fn unexplained(&self, paths: Vec<ProjectPath>) -> Result<Vec<ProjectPath>, Error> {
        let mut checked_out = self.workspace.repository().checked_out();
        let mut unexplained = Vec::new();
        for path in paths {
            let replayed = self.replay_record(&path, &mut checked_out)?;
            if matches!(replayed.state, HistoryState::Unexplained { .. }) {
                unexplained.push(path);
            }
        }
        Ok(unexplained)
    }

    pub(crate) const fn folder(&self) -> &ProjectPath {
        &self.settings.folder
    }

    /// Each with its flow. Unreadable records have findings of their own.
    pub(crate) fn edited_records(&self) -> Result<Vec<(String, ProjectPath)>, Error> {
        let mut found = Vec::new();
        for flow in self.ids() {
            match self.files(&flow).ok().map(|files| self.is_explained(&flow, &files)) {
                Some(Ok(true)) => continue,
                Some(Err(error)) if error.kind() == ErrorKind::Io => return Err(error),
                _ => {}
            }
            match self.paths(&flow).and_then(|paths| self.unexplained(paths)) {
                Err(error) if error.kind() == ErrorKind::Io => return Err(error),
                edited => {
                    found.extend(edited.unwrap_or_default().into_iter().map(|path| (flow.clone(), path)))
                }
            }
        }
        Ok(found)
    }

    /// Accepts records edited outside stepmark: the edit becomes an event.
    pub fn accept(&self, flow: &str, reason: Option<&str>) -> Result<Vec<ProjectPath>, Error> {
        let acting = self.acting(reason);
        refuse_agents(&acting)?;
        let edited = self.edited(flow)?;
        self.state(flow)?.check_graph()?;
        // All or none.
        for path in &edited {
            if self.workspace.read_file(path).is_err_and(|error| error.is_missing()) {
                let message = format!("`{path}` is gone, so that it cannot be taken as it is");
                let flow = argument(flow);
                return Err(Error::refused(message)
                    .help(format!("`stepmark flow restore {flow}` brings it and all others back")));
            }
        }
        for path in &edited {
            self.accept_record(path, &acting)?;
        }
        Ok(edited)
    }

    /// Resets records edited outside stepmark to the state of their events.
    pub fn restore(&self, flow: &str, reason: Option<&str>) -> Result<Vec<ProjectPath>, Error> {
        let acting = self.acting(reason);
        refuse_agents(&acting)?;
        let edited = self.edited(flow)?;
        let mut checked_out = self.workspace.repository().checked_out();
        for path in &edited {
            let replayed = self.replay_record(path, &mut checked_out)?;
            let HistoryState::Unexplained { head } = replayed.state else { continue };
            let state = self.workspace.history().ask(|history| history.state_after(head))?;
            let wanted = FlowRecord::of_state(state).map_err(|source| no_flow_record(path, source))?;
            let draft = || {
                let draft = EventDraft::new(Kind::RESTORE).with_command("flow restore").decided();
                draft.with_reason(acting.reason.clone()).bringing_back()
            };
            self.make_folders(path)?;
            self.workspace.change_records(
                std::slice::from_ref(path),
                |_| draft(),
                |found| {
                    let [Some(found)] = found else {
                        return Ok::<_, Error>(vec![RecordDecision::Write(bytes_of(path, &wanted)?)]);
                    };
                    Ok(vec![match found.state_value() {
                        Ok(now) => {
                            let now =
                                FlowRecord::of_state(now).map_err(|source| no_flow_record(path, source))?;
                            RecordDecision::Edit(now.edits_to(&wanted))
                        }
                        Err(_) => RecordDecision::Write(bytes_of(path, &wanted)?),
                    }])
                },
            )?;
        }
        Ok(edited)
    }

    fn paths(&self, flow: &str) -> Result<Vec<ProjectPath>, Error> {
        let path = self.flow_path(flow)?;
        let unknown = || unknown("flow", flow);
        let bytes = match self.workspace.read_file(&path) {
            Err(error) if error.is_missing() => return Err(unknown()),
            bytes => bytes?,
        };
        self.paths_of(flow, &read(&Artifact::read(path, bytes), FlowKind::Flow)?)
    }

    fn paths_of(&self, flow: &str, record: &FlowRecord) -> Result<Vec<ProjectPath>, Error> {
        let mut paths = vec![
            self.graph_path(record.text("graph"), record.number("graph_version"))?,
            self.flow_path(flow)?,
        ];
        let prefix = format!("{flow}.");
        for task in record.texts("tasks") {
            paths.push(self.task_path(flow, task.strip_prefix(&prefix).unwrap_or(task))?);
        }
        Ok(paths)
    }

    fn key_of(&self, path: &ProjectPath) -> Result<ArtifactKey, Error> {
        match self.workspace.read_file(path) {
            Ok(bytes) => Ok(ArtifactKey::of(&Artifact::read(path.clone(), bytes))),
            Err(error) if error.is_missing() => Ok(ArtifactKey::of_path(path)),
            Err(error) => Err(error),
        }
    }

    fn record_at(
        &self,
        path: &ProjectPath,
        kind: FlowKind,
        event: EventId,
    ) -> Result<Option<FlowRecord>, Error> {
        let key = self.key_of(path)?;
        let history = self.workspace.history();
        let Some(found) = history.ask(|history| history.at(&key, path, &Point::Event(event)))? else {
            return Ok(None);
        };
        let state = history.ask(|history| history.state_after(found.id))?;
        let record = FlowRecord::of_state(state).ok().filter(|record| record.is(kind));
        Ok(record)
    }
}

/// A person decides on edits outside stepmark.
fn refuse_agents(acting: &Acting) -> Result<(), FlowRefusal> {
    let (action, actor, legal) = ("decide on edits by other means", acting.actor.clone(), Vec::new());
    if acting.is_human() {
        Ok(())
    } else {
        Err(FlowRefusal::NotHuman { action: action.to_owned(), actor, legal })
    }
}
