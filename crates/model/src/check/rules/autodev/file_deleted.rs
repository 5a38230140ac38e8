//! SMD13: the state file is deleted.

use super::super::argument;
use crate::autodev::keeps_state;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMD13",
    name: "autodev-file-deleted",
    group: Group::Autodev,
    severity: Severity::Error,
    summary: "The state file of autodev is deleted.",
    why: "It is updated in place and never deleted: without it the next session scans the folder, and \
          sub-step, retries and cycle are gone.",
    bad: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    good: "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n  phase: 4\n  name: architecture-review-risk-assessment\n  detail: \"\"\nretry_count: 0\ncycle: 1\n",
    fix: "Bring it back with `git restore --source=HEAD --staged --worktree PATH`. Where the flow is done, \
          it says `step: done` and stays.",
    decision: Decision::WhenDeleted(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let path = subject.artifact.path();
    if !keeps_state(path) {
        return;
    }
    let help = format!(
        "bring it back: `git restore --source=HEAD --staged --worktree -- {}`",
        argument(path.as_str())
    );
    let message = "the state file of autodev is deleted, and with it where the work is";
    found.push(subject.finding(&RULE, Span::at(0), message).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::{
        artifact::{Artifact, ProjectPath},
        check::{Subject, deletion_findings},
    };

    #[test]
    fn only_the_state_file_is_never_deleted() {
        for (path, expected) in
            [("_docs/_autodev_state.md", 1), ("state/_autodev_state.md", 1), ("docs/prd.md", 0)]
        {
            let artifact = Artifact::read(ProjectPath::new(path).unwrap(), RULE.bad.into());
            let found = deletion_findings(&Subject::alone(&artifact));
            assert_eq!(found.iter().filter(|finding| finding.rule == &RULE).count(), expected, "{path}");
        }
    }
}
