//! SMC01: a task depends on one that is not there.

use super::{dependency_span, task};
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::spelling::near_words;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMC01",
    name: "task-dependency-unknown",
    group: Group::Coordination,
    severity: Severity::Error,
    summary: "A task depends on an id that no task has.",
    why: "The task is never claimed: it waits for one that nobody can do.",
    bad: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\ndependencies: [parser]\n---\n",
    good: "---\nstepmark_kind: task\nid: tests\ndescription: Test the parser\nstatus: available\ndependencies: []\n---\n",
    fix: "Name the task that is meant (`stepmark task list`), add it, or take the id out of the list.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(task), Some(facts)) = (task(subject), subject.coordination()) else { return };
    let unknown = task.dependencies().into_iter().filter(|id| facts.state.task(id).is_none());
    found.extend(unknown.map(|id| {
        let message = format!("it depends on `{id}`, and no task has that id");
        let near = near_words(id, facts.state.tasks.iter().map(|task| task.id.as_str()));
        let help = match near.first() {
            Some(near) => format!("is `{near}` meant?"),
            None => "`stepmark task list` shows all tasks".to_owned(),
        };
        subject.finding(&RULE, dependency_span(subject, id), message).with_help(help)
    }));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{found_in, helps_in};

    #[test]
    fn each_unknown_id_is_told_where_it_stands() {
        let parser = ("tasks/parser.md", "---\nstepmark_kind: task\nid: parser\n---\n");
        let tests = "---\nstepmark_kind: task\nid: tests\ndependencies: [parser, parsr, x]\n---\n";
        let files = [("tasks/tests.md", tests), parser];
        assert_eq!(
            found_in(&RULE, &files),
            [
                "tasks/tests.md:4:24 SMC01 it depends on `parsr`, and no task has that id",
                "tasks/tests.md:4:31 SMC01 it depends on `x`, and no task has that id",
            ]
        );
        assert_eq!(helps_in(&RULE, &files), ["is `parser` meant?", "`stepmark task list` shows all tasks"]);
    }
}
