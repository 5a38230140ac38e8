//! `Command::Reopen`.

use super::{
    Plan, Remark, TransitionRefusal,
    complete::follow,
    record::{completed_ids, step_list_key, steps},
    step_choice::{names, resolve},
};
use crate::{
    artifact::{Artifact, FieldKind, StepItem},
    workflow::{StepId, StepMatch, Track, WorkflowDefinition},
};
use stepmark_frontmatter::{Edit, KeyPath, Value};

/// Takes the `given` steps out of the list, every item that names them, and brings `lastStep`, `currentStep`
/// and `current_step` along. Later steps stay: which of them the reopened one affects, a person knows.
///
/// # Errors
/// Also where the artifact has no one state: then history could not say which steps were taken out.
pub(super) fn plan(
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
        // From the end, so that the places of the others stay.
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

/// Nothing is completed any more: a numeric `lastStep` is 0, as in the templates; other keys have no word for
/// that.
fn reset(artifact: &Artifact, plan: &mut Plan) {
    for field in artifact.state().last_step.iter().chain(&artifact.state().current_step) {
        if field.kind == FieldKind::Integer && field.text != "0" {
            plan.edits.push(Edit::Set { path: KeyPath::key(&*field.key), value: Value::Integer(0) });
        } else if field.filled().is_some_and(|text| text != "0") {
            plan.remarks.push(Remark::KeyLeft { key: field.key.clone() });
        }
    }
}

/// The remark that steps behind the reopened one are still in the list.
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
