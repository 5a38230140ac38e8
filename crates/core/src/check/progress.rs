//! An artifact against its workflow → findings.

use super::{Finding, Severity};
use crate::{
    artifact::Artifact,
    document::Span,
    workflow::{LastStep, Progress, Step, UnknownReason},
};

/// What is wrong with the steps of `artifact` in its workflow.
pub(super) fn findings(artifact: &Artifact, progress: &Progress<'_>) -> Vec<Finding> {
    let steps = artifact.steps();
    let list = steps.map_or(Span::at(0), |steps| steps.span);
    let item = |at: usize| steps.and_then(|steps| steps.items.get(at)).map_or(list, |item| item.span);
    let spelling = |at: usize| {
        steps.and_then(|steps| steps.items.get(at)).map_or(String::new(), |item| item.spelling.clone())
    };
    let mut found = Vec::new();
    let mut push = |rule, severity, span, message: String, help: &str| {
        let help = (!help.is_empty()).then(|| help.to_owned());
        found.push(Finding { rule, severity, message, help, path: artifact.path().clone(), span });
    };
    for unknown in &progress.unknown {
        let at = unknown.item;
        match &unknown.reason {
            UnknownReason::Words | UnknownReason::OtherTrack(_) => {}
            UnknownReason::NoSuchStep => push(
                "step-unknown",
                Severity::Warning,
                item(at),
                format!("the workflow has no step `{}`", spelling(at)),
                "`stepmark show` lists its steps",
            ),
            UnknownReason::Ambiguous(steps) => push(
                "step-ambiguous",
                Severity::Warning,
                item(at),
                format!("`{}` may be any of {}", spelling(at), names(steps)),
                "write the full name of the step",
            ),
        }
    }
    for at in &progress.out_of_order {
        let message = format!("`{}` stands after a later step", spelling(*at));
        push("step-out-of-order", Severity::Warning, item(*at), message, "");
    }
    for at in &progress.duplicates {
        let is_same_text = (0..*at).any(|earlier| spelling(earlier) == spelling(*at));
        if !is_same_text {
            let message = format!("`{}` names a step that is listed already", spelling(*at));
            push("step-twice", Severity::Warning, item(*at), message, "remove one of them");
        }
    }
    if !progress.gaps.is_empty() {
        let message = format!("later steps are listed, but not {}", names(&progress.gaps));
        push("step-missing", Severity::Warning, list, message, "complete them, or note them as skipped");
    }
    for at in &progress.resume_markers {
        let message = format!("`{}` marks a resumed session; it is not progress", spelling(*at));
        push("resume-marker", Severity::Note, item(*at), message, "");
    }
    let last_step = artifact.state().last_step.as_ref();
    let place = last_step.map_or(list, |field| field.span);
    let text = last_step.map_or("", |field| field.text.as_str());
    match &progress.last_step {
        LastStep::Absent | LastStep::Agrees => {}
        LastStep::Disagrees(_) => {
            let message = format!("`lastStep: {text}` is not the last step of the list");
            push("last-step-disagrees", Severity::Warning, place, message, "the list counts");
        }
        LastStep::Unknown => {
            let message = format!("`lastStep: {text}` is no step of the workflow");
            push("last-step-unknown", Severity::Warning, place, message, "the list counts");
        }
    }
    found
}

fn names(steps: &[&Step]) -> String {
    steps.iter().map(|step| format!("`{}`", step.name())).collect::<Vec<_>>().join(", ")
}
