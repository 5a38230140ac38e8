//! SM305: the status says that the work is finished, and the steps do not.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{delegation::Completion, workflow::WorkState};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM305",
    name: "status-ahead-of-steps",
    group: Group::Status,
    severity: Severity::Warning,
    summary: "The status says that the work is finished, and the list of steps or the boxes of the text do not.",
    why: "One of them is wrong. Whoever reads the status goes on with work that is not there; whoever reads the steps begins \
          again.",
    bad: "---\nworkflowType: prd\nstepsCompleted: [1, 2]\nstatus: complete\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: [1, 2]\nstatus: draft\n---\n",
    fix: "Complete the steps that are done (`stepmark complete`), tick the boxes, or set the status back.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    if let Some((open, total)) = subject.artifact.open_boxes()
        && let Some(status) = &subject.artifact.state().status
        && Completion::of(subject.artifact, None).by_status
        // Without a lifecycle `complete` says that the text is written, as BMAD's planning documents do.
        && (subject.lifecycle().is_some() || !status.text.eq_ignore_ascii_case("complete"))
    {
        let message = format!("the status is `{}`, but {open} of {total} boxes are open", status.text);
        let help = "tick what is done, take out what is not to be done, or set the status back";
        found.push(subject.finding(&RULE, status.span, message).with_help(help));
    }
    let Some(progress) = subject.progress().filter(|progress| progress.state != WorkState::Finished) else {
        return;
    };
    // Where a lifecycle has a subject, the status is that of a step.
    if subject.lifecycle().is_some_and(|lifecycle| !lifecycle.subject().is_empty()) {
        return;
    }
    let Some(status) = &subject.artifact.state().status else { return };
    // Numbers in a file that is only called like a workflow's may count other steps.
    let is_guess = subject.is_bound_by_file_name();
    if is_guess || !Completion::of(subject.artifact, None).by_status || progress.total == 0 {
        return;
    }
    let message = format!(
        "the status is `{}`, but {} of {} steps are done",
        status.text, progress.done_units, progress.total
    );
    found.push(
        subject.finding(&RULE, status.span, message).with_help("complete the steps, or set the status back"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn finished_work_has_all_its_steps() {
        let prd = |steps: &str, status: &str| {
            format!("---\nworkflowType: prd\nstepsCompleted: {steps}\nstatus: {status}\n---\n")
        };
        assert_eq!(
            found(&RULE, &prd("[1, 2]", "Done")),
            ["4:9 SM305 the status is `Done`, but 2 of 14 steps are done"]
        );
        assert!(found(&RULE, &prd("[1, 2]", "in-progress")).is_empty());
        assert!(found(&RULE, &prd("[1, 2, 02b, 02c, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]", "done")).is_empty());
        assert!(found(&RULE, "---\nstepsCompleted: [1]\nstatus: done\n---\n").is_empty(), "no workflow");
        let boxes = |status: &str| format!("---\nstatus: {status}\n---\n- [x] a\n- [~] b\n1. [] c\n");
        assert_eq!(
            found(&RULE, &boxes("done")),
            ["2:9 SM305 the status is `done`, but 2 of 3 boxes are open"]
        );
        assert!(found(&RULE, &boxes("review")).is_empty());
    }
}
