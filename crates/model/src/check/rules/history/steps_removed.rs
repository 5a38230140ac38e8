//! SM901: a completed step is not listed any more.

use super::{argument, quoted, readable_base};
use crate::artifact::{Artifact, STEPS_KEYS, StepItem, Steps};
use crate::check::{BaseVersion, Finding, Group, Loss, Rule, Severity, Subject, rule::Decision};
use crate::journal::{EventId, Lineage, changes_in_words};
use crate::workflow::{Progress, Step, StepForm, StepId, UnknownReason};
use serde_json::Value as Json;
use stepmark_frontmatter::{Span, diff};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM901",
    name: "steps-removed",
    group: Group::History,
    severity: Severity::Error,
    summary: "A completed step of the commit before is not listed any more, and history does not tell why.",
    why: "The list is what agents resume by: a step that falls out of it is done again, or later work stands on \
              nothing. It happens when an agent or an editor writes a file from an older copy, and no reader can see \
              it afterwards.",
    bad: "---\n# in the last commit: [step-01-init, step-02-discovery]\nstepsCompleted: [step-01-init]\n---\n",
    good: "---\nstepsCompleted: [step-01-init, step-02-discovery]\n---\n",
    fix: "Put the step back. If it is to be done again, put it back with `stepmark complete ARTIFACT STEP` and open it with \
              `stepmark reopen ARTIFACT STEP`: then history tells who did that and when, and the change is accepted. `stepmark undo` and `stepmark restore` are \
              accepted too. Where that was done and CI refuses the commit all the same, the commit does not hold the history: \
              `stepmark journal seal --stage` stages it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    for key in STEPS_KEYS {
        let Some(before) = list(base.artifact(), key) else { continue };
        let after = list(subject.artifact, key);
        let gone: Vec<&str> = dropped(&base, subject.progress(), before, after)
            .filter(|item| !base.accepts(Loss::Step { list: key, spelling: &item.spelling }))
            .map(|item| item.spelling.as_str())
            .collect();
        if gone.is_empty() {
            continue;
        }
        let place = after.map_or(Span::at(0), |steps| steps.span);
        let message = match gone[..] {
            [only] => {
                format!("`{only}` was completed before this change, and `{key}` does not list it any more")
            }
            _ => format!(
                "{} were completed before this change, and `{key}` does not list them any more",
                quoted(gone.iter().copied())
            ),
        };
        let steps: Vec<String> = gone.iter().map(|step| argument(step)).collect();
        let (path, steps) = (argument(subject.artifact.path().as_str()), steps.join(" "));
        found.push(subject.finding(&RULE, place, message).with_help(format!(
            "put back what is missing; if it is to be done again, put it back, then say so: `stepmark complete {path} {steps}`, `stepmark \
             reopen {path} {steps}`"
        )));
    }
}

/// The finding in an `artifact` with the state `now`, of which a merge lost the head `lost` of `lineage`.
pub fn lost_in_merge(artifact: &Artifact, now: &Json, lineage: &Lineage, lost: EventId) -> Option<Finding> {
    let lost = lineage.get(lost)?;
    let lacks = changes_in_words(&diff(&lineage.state_after(lost.id).ok()?, now));
    let message =
        format!("a merge lost what event `{}` by {} recorded; since then: {lacks}", lost.id, lost.actor);
    let help = format!(
        "put back what is missing; `stepmark log {}` shows both sides. If it is right so, the next change by \
         stepmark records it",
        argument(artifact.path().as_str())
    );
    Some(Subject::alone(artifact).finding(&RULE, Span::at(0), message).with_help(help))
}

fn list<'a>(artifact: &'a Artifact, key: &str) -> Option<&'a Steps> {
    artifact.state().steps.iter().find(|steps| steps.key == key)
}

/// The items of `before` that no item of `after` stands for. Markers of a resumed session and notes are no
/// progress.
fn dropped<'a>(
    base: &BaseVersion<'a>,
    progress: Option<&'a Progress<'_>>,
    before: &'a Steps,
    after: Option<&'a Steps>,
) -> impl Iterator<Item = &'a StepItem> {
    let after_ids: Vec<StepId> =
        after.into_iter().flat_map(|steps| steps.spellings().map(StepId::parse)).collect();
    let past_progress = base.tracked.progress();
    before.items.iter().enumerate().filter_map(move |(place, item)| {
        let id = StepId::parse(&item.spelling);
        let is_note = match &past_progress {
            Some(progress) => progress
                .unknown
                .iter()
                .any(|unknown| unknown.item == place && unknown.reason == UnknownReason::Words),
            None => false,
        };
        let is_listed = after_ids.iter().any(|other| is_same_spelling(&id, other))
            || past_progress
                .as_ref()
                .zip(progress)
                .is_some_and(|(before, after)| is_same_step(before, place, after));
        let counts = !item.spelling.is_empty() && !id.is_resume() && !is_note;
        (counts && !is_listed).then_some(item)
    })
}

/// Returns whether two spellings name one step without a look at its workflow. `3` may stand for
/// `step-03-success`, whose name is simply written out.
fn is_same_spelling(one: &StepId, other: &StepId) -> bool {
    let same_number = one.number().is_some()
        && one.number() == other.number()
        && one.track() == other.track()
        && (one.slug().is_none() || other.slug().is_none());
    same_number
        || one.form() == other.form() && *one.form() != StepForm::Words
        || one.spelling() == other.spelling()
}

/// Returns whether the item at `place` is a step of its workflow that is done after the change, however it is
/// spelled then.
fn is_same_step(before: &Progress<'_>, place: usize, after: &Progress<'_>) -> bool {
    let is_done = |step: &&Step| {
        after.done.iter().flat_map(|done| &done.steps).any(|other| other.id.form() == step.id.form())
    };
    before.done.iter().filter(|done| done.item == place).flat_map(|done| &done.steps).any(is_done)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Accepts, found_after, found_after_all};
    use super::RULE;
    use crate::check::Loss;

    #[test]
    fn a_step_that_is_gone_is_named_at_the_list() {
        for (before, after, expected) in [
            ("stepsCompleted: [1, 2, 3]", "stepsCompleted: [1, 3]", Some("2:17 SM901 `2` was")),
            ("stepsCompleted: [1, 2]", "stepsCompleted: []", Some("2:17 SM901 `1`, `2` were")),
            ("stepsCompleted: [1]", "stepsCompleted:", Some("2:15 SM901 `1` was")),
            ("stepsCompleted: [1]", "status: draft", Some("1:1 SM901 `1` was")),
            (
                "stepsCompleted:\n- step-01-init",
                "stepsCompleted: [step-02-x]",
                Some("2:17 SM901 `step-01-init`"),
            ),
            ("validationStepsCompleted: [1]", "validationStepsCompleted: []", Some("2:27 SM901 `1`")),
            // The same in other words, in another order, more of it.
            ("stepsCompleted: [1, 2]", "stepsCompleted: [2, 1, 3]", None),
            ("stepsCompleted: [1, 1]", "stepsCompleted: [1]", None),
            ("stepsCompleted: [1]", "stepsCompleted: ['01']", None),
            ("stepsCompleted: [3]", "stepsCompleted: [step-03-success]", None),
            ("stepsCompleted: [step-03-success.md]", "stepsCompleted: ['Step 3: Success']", None),
            ("stepsCompleted: [step-03-a]", "stepsCompleted: [step-03-b]", Some("2:17 SM901 `step-03-a`")),
            ("stepsCompleted: [{step: 1}]", "stepsCompleted: [1]", None),
            // No progress.
            ("stepsCompleted: [1, step-01b-continue]", "stepsCompleted: [1]", None),
            ("stepsCompleted: ['']", "stepsCompleted: []", None),
            // Broken now: other rules tell.
            ("stepsCompleted: [1]", "stepsCompleted: [1", None),
        ] {
            let found = found_after(&RULE, before, after);
            match expected {
                Some(start) => {
                    assert_eq!(found.len(), 1, "{before} → {after}: {found:?}");
                    assert!(found[0].starts_with(start), "{before} → {after}: {found:?}");
                }
                None => assert!(found.is_empty(), "{before} → {after}: {found:?}"),
            }
        }
    }

    #[test]
    fn the_workflow_knows_a_step_under_its_other_names() {
        let after = |list: &str| {
            let before = "workflowType: prd\nstepsCompleted: [step-11-complete, edit-2026-02-24]";
            found_after(&RULE, before, &format!("workflowType: prd\nstepsCompleted: {list}"))
        };
        assert!(after("[step-12-complete]").is_empty(), "renumbered, and a note is no step");
        assert_eq!(after("[step-01-init]").len(), 1);
    }

    #[test]
    fn what_history_explains_is_accepted() {
        let accepted = Accepts(&[Loss::Step { list: "stepsCompleted", spelling: "2" }]);
        let found = found_after_all(&RULE, "stepsCompleted: [1, 2, 3]", "stepsCompleted: []", &accepted);
        assert!(matches!(&found[..], [only] if only.contains("`1`, `3` were")), "{found:?}");
        assert!(
            found_after_all(&RULE, "stepsCompleted: [1, 2]", "stepsCompleted: [1]", &accepted).is_empty()
        );
    }

    #[test]
    fn the_help_is_a_command_that_can_be_typed() {
        let found =
            super::super::sample::help_after(&RULE, "stepsCompleted: ['Step 1: Init']", "stepsCompleted: []");
        assert!(found.ends_with("`stepmark reopen prd.md 'Step 1: Init'`"), "{found}");
    }
}
