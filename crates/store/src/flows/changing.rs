//! Changes of records, each under the lock of its flow.

use std::cell::RefCell;

use super::{FlowError, FlowRecordsError, Flows, records::read};
use crate::changes::RecordDecision;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    flows::{Acting, FlowKind, FlowRecord, FlowRefusal, FlowState, RecordChange, accept},
    journal::{EventDraft, Kind, WorkContext},
};

impl Flows<'_> {
    pub fn acting(&self, reason: Option<&str>) -> Acting {
        Acting {
            actor: self.workspace.attribution().actor.to_string(),
            now: self.workspace.now().to_string(),
            reason: reason.map(str::to_owned),
        }
    }

    pub(super) fn accept_record(&self, path: &ProjectPath, acting: &Acting) -> Result<(), FlowError> {
        self.change(std::slice::from_ref(path), ("accept", acting), |found| {
            let [Some(found)] = found else { return Ok(None) };
            let kind = kind_of(found)?;
            let before = read(found, kind)?;
            let change = accept(&before, kind, acting)?;
            let edits = RecordDecision::Edit(before.edits_to(&change.record));
            Ok(Some((change, vec![edits])))
        })?;
        Ok(())
    }

    pub(super) fn change_task(
        &self,
        (flow, task): (&str, &str),
        (command, acting): (&str, &Acting),
        mut decide: impl FnMut(&FlowState) -> Result<RecordChange, FlowRefusal>,
    ) -> Result<FlowRecord, FlowError> {
        let paths = [self.flow_path(flow)?, self.task_path(flow, task)?];
        self.change(&paths, (command, acting), |found| {
            let [own, execution] = found else { return Ok(None) };
            let state = self.state_under_lock(flow, own.as_ref())?;
            let Some(artifact) = execution else { return Err(missing_task(flow, task)) };
            let before = read(artifact, FlowKind::Execution)?;
            let change = decide(&state)?;
            let edits = RecordDecision::Edit(before.edits_to(&change.record));
            Ok(Some((change, vec![RecordDecision::Keep, edits])))
        })
    }

    pub(super) fn change_flow(
        &self,
        flow: &str,
        (command, acting): (&str, &Acting),
        mut decide: impl FnMut(&FlowState) -> Result<RecordChange, FlowRefusal>,
    ) -> Result<FlowRecord, FlowError> {
        let paths = [self.flow_path(flow)?];
        self.change(&paths, (command, acting), |found| {
            let state = self.state_under_lock(flow, found.first().and_then(Option::as_ref))?;
            let change = decide(&state)?;
            let edits = RecordDecision::Edit(state.flow.edits_to(&change.record));
            Ok(Some((change, vec![edits])))
        })
    }

    fn change(
        &self,
        paths: &[ProjectPath],
        (command, acting): (&str, &Acting),
        mut decide: impl FnMut(
            &[Option<Artifact>],
        ) -> Result<Option<(RecordChange, Vec<RecordDecision>)>, FlowError>,
    ) -> Result<FlowRecord, FlowError> {
        let made: RefCell<Option<RecordChange>> = RefCell::new(None);
        self.workspace.change_records(
            paths,
            |_| match &*made.borrow() {
                Some(change) => self.naming_constitution(draft(change, command, acting)),
                None => EventDraft::new(Kind::CHANGE),
            },
            |found| match decide(found)? {
                Some((change, decisions)) => {
                    made.replace(Some(change));
                    Ok::<_, FlowError>(decisions)
                }
                None => Ok(vec![RecordDecision::Keep; paths.len()]),
            },
        )?;
        // A commit that ends well has decided at least once.
        let made = made.into_inner().map(|change| change.record);
        made.ok_or_else(|| FlowError::Busy { path: paths[0].clone() })
    }

    /// The state of a flow whose lock is held: its executions do not change meanwhile.
    fn state_under_lock(&self, id: &str, flow: Option<&Artifact>) -> Result<FlowState, FlowError> {
        let unknown = || FlowRecordsError::Unknown { what: "flow", id: id.to_owned() };
        Ok(self.state_of(read(flow.ok_or_else(unknown)?, FlowKind::Flow)?)?)
    }
}

pub(super) fn draft(change: &RecordChange, command: &str, acting: &Acting) -> EventDraft {
    let record = &change.record;
    let said = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let attempt = record.open_attempt().or_else(|| record.attempts().pop());
    let context = WorkContext {
        graph: said(record.text("graph")),
        flow: said(if record.is(FlowKind::Flow) { record.id() } else { record.text("flow") }),
        task: said(record.task()),
        attempt: attempt.map(|attempt| attempt.attempt_id),
        ..WorkContext::default()
    };
    let mut draft = EventDraft::new(Kind::of(change.event))
        .with_command(format!("flow {command}"))
        .with_reason(acting.reason.clone())
        .decided()
        .knowing_parts()
        .within(&context);
    if change.is_override {
        draft =
            draft.insisting(Some(acting.reason.clone().unwrap_or_else(|| "a person decided so".to_owned())));
    }
    change.facts.iter().fold(draft, |draft, (name, fact)| draft.with(name, fact.clone()))
}

fn kind_of(artifact: &Artifact) -> Result<FlowKind, FlowError> {
    match read(artifact, FlowKind::Flow) {
        Ok(_) => Ok(FlowKind::Flow),
        Err(_) => Ok(read(artifact, FlowKind::Execution).map(|_| FlowKind::Execution)?),
    }
}

fn missing_task(flow: &str, task: &str) -> FlowError {
    FlowRefusal::NoTask { flow: flow.to_owned(), task: task.to_owned() }.into()
}
