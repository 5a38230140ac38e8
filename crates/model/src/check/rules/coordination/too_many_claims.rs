//! SMC09: an agent has more tasks than it may have.

use super::{span, task};
use crate::check::rules::argument;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::spelling::listed;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC09",
    name: "task-claims-too-many",
    group: Group::Coordination,
    severity: Severity::Warning,
    summary: "An agent has more tasks than `claims_per_agent` allows.",
    why: "While it works on one, nobody works on the others.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: claimed\nclaimed_by: worker-1\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\nclaimed_by: null\n---\n",
    fix: "`stepmark task release` gives one back.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(task), Some(facts)) = (task(subject), subject.coordination()) else { return };
    if let Some((agent, before)) = facts.held_before(task) {
        let most = facts.claims_per_agent;
        let message = format!("`{agent}` has {} already, and may have {most} at once", listed(&before));
        let help = format!("`stepmark task release {}` gives it back", argument(&task.id));
        found.push(subject.finding(&RULE, span(subject, "claimed_by"), message).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found_in, path_of};

    #[test]
    fn the_tasks_beyond_the_limit_are_told() {
        let parser = RULE.bad.replace("id: tests", "id: parser\nstepmark_order: 1");
        let tests = RULE.bad.replace("id: tests", "id: tests\nstepmark_order: 2");
        let files = [(path_of(&RULE), tests.as_str()), ("parser.md", parser.as_str())];
        let path = path_of(&RULE);
        assert_eq!(
            found_in(&RULE, &files),
            [format!("{path}:7:13 SMC09 `worker-1` has `parser` already, and may have 1 at once")]
        );
        let other = parser.replace("worker-1", "worker-2");
        assert!(found_in(&RULE, &[files[0], ("parser.md", &other)]).is_empty());
    }
}
