//! `Command::Complete`.

use super::delegate::{completed_ids, step_list_key, steps};
use super::step_choice::{is_completed, names, resolve};
use super::{OpenChild, Plan, Remark, Strictness, TransitionRefusal, step_choice};
use crate::artifact::{Artifact, Field, FieldKind, StepItem, StepItemKind};
use crate::workflow::{
    Content, Next, Step, StepId, StepList, StepMatch, StepRecord, Track, WorkflowDefinition,
};
use stepmark_frontmatter::{Edit, KeyPath, Segment, Value};

/// Inserts each step in order, in the spelling of its neighbours, and updates `lastStep`, `currentStep` and
/// `current_step` if they exist. Never touches `status`: finishing is a decision.
pub(super) fn plan(
    artifact: &Artifact,
    workflow: Option<&WorkflowDefinition>,
    given: &[String],
    strictness: Strictness,
) -> Result<Plan, TransitionRefusal> {
    let track = workflow.map_or(Track::Create, |workflow| workflow.chain.track());
    let key = step_list_key(artifact, track);
    let mut items: Vec<StepItem> = steps(artifact, key).map(|steps| steps.items.clone()).unwrap_or_default();
    let mut completed = completed_ids(artifact, key);
    let mut plan = Plan::default();
    let mut is_changed = false;
    if strictness != Strictness::Warn && workflow.is_none() {
        refuse_without_steps(artifact)?;
    }
    let wants_names = strictness != Strictness::Warn && wants_names(workflow, &items, given);
    if wants_names {
        items = by_name(workflow, (key, items), &mut plan)?;
    }
    for given in given {
        let given = given.trim();
        if given.is_empty() {
            return Err(TransitionRefusal::EmptyStep);
        }
        let id = StepId::parse(given);
        let (step, remark) = resolve(workflow, &id, &completed);
        if is_completed(workflow, &completed, &id, step) {
            plan.remarks.push(Remark::AlreadyCompleted { step: given.to_owned() });
            continue;
        }
        if let Some(remark) = remark {
            let is_unknown = !matches!(remark, Remark::OutOfOrder { .. });
            match strictness {
                Strictness::Refuse => return Err(TransitionRefusal::Strict(remark)),
                Strictness::Known if is_unknown => return Err(TransitionRefusal::Unknown(remark)),
                Strictness::Known | Strictness::Warn => {}
            }
            plan.remarks.push(remark);
        }
        let item = match step {
            Some(step) if items.is_empty() && (wants_names || id.is_skipped()) => Value::from(step.name()),
            _ => step_choice::item(given, step, &items),
        };
        let item = if id.is_skipped() { step_choice::skipped(item) } else { item };
        if strictness != Strictness::Warn && !step_choice::is_alike(&like_read(&item), &items) {
            return Err(TransitionRefusal::OtherSpelling { step: given.to_owned(), key: key.to_owned() });
        }
        let (index, path) = (place(workflow, &completed, &id), KeyPath::key(key));
        let is_end = index == items.len();
        items.insert(index, like_read(&item));
        completed.insert(index, id);
        plan.edits.push(if is_end {
            Edit::Append { path, item }
        } else {
            Edit::Insert { path, index, item }
        });
        is_changed = true;
    }
    if is_changed {
        follow(artifact, workflow, &completed, &items, &mut plan);
    }
    Ok(plan)
}

/// A list is not started without a workflow.
fn refuse_without_steps(artifact: &Artifact) -> Result<(), TransitionRefusal> {
    let has_status = artifact.state().status.is_some() || artifact.state().body_status.is_some();
    // A missing frontmatter is reported first.
    let is_plain = !has_status && !artifact.has_state_region();
    if StepList::from(artifact) == StepList::Absent && !is_plain {
        return Err(TransitionRefusal::NoSteps { has_status });
    }
    Ok(())
}

/// Keeps the order of the workflow; the end if the list is unordered.
fn place(workflow: Option<&WorkflowDefinition>, completed: &[StepId], id: &StepId) -> usize {
    let end = completed.len();
    let Some(workflow) = workflow else { return end };
    let is_ordered = |completed: &[StepId]| {
        let record = StepRecord { completed, last_step: None, content: Content::Present };
        workflow.progress(&record).out_of_order.is_empty()
    };
    let with = |at: usize| [&completed[..at], std::slice::from_ref(id), &completed[at..]].concat();
    if is_ordered(&with(end)) || !is_ordered(completed) {
        return end;
    }
    (0..end).rev().find(|at| is_ordered(&with(*at))).unwrap_or(end)
}

/// `02b` and skipped steps have no number of their own.
fn wants_names(workflow: Option<&WorkflowDefinition>, items: &[StepItem], given: &[String]) -> bool {
    let Some(workflow) = workflow else { return false };
    let is_whole = |step: &Step| {
        step.id.number().is_some_and(|number| number.letter.is_none() && number.minor.is_none())
    };
    let has_no_number = |given: &String| {
        let id = StepId::parse(given.trim());
        matches!(workflow.chain.find(&id), StepMatch::Step { step, .. } if id.is_skipped() || !is_whole(step))
    };
    let are_numbers = match items {
        [] => given.iter().any(|given| given.trim().parse::<u16>().is_ok()),
        _ => step_choice::are_integers(items),
    };
    are_numbers && given.iter().any(has_no_number)
}

fn by_name(
    workflow: Option<&WorkflowDefinition>,
    (key, items): (&'static str, Vec<StepItem>),
    plan: &mut Plan,
) -> Result<Vec<StepItem>, TransitionRefusal> {
    let mut named = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let found = workflow.map(|workflow| workflow.chain.find(&StepId::parse(&item.spelling)));
        let Some(StepMatch::Step { step, .. }) = found else {
            return Err(TransitionRefusal::OtherSpelling {
                step: item.spelling.clone(),
                key: key.to_owned(),
            });
        };
        let value = Value::from(step.name());
        named.push(like_read(&value));
        let path = KeyPath(vec![Segment::Key(key.to_owned()), Segment::Index(place)]);
        plan.edits.push(Edit::Set { path, value });
    }
    if !items.is_empty() {
        plan.remarks.push(Remark::StepsByName { key: key.to_owned() });
    }
    Ok(named)
}

/// As read back, for the next item of the same command.
pub(super) fn like_read(item: &Value) -> StepItem {
    let (spelling, kind) = match item {
        Value::Integer(value) => (value.to_string(), StepItemKind::Scalar(FieldKind::Integer)),
        Value::String(text) => (text.clone(), StepItemKind::Scalar(FieldKind::Text)),
        Value::Mapping(_) => (String::new(), StepItemKind::Map),
        _ => (String::new(), StepItemKind::Other),
    };
    StepItem { spelling, kind, span: stepmark_frontmatter::Span::default() }
}

/// `lastStep` is the last completed step, `currentStep` the next one, if any.
pub(super) fn follow(
    artifact: &Artifact,
    workflow: Option<&WorkflowDefinition>,
    completed: &[StepId],
    items: &[StepItem],
    plan: &mut Plan,
) {
    let Some(last) = completed.iter().rfind(|id| !id.is_resume()).or(completed.last()) else { return };
    let step = workflow.and_then(|workflow| match workflow.chain.find(last) {
        StepMatch::Step { step, .. } => Some(step),
        _ => None,
    });
    let last = (last.spelling(), step);
    let mut set = |field: &Field, (given, step): (&str, Option<&Step>)| match step_choice::field(
        field, given, step, items,
    ) {
        Some(value) if value == field.value() => {}
        Some(value) => plan.edits.push(Edit::Set { path: KeyPath::key(&*field.key), value }),
        None => plan.remarks.push(Remark::KeyLeft { key: field.key.clone() }),
    };
    if let Some(field) = &artifact.state().last_step {
        set(field, last);
    }
    let record = StepRecord { completed, last_step: None, content: Content::Present };
    let next = workflow.and_then(|workflow| match workflow.progress(&record).next {
        Next::Step { step, .. } => Some(step),
        _ => None,
    });
    let current = next.map_or(last, |step| (step.name(), Some(step)));
    for field in &artifact.state().current_step {
        set(field, current);
    }
}

/// Removes every item of the `given` steps, and updates `lastStep`, `currentStep` and `current_step`. Later
/// steps are kept: a person knows which are affected.
pub(super) fn reopen_plan(
    artifact: &Artifact,
    workflow: Option<&WorkflowDefinition>,
    given: &[String],
) -> Result<Plan, TransitionRefusal> {
    if let Err(error) = artifact.state_value() {
        return Err(TransitionRefusal::NoState { reason: error.to_string() });
    }
    let track = workflow.map_or(Track::Create, |workflow| workflow.chain.track());
    let key = step_list_key(artifact, track);
    let mut items: Vec<StepItem> = steps(artifact, key).map(|steps| steps.items.clone()).unwrap_or_default();
    let mut completed = completed_ids(artifact, key);
    let mut plan = Plan::default();
    for given in given {
        let id = StepId::parse(given.trim());
        let (step, remark) = resolve(workflow, &id, &completed);
        if let Some(remark @ Remark::OtherName { .. }) = &remark
            && completed.iter().all(|done| done.form() != id.form())
        {
            return Err(TransitionRefusal::Unknown(remark.clone()));
        }
        let chain = workflow.map(|workflow| &workflow.chain);
        let stays: Vec<bool> = completed.iter().map(|done| !names(chain, done, &id, step)).collect();
        let named = (0..stays.len()).filter(|at| !stays[*at]);
        // Backwards, so that indices stay valid.
        let edits = named.rev().map(|at| Edit::Remove { path: KeyPath::key(key).item(at) });
        let before = plan.edits.len();
        plan.edits.extend(edits);
        if plan.edits.len() == before {
            if let Some(remark @ Remark::UnknownStep { .. }) = remark {
                return Err(TransitionRefusal::Unknown(remark));
            }
            if workflow.is_none() && id.number().is_none() {
                return Err(TransitionRefusal::NotThere { what: format!("a completed step `{given}`") });
            }
            plan.remarks.push(Remark::NotCompleted { step: given.clone() });
        }
        let (mut of_items, mut of_completed) = (stays.iter(), stays.iter());
        items.retain(|_| of_items.next().is_none_or(|stays| *stays));
        completed.retain(|_| of_completed.next().is_none_or(|stays| *stays));
    }
    if plan.edits.is_empty() {
        return Ok(plan);
    }
    plan.remarks.extend(given.iter().filter_map(|given| later_steps(workflow, &completed, given)));
    if completed.iter().all(StepId::is_resume) {
        reset(artifact, &mut plan);
    } else {
        follow(artifact, workflow, &completed, &items, &mut plan);
    }
    Ok(plan)
}

/// A numeric `lastStep` becomes 0, as in templates; other keys have no such value.
fn reset(artifact: &Artifact, plan: &mut Plan) {
    for field in artifact.state().last_step.iter().chain(&artifact.state().current_step) {
        if field.kind == FieldKind::Integer && field.text != "0" {
            plan.edits.push(Edit::Set { path: KeyPath::key(&*field.key), value: Value::Integer(0) });
        } else if field.filled().is_some_and(|text| text != "0") {
            plan.remarks.push(Remark::KeyLeft { key: field.key.clone() });
        }
    }
}

fn later_steps(workflow: Option<&WorkflowDefinition>, completed: &[StepId], given: &str) -> Option<Remark> {
    let chain = &workflow?.chain;
    let place = |id: &StepId| match chain.find(id) {
        StepMatch::Step { step, .. } => chain.steps().iter().position(|other| other.id == step.id),
        _ => None,
    };
    let reopened = place(&StepId::parse(given))?;
    let furthest = completed.iter().filter(|id| !id.is_resume()).filter_map(place).max()?;
    (furthest > reopened).then(|| Remark::LaterStepsStay {
        step: given.to_owned(),
        furthest: chain.steps()[furthest].name().to_owned(),
    })
}

/// An `insistence` is the reason to finish it although the children `open` are not finished.
pub fn finish_above(open: Vec<OpenChild>, insistence: Option<&str>) -> Result<(), TransitionRefusal> {
    if open.is_empty() || insistence.is_some() {
        return Ok(());
    }
    Err(TransitionRefusal::OpenChildren { children: open })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_children_are_listed_unless_somebody_insists() {
        let child = |path: &str, agent: Option<&str>, status: Option<&str>| OpenChild {
            path: path.to_owned(),
            agent: agent.map(str::to_owned),
            status: status.map(str::to_owned),
        };
        let open = vec![child("a.md", Some("writer"), Some("todo")), child("b.md", None, None)];
        assert_eq!(finish_above(Vec::new(), None), Ok(()));
        assert_eq!(finish_above(open.clone(), Some("the writer left")), Ok(()));
        let refused = finish_above(open, None).unwrap_err().to_string();
        assert_eq!(refused, "2 delegated pieces of work are open: `a.md` (writer: todo), `b.md`");
        let many: Vec<_> = (0..12).map(|number| child(&number.to_string(), None, None)).collect();
        assert!(finish_above(many, None).unwrap_err().to_string().ends_with("`9` and 2 more"));
    }
}
