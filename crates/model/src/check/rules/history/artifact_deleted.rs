//! SM907: an artifact with completed steps is deleted.

use crate::artifact::Steps;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::workflow::StepId;
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM907",
    name: "artifact-deleted",
    group: Group::History,
    severity: Severity::Warning,
    summary: "An artifact with completed steps is deleted.",
    why: "The frontmatter is the only place where that work is recorded: with the file it is gone from every view. Mostly the \
              file was meant to be moved, and git sees no move where too much else changed.",
    bad: "---\n# deleted by this commit\nstepsCompleted: [step-01-init]\n---\n",
    good: "---\nstepsCompleted: []\n---\n",
    fix: "Bring it back with `git restore --source=HEAD --staged --worktree PATH`. Move it with `git mv`, and edit it in a \
              commit of its own. If it is to go, let `stepmark remove ARTIFACT --reason TEXT` remove it: then history tells why, and \
              the change is accepted.",
    decision: Decision::WhenDeleted(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let lists = &subject.artifact.state().steps;
    let is_progress = |spelling: &&str| !spelling.is_empty() && !StepId::parse(spelling).is_resume();
    let count = lists.iter().flat_map(Steps::spellings).filter(is_progress).count();
    if count == 0 {
        return;
    }
    let place = lists.first().map_or(Span::at(0), |list| list.span);
    let steps = if count == 1 { "1 completed step".to_owned() } else { format!("{count} completed steps") };
    let path = super::argument(subject.artifact.path().as_str());
    found.push(subject.finding(&RULE, place, format!("this artifact is deleted, and with it {steps}")).with_help(
        format!(
            "bring it back: `git restore --source=HEAD --staged --worktree -- {path}`; if it is to go, bring it back and run `stepmark remove {path}`"
        ),
    ));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::{
        artifact::{Artifact, ProjectPath},
        check::{Subject, deletion_findings},
    };

    #[test]
    fn only_work_that_was_done_is_missed() {
        for (text, expected) in [
            ("stepsCompleted: [1, 2]", Some("this artifact is deleted, and with it 2 completed steps")),
            ("validationStepsCompleted: [1]", Some("this artifact is deleted, and with it 1 completed step")),
            ("stepsCompleted: []", None),
            ("stepsCompleted: [step-01b-continue]", None),
            ("status: done", None),
        ] {
            let path = ProjectPath::new("prd.md").unwrap();
            let artifact = Artifact::read(path, format!("---\n{text}\n---\n").into_bytes());
            let found = deletion_findings(&Subject::alone(&artifact));
            assert_eq!(found.first().map(|finding| finding.message.as_str()), expected, "{text}");
            assert!(found.iter().all(|finding| finding.rule == &RULE));
        }
    }
}
