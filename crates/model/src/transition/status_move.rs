//! Status moves: validation and edits.

use super::{Command, Plan, Remark, Strictness, TransitionRefusal, complete, setting};
use crate::{
    artifact::{Artifact, Field, Problem, StepsForm},
    lifecycle::{Guard, KeyUpdate, Lifecycle, MoveFacts, MoveRefusal},
    workflow::WorkflowDefinition,
};
use stepmark_frontmatter::{Edit, KeyPath, Value};
use stepmark_packs::MoveCall;

const STATUS: &str = "status";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusMove {
    pub lifecycle: String,
    pub from: Option<String>,
    pub to: Option<String>,
    pub wants_children_finished: bool,
    pub wants_human: bool,
    pub overridden: Option<MoveRefusal>,
}

/// `None`: same state. The one check for all status changes: `transition`, `set`, programs. `open_steps` are
/// those of `after`; the caller checks open children ([`StatusMove::wants_children_finished`]), and
/// `elsewhere` other guards ([`MoveFacts::elsewhere`]). An `insistence` overrides refusals.
pub fn judge_status(
    before: &Artifact,
    after: &Artifact,
    lifecycle: &Lifecycle,
    open_steps: &[String],
    elsewhere: &dyn Fn(&Guard) -> Option<String>,
    insistence: Option<&str>,
) -> Result<Option<StatusMove>, TransitionRefusal> {
    let (from, to) = (status(before), status(after));
    if from == to {
        return Ok(None);
    }
    let keys = [before, after].map(Artifact::root_keys);
    let state = || after.state_value().unwrap_or_default();
    let elsewhere = |guard: &Guard| guard.unmet_in(&state()).or_else(|| elsewhere(guard));
    let facts = MoveFacts {
        before: &keys[0],
        after: &keys[1],
        open_steps,
        open_children: &[],
        elsewhere: &elsewhere,
    };
    // Removing the status is not a state: else any state could be entered from nothing.
    let judged = lifecycle.judge_move(from, to.unwrap_or("null"), &facts);
    let ends = to.is_some_and(|word| lifecycle.is_terminal(word));
    let wants = |guard| matches!(&judged, Ok(verdict) if verdict.is_move() && verdict.wants(guard));
    let (wants_children, wants_human) = (wants(&Guard::ChildrenFinished), wants(&Guard::Human));
    let overridden = match judged {
        Ok(verdict) if !verdict.is_move() => return Ok(None),
        Ok(_) => None,
        Err(refusal) if insistence.is_some() => Some(refusal),
        Err(refusal) => return Err(refusal.into()),
    };
    Ok(Some(StatusMove {
        lifecycle: lifecycle.name().to_owned(),
        from: from.map(str::to_owned),
        to: to.map(str::to_owned),
        wants_children_finished: wants_children || ends,
        wants_human,
        overridden,
    }))
}

fn status(artifact: &Artifact) -> Option<&str> {
    artifact.state().status.as_ref().and_then(Field::filled)
}

pub(super) fn plan(
    artifact: &Artifact,
    lifecycle: Option<&Lifecycle>,
    to: &str,
) -> Result<Plan, TransitionRefusal> {
    let lifecycle = lifecycle.ok_or(TransitionRefusal::NoLifecycle)?;
    let own = status(artifact);
    let Some(target) = lifecycle.state_of(to) else {
        // Lists legal moves if the status is known.
        let refusal = lifecycle.legal_move(own, to, None).err();
        let unknown = refusal.filter(|refusal| matches!(refusal, MoveRefusal::UnknownTarget { .. }));
        return Err(unknown.unwrap_or_else(|| lifecycle.unknown_target(to, Vec::new())).into());
    };
    if let Some(status) = own
        && lifecycle.state_of(status) == Some(target)
    {
        let (status, state) = (status.to_owned(), target.name.clone());
        return Ok(Plan { edits: Vec::new(), remarks: vec![Remark::AlreadyInState { status, state }] });
    }
    let mut edits = vec![Edit::Set { path: KeyPath::key(STATUS), value: Value::from(target.name.as_str()) }];
    edits.extend(key_updates(artifact, lifecycle, &target.name));
    let open = artifact.open_boxes().filter(|_| lifecycle.is_terminal(&target.name));
    let remarks = open.map(|(open, total)| Remark::BoxesOpen { open, total }).into_iter().collect();
    Ok(Plan { edits, remarks })
}

pub(super) fn named(
    artifact: &Artifact,
    lifecycle: Option<&Lifecycle>,
    call: &MoveCall,
) -> Result<Plan, TransitionRefusal> {
    let lifecycle = lifecycle.ok_or(TransitionRefusal::NoLifecycle)?;
    // No status means not begun.
    let initial = lifecycle.states().iter().find(|state| state.is_initial).map(|state| state.name.as_str());
    let own = status(artifact).or(initial);
    let made = lifecycle.named_move(&call.name, own)?;
    let mut edits = made.edits(&artifact.state_value().unwrap_or_default(), call)?;
    let keys = artifact.root_keys();
    let to = lifecycle.target(made, own.unwrap_or_default(), |key| keys.text(key));
    if let Some(to) = to.filter(|to| own.and_then(|word| lifecycle.state_of(word)) != Some(*to)) {
        let is_written = |edit: &Edit| edits.iter().any(|own| own.path() == edit.path());
        let upkeep = key_updates(artifact, lifecycle, &to.name).into_iter().filter(|edit| !is_written(edit));
        let upkeep: Vec<Edit> = upkeep.collect();
        edits.insert(0, Edit::Set { path: KeyPath::key(STATUS), value: Value::from(to.name.as_str()) });
        edits.extend(upkeep);
    }
    Ok(Plan { edits, remarks: Vec::new() })
}

pub(super) fn upkeep_of(
    artifact: &Artifact,
    lifecycle: Option<&Lifecycle>,
    assignments: &[(KeyPath, Value)],
) -> Vec<Edit> {
    let is_status = |(path, _): &&(KeyPath, Value)| *path == KeyPath::key(STATUS);
    let (Some(lifecycle), Some((_, Value::String(to)))) = (lifecycle, assignments.iter().rfind(is_status))
    else {
        return Vec::new();
    };
    let is_assigned = |edit: &Edit| assignments.iter().any(|(path, _)| path == edit.path());
    key_updates(artifact, lifecycle, to).into_iter().filter(|edit| !is_assigned(edit)).collect()
}

fn key_updates(artifact: &Artifact, lifecycle: &Lifecycle, to: &str) -> Vec<Edit> {
    let Some(to) = lifecycle.state_of(to) else { return Vec::new() };
    let from = status(artifact).and_then(|word| lifecycle.state_of(word));
    let changes = lifecycle.key_updates(from, to, &artifact.root_keys()).into_iter();
    let edits = changes.map(|change| match change {
        KeyUpdate::Remember { key, state } => {
            Edit::Set { path: KeyPath::key(key), value: Value::String(state) }
        }
        KeyUpdate::Forget { key } => Edit::Remove { path: KeyPath::key(key) },
        KeyUpdate::Count { key, value } => Edit::Set {
            path: KeyPath::key(key),
            value: i64::try_from(value).map_or_else(|_| Value::String(value.to_string()), Value::Integer),
        },
    });
    edits.collect()
}

#[derive(Clone, Copy, Debug)]
pub struct DecisionContext<'a> {
    pub workflow: Option<&'a WorkflowDefinition>,
    pub lifecycle: Option<&'a Lifecycle>,
    pub strictness: Strictness,
}

/// Does not check the lifecycle: all status changes pass [`judge_status`](super::judge_status).
pub fn decide(
    artifact: &Artifact,
    decision_context: &DecisionContext<'_>,
    command: &Command,
) -> Result<Plan, TransitionRefusal> {
    let DecisionContext { workflow, lifecycle, strictness } = *decision_context;
    refuse_unreadable(artifact)?;
    match command {
        Command::Complete { steps } => {
            refuse_broken_list(artifact)?;
            complete::plan(artifact, workflow, steps, strictness)
        }
        Command::Move(call) => named(artifact, lifecycle, call),
        Command::Transition { to } => plan(artifact, lifecycle, to),
        Command::Reopen { steps } => {
            refuse_broken_list(artifact)?;
            complete::reopen_plan(artifact, workflow, steps)
        }
        Command::Set { assignments } => {
            setting::keeps_step_lists(artifact, assignments)?;
            let assignments = setting::settled(artifact, assignments);
            if strictness != Strictness::Warn {
                setting::knows_steps(artifact, workflow, &assignments)?;
            }
            let edit =
                |(path, value): &(KeyPath, Value)| Edit::Set { path: path.clone(), value: value.clone() };
            let mut edits: Vec<Edit> = assignments.iter().map(edit).collect();
            edits.extend(upkeep_of(artifact, lifecycle, &assignments));
            Ok(Plan { edits, remarks: Vec::new() })
        }
        Command::Items { changes } => {
            Ok(Plan { edits: setting::item_edits(artifact, changes)?, remarks: Vec::new() })
        }
        Command::Scope { scope, source } => setting::plan(artifact, scope, *source),
        Command::Track { id } => Ok(track(artifact, id)),
    }
}

/// Prefers the artifact's own `id` to `stepmark_id` (docs/design.md, "Identity").
fn track(artifact: &Artifact, id: &str) -> Plan {
    let state = artifact.state();
    let existing = [("id", &state.id), ("stepmark_id", &state.stepmark_id)]
        .into_iter()
        .find_map(|(key, field)| Some((key, field.as_ref()?.filled()?)));
    match existing {
        Some((key, id)) => {
            let remark = Remark::AlreadyTracked { key, id: id.to_owned() };
            Plan { edits: Vec::new(), remarks: vec![remark] }
        }
        None => {
            let edit = Edit::Set { path: KeyPath::key("stepmark_id"), value: Value::from(id) };
            Plan { edits: vec![edit], remarks: Vec::new() }
        }
    }
}

pub(super) fn refuse_unreadable(artifact: &Artifact) -> Result<(), TransitionRefusal> {
    let unreadable = artifact.diagnoses().iter().find_map(|diagnosis| match &diagnosis.problem {
        Problem::NotYaml { error } => Some(error.to_string()),
        Problem::NotAMapping => Some("it holds no keys".to_owned()),
        Problem::NoStateBlock { error } => Some(error.to_string()),
        Problem::FenceUnclosed => Some("the opening `---` is never closed".to_owned()),
        Problem::FrontmatterMisplaced => Some("it does not stand at the start of the file".to_owned()),
        _ => None,
    });
    unreadable.map_or(Ok(()), |reason| Err(TransitionRefusal::Unreadable { reason }))
}

fn refuse_broken_list(artifact: &Artifact) -> Result<(), TransitionRefusal> {
    let broken = artifact.state().steps.iter().find(|steps| steps.form == StepsForm::NotAList);
    broken.map_or(Ok(()), |steps| Err(TransitionRefusal::StepsNotAList { key: steps.key.to_owned() }))
}
