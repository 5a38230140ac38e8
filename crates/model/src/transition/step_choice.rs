//! The step that a person means who names one in a command.

use super::Remark;
use crate::workflow::{
    Chain, Content, MatchedBy, Next, Step, StepId, StepMatch, StepRecord, WorkflowDefinition,
};

/// Finds the step that `id` means in the workflow, with a remark about completing it now.
pub(super) fn resolve<'w>(
    workflow: Option<&'w WorkflowDefinition>,
    id: &StepId,
    completed: &[StepId],
) -> (Option<&'w Step>, Option<Remark>) {
    let Some(workflow) = workflow else { return (None, None) };
    let given = || id.spelling().to_owned();
    let names = |steps: Vec<&Step>| steps.into_iter().map(|step| step.name().to_owned()).collect();
    match workflow.chain.find(id) {
        StepMatch::Step { step, by } => match other_name(&workflow.chain, id, (step, by)) {
            Some(remark) => (None, Some(remark)),
            None => (Some(step), out_of_order(workflow, id, step, completed)),
        },
        StepMatch::Number(steps) | StepMatch::Ambiguous(steps) => {
            (None, Some(Remark::AmbiguousStep { step: given(), candidates: names(steps) }))
        }
        StepMatch::None => (None, Some(unknown(workflow, id.spelling()))),
    }
}

/// The remark that the workflow has no step `given`.
pub(super) fn unknown(workflow: &WorkflowDefinition, given: &str) -> Remark {
    let near = nearest(&workflow.chain, given).map(|step| step.name().to_owned());
    Remark::UnknownStep { step: given.to_owned(), workflow: workflow.name.clone(), near }
}

/// The remark that the number and the name of `id` are not those of one step, though each may be of one.
///
/// In a list this is a step of another release, which [`Chain::find`] knows; in a command it is a mistake.
fn other_name(chain: &Chain, id: &StepId, (found, by): (&Step, MatchedBy)) -> Option<Remark> {
    let number = id.number()?;
    let is_by_name = by == MatchedBy::Slug && found.id.number() != Some(number);
    if !is_by_name && by != MatchedBy::NumberOfOtherName {
        return None;
    }
    let of_number = match chain.find(&StepId::parse(&number.to_string())) {
        StepMatch::Step { step, .. } => Some(step),
        _ => None,
    };
    let of_name = if is_by_name { Some(found) } else { nearest(chain, id.slug()?) };
    let name = |step: &Step| step.name().to_owned();
    let of_name = of_name.filter(|step| of_number.is_none_or(|other| other.id != step.id));
    Some(Remark::OtherName {
        step: id.spelling().to_owned(),
        of_number: of_number.map(name),
        of_name: of_name.map(name),
    })
}

/// The step whose name `slug` was most likely meant for.
fn nearest<'c>(chain: &'c Chain, slug: &str) -> Option<&'c Step> {
    let steps = chain.steps().iter();
    let likeness = |step: &'c Step| Some((strsim::jaro_winkler(slug, step.id.slug()?), step));
    let best = steps.filter_map(likeness).max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness > 0.8).map(|(_, step)| step)
}

fn out_of_order(
    workflow: &WorkflowDefinition,
    id: &StepId,
    step: &Step,
    completed: &[StepId],
) -> Option<Remark> {
    if id.is_resume() {
        return None;
    }
    let record = StepRecord { completed, last_step: None, content: Content::Present };
    let progress = workflow.progress(&record);
    let expected = match &progress.next {
        Next::Step { step, alternatives } => {
            [*step].into_iter().chain(alternatives.iter().copied()).collect()
        }
        Next::Choice(steps) => steps.clone(),
        Next::Finished => Vec::new(),
        Next::Unknown(_) => return None,
    };
    if expected.iter().any(|next| next.id == step.id) || progress.gaps.iter().any(|gap| gap.id == step.id) {
        return None;
    }
    let names = expected.into_iter().map(|step| step.name().to_owned()).collect();
    Some(Remark::OutOfOrder { step: id.spelling().to_owned(), expected: names })
}

/// Returns whether the list names the step already, in whatever spelling.
pub(super) fn is_completed(
    workflow: Option<&WorkflowDefinition>,
    completed: &[StepId],
    id: &StepId,
    step: Option<&Step>,
) -> bool {
    completed.iter().any(|done| names(workflow.map(|workflow| &workflow.chain), done, id, step))
}

/// Returns whether the item `done` names the same step as `id`, which means `step`.
pub(super) fn names(chain: Option<&Chain>, done: &StepId, id: &StepId, step: Option<&Step>) -> bool {
    if done.form() == id.form() && (id.number().is_some() || id.slug().is_some()) {
        return true;
    }
    match (chain, step) {
        (Some(chain), Some(step)) => {
            matches!(chain.find(done), StepMatch::Step { step: found, .. } if found.id == step.id)
        }
        _ => done.spelling() == id.spelling(),
    }
}
