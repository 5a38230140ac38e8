//! Records of a coordination: tasks, agents and discoveries.

use super::value_span;
use crate::check::{Finding, Fix, Safety, Subject, rule::Decision, rules::argument};
use crate::coordination::{Format, Record, RecordKind, dependency_circle, is_done, is_held, unheld};
use crate::spelling::{listed, near_words};
use stepmark_frontmatter::{Edit, KeyPath, Span, Value, Yaml};

fn task<'s>(subject: &'s Subject<'_>) -> Option<&'s Record> {
    subject.record().filter(|record| record.kind == RecordKind::Task)
}

fn span(subject: &Subject<'_>, key: &str) -> Span {
    value_span(subject.artifact, &[key])
}

fn dependency_span(subject: &Subject<'_>, text: &str) -> Span {
    let yaml = subject.artifact.state_yaml();
    let list = yaml.as_ref().and_then(Yaml::root).and_then(|root| root.get("dependencies"));
    let item = list.and_then(|list| list.items().iter().find(|item| item.text() == Some(text)));
    item.map_or_else(|| span(subject, "dependencies"), |item| item.span)
}

rules! { Coordination;
    pub(crate) DEPENDENCY_UNKNOWN "SMC01" "task-dependency-unknown" Error Decision::OfArtifact(check_dependency_unknown);
    pub(crate) DEPENDENCY_CIRCLE "SMC02" "task-dependency-circle" Error Decision::OfArtifact(check_dependency_circle);
    pub(crate) HOLDER_WRONG "SMC03" "task-holder-wrong" Warning Decision::OfArtifact(check_holder_wrong);
    pub(crate) DONE_BEFORE_DEPENDENCIES "SMC04" "task-done-before-dependencies" Warning Decision::OfArtifact(check_done_before_dependencies);
    pub(crate) PRIORITY_WRONG "SMC05" "task-priority-wrong" Warning Decision::OfArtifact(check_priority_wrong);
    pub(crate) RESULT_MISSING "SMC06" "task-result-missing" Warning Decision::OfArtifact(check_result_missing);
    pub(crate) TASK_ORPHANED "SMC07" "task-orphaned" Note Decision::OfArtifact(check_task_orphaned);
    pub(crate) AGENT_UNKNOWN "SMC08" "coordination-agent-unknown" Warning Decision::OfArtifact(check_agent_unknown);
    pub(crate) TOO_MANY_CLAIMS "SMC09" "task-claims-too-many" Warning Decision::OfArtifact(check_too_many_claims);
    pub(crate) TIME_ORDER "SMC10" "task-times-out-of-order" Warning Decision::OfArtifact(check_time_order);
    pub(crate) NOT_FOR_ORCHESTRATORS "SMC11" "task-not-for-orchestrators" Note Decision::OfArtifact(check_not_for_orchestrators);
    pub(crate) DEPENDENCY_CANCELLED "SMC12" "task-dependency-cancelled" Note Decision::OfArtifact(check_dependency_cancelled);
}

fn check_dependency_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(task), Some(facts)) = (task(subject), subject.coordination()) else { return };
    let unknown = task.dependencies().into_iter().filter(|id| facts.state.task(id).is_none());
    found.extend(unknown.map(|id| {
        let message = format!("it depends on `{id}`, and no task has that id");
        let near = near_words(id, facts.state.tasks.iter().map(|task| task.id.as_str()));
        let help = match near.first() {
            Some(near) => format!("is `{near}` meant?"),
            None => "`stepmark task list` shows all tasks".to_owned(),
        };
        subject.finding(&DEPENDENCY_UNKNOWN, dependency_span(subject, id), message).with_help(help)
    }));
}

fn check_dependency_circle(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject).filter(|task| !task.dependencies().is_empty()) else { return };
    let Some(facts) = subject.coordination() else { return };
    let Some(circle) = dependency_circle(&task.id, &facts.state) else { return };
    let span = dependency_span(subject, circle.get(1).unwrap_or(&task.id));
    let message = format!("it waits for itself: {}", circle.join(" → "));
    found.push(
        subject
            .finding(&DEPENDENCY_CIRCLE, span, message)
            .with_help("take the wrong id out of one of the lists"),
    );
}

fn check_holder_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject) else { return };
    match task.claimed_by() {
        None if is_held(task) => {
            let message = format!("it is `{}`, and no agent has it", task.status());
            let help = "write the agent under `claimed_by`, or `status: available`";
            found.push(subject.finding(&HOLDER_WRONG, span(subject, "status"), message).with_help(help));
        }
        Some(agent) if ["available", "pending", "blocked"].contains(&task.status()) => {
            let message = format!("it is `{}`, and `{agent}` still has it", task.status());
            let edit = Edit::Set { path: KeyPath::key("claimed_by"), value: Value::Null };
            let title = format!("take `{agent}` out of `claimed_by`");
            let fix = Fix::edit(Safety::Unsafe, title, subject.artifact, &[edit]);
            let help = "take it out, or write the status that is meant";
            let finding = subject.finding(&HOLDER_WRONG, span(subject, "claimed_by"), message);
            found.push(finding.with_help(help).with_fix(fix));
        }
        _ => {}
    }
}

fn check_done_before_dependencies(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject).filter(|task| is_done(task)) else { return };
    let Some(facts) = subject.coordination() else { return };
    for id in facts.undone(task) {
        let status = facts.state.task(id).map(|task| task.status()).unwrap_or_default();
        let message = format!("it is done, and `{id}`, which it depends on, is `{status}`");
        let help = "end the other task, or take it out of the list";
        found.push(
            subject.finding(&DONE_BEFORE_DEPENDENCIES, dependency_span(subject, id), message).with_help(help),
        );
    }
}

fn check_priority_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject).filter(|task| task.has_odd_priority()) else { return };
    if let Some(priority) = task.values.get("priority") {
        let message = format!("the priority should be a whole number from 1 to 10, not `{priority}`");
        found.push(subject.finding(&PRIORITY_WRONG, span(subject, "priority"), message));
    }
}

fn check_result_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject) else { return };
    let wanted = match task.status() {
        _ if is_done(task) => "output",
        "failed" => "error",
        _ => return,
    };
    let said = task.values.get("result").and_then(|result| result.get(wanted)?.as_str());
    if said.is_none_or(str::is_empty) {
        let message = format!("it is `{}`, and `result.{wanted}` says nothing", task.status());
        found.push(subject.finding(&RESULT_MISSING, span(subject, "status"), message));
    }
}

fn check_task_orphaned(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(task), Some(facts)) = (task(subject), subject.coordination()) else { return };
    if facts.orphaned.contains(&task.id) {
        let agent = task.claimed_by().unwrap_or("nobody");
        let message = format!("`{agent}`, which has it, is silent for too long");
        let help = "the next `stepmark task claim` makes it available again";
        found.push(subject.finding(&TASK_ORPHANED, span(subject, "claimed_by"), message).with_help(help));
    }
}

fn check_agent_unknown(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(record) = subject.record() else { return };
    let key = match record.kind {
        RecordKind::Task if is_held(record) => "claimed_by",
        RecordKind::Discovery => "agent_id",
        _ => return,
    };
    let (Some(agent), Some(facts)) = (record.text(key), subject.coordination()) else { return };
    if facts.state.agent(agent).is_some() {
        return;
    }
    let near = near_words(agent, facts.state.agents.iter().map(|agent| agent.id.as_str()));
    let help = match near.first() {
        Some(near) => format!("is `{near}` meant?"),
        None => format!("`stepmark coordination register {agent}` makes its record"),
    };
    let message = format!("`{agent}` is no agent of the coordination");
    found.push(subject.finding(&AGENT_UNKNOWN, span(subject, key), message).with_help(help));
}

fn check_too_many_claims(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(task), Some(facts)) = (task(subject), subject.coordination()) else { return };
    if let Some((agent, before)) = facts.held_before(task) {
        let most = facts.claims_per_agent;
        let message = format!("`{agent}` has {} already, and may have {most} at once", listed(&before));
        let help = format!("`stepmark task release {}` gives it back", argument(&task.id));
        found.push(subject.finding(&TOO_MANY_CLAIMS, span(subject, "claimed_by"), message).with_help(help));
    }
}

const TIMES: [&str; 4] = ["created_at", "claimed_at", "started_at", "completed_at"];

fn check_time_order(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = task(subject) else { return };
    let times: Vec<_> = TIMES.iter().filter_map(|key| Some((*key, task.time(key)?))).collect();
    for pair in times.windows(2) {
        let [(earlier, before), (later, after)] = pair else { continue };
        // Some programs drop fractions of seconds.
        if after.as_second() < before.as_second() {
            let message = format!("`{later}` is before `{earlier}`");
            found.push(subject.finding(&TIME_ORDER, span(subject, later), message));
        }
    }
}

fn check_not_for_orchestrators(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let (Some(task), Some(facts)) = (task(subject), subject.coordination()) else { return };
    if facts.format != Format::OrchestratorState {
        return;
    }
    let unheld = unheld(task);
    let Some(first) = unheld.first() else { return };
    let span = span(subject, first.split_once('.').map_or(first.as_str(), |(part, _)| part));
    let message = format!("orchestrators do not take {}", listed(&unheld));
    let help = "it stands in `context.metadata.stepmark` of the state file";
    found.push(subject.finding(&NOT_FOR_ORCHESTRATORS, span, message).with_help(help));
}

fn check_dependency_cancelled(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let is_open = |status: &str| !["done", "failed", "cancelled"].contains(&status);
    let Some(task) = task(subject).filter(|task| is_open(task.status())) else { return };
    let Some(facts) = subject.coordination() else { return };
    let is_cancelled = |id: &&str| facts.state.task(id).is_some_and(|task| task.status() == "cancelled");
    found.extend(task.dependencies().into_iter().filter(is_cancelled).map(|id| {
        let message = format!("it waits for `{id}`, which was cancelled");
        let help = format!("`stepmark task cancel {}`, or take the id out of the list", task.id);
        subject.finding(&DEPENDENCY_CANCELLED, dependency_span(subject, id), message).with_help(help)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rules::sample::{fixed, found, found_in, helps_in, path_of};

    #[test]
    fn each_unknown_id_is_told_where_it_stands() {
        let parser = ("tasks/parser.md", "---\nstepmark_kind: task\nid: parser\n---\n");
        let tests = "---\nstepmark_kind: task\nid: tests\ndependencies: [parser, parsr, x]\n---\n";
        let files = [("tasks/tests.md", tests), parser];
        assert_eq!(
            found_in(&DEPENDENCY_UNKNOWN, &files),
            [
                "tasks/tests.md:4:24 SMC01 it depends on `parsr`, and no task has that id",
                "tasks/tests.md:4:31 SMC01 it depends on `x`, and no task has that id",
            ]
        );
        assert_eq!(
            helps_in(&DEPENDENCY_UNKNOWN, &files),
            ["is `parser` meant?", "`stepmark task list` shows all tasks"]
        );
    }

    #[test]
    fn all_of_the_circle_are_named_and_no_others() {
        let task =
            |id: &str, on: &str| format!("---\nstepmark_kind: task\nid: {id}\ndependencies: [{on}]\n---\n");
        let found = found_in(
            &DEPENDENCY_CIRCLE,
            &[
                ("a.md", &task("a", "c, b")),
                ("b.md", &task("b", "a")),
                ("c.md", &task("c", "")),
                ("d.md", &task("d", "a")),
            ],
        );
        assert_eq!(
            found,
            [
                "a.md:4:19 SMC02 it waits for itself: a → b → a",
                "b.md:4:16 SMC02 it waits for itself: b → a → b"
            ]
        );
    }

    #[test]
    fn who_holds_a_task_agrees_with_its_status() {
        for (status, agent, expected) in [
            ("available", "null", ""),
            ("done", "w", ""),
            ("claimed", "w", ""),
            ("odd", "w", ""),
            ("in_progress", "''", "5:9 SMC03 it is `in_progress`, and no agent has it"),
            ("pending", "w", "6:13 SMC03 it is `pending`, and `w` still has it"),
        ] {
            let text = HOLDER_WRONG.good().replace("available", status).replace("null", agent);
            assert_eq!(found(&HOLDER_WRONG, &text).concat(), expected, "{status} {agent}");
        }
        assert_eq!(fixed(&HOLDER_WRONG, HOLDER_WRONG.bad()).as_deref(), Some(HOLDER_WRONG.good()));
    }

    #[test]
    fn what_a_finished_task_depends_on_is_done() {
        for (status, expected) in [
            ("done", ""),
            ("failed", "6:16 SMC04 it is done, and `parser`, which it depends on, is `failed`"),
            ("in_progress", "6:16 SMC04 it is done, and `parser`, which it depends on, is `in_progress`"),
        ] {
            let parser = format!("---\nstepmark_kind: task\nid: parser\nstatus: {status}\n---\n");
            let found = found_in(
                &DONE_BEFORE_DEPENDENCIES,
                &[
                    (path_of(&DONE_BEFORE_DEPENDENCIES), DONE_BEFORE_DEPENDENCIES.bad()),
                    ("parser.md", &parser),
                ],
            );
            let expected: Vec<_> = Some(expected)
                .filter(|text| !text.is_empty())
                .map(|text| format!("{}:{text}", path_of(&DONE_BEFORE_DEPENDENCIES)))
                .into_iter()
                .collect();
            assert_eq!(found, expected, "{status}");
        }
    }

    #[test]
    fn a_priority_is_from_1_to_10() {
        for (priority, is_right) in [
            ("1", true),
            ("10", true),
            ("null", true),
            ("0", false),
            ("-1", false),
            ("2.5", false),
            ("high", false),
        ] {
            let text = PRIORITY_WRONG.good().replace("priority: 10", &format!("priority: {priority}"));
            assert_eq!(found(&PRIORITY_WRONG, &text).is_empty(), is_right, "{priority}");
        }
        assert_eq!(
            found(&PRIORITY_WRONG, PRIORITY_WRONG.bad()),
            ["6:11 SMC05 the priority should be a whole number from 1 to 10, not `11`"]
        );
    }

    #[test]
    fn a_task_that_has_ended_says_how() {
        let text = |status: &str, result: &str| {
            RESULT_MISSING.bad().replace("status: done\n", &format!("status: {status}\nresult: {result}\n"))
        };
        for (status, result, expected) in [
            ("done", "{output: x}", ""),
            ("available", "null", ""),
            ("failed", "{error: x}", ""),
            ("completed", "{output: ''}", "5:9 SMC06 it is `completed`, and `result.output` says nothing"),
            ("failed", "{output: x}", "5:9 SMC06 it is `failed`, and `result.error` says nothing"),
            ("done", "text", "5:9 SMC06 it is `done`, and `result.output` says nothing"),
        ] {
            assert_eq!(found(&RESULT_MISSING, &text(status, result)).concat(), expected, "{status} {result}");
        }
    }

    #[test]
    fn a_silent_agent_is_told_of() {
        assert_eq!(
            found(&TASK_ORPHANED, TASK_ORPHANED.bad()),
            ["6:13 SMC07 `worker-1`, which has it, is silent for too long"]
        );
        assert!(found(&TASK_ORPHANED, &TASK_ORPHANED.bad().replace("claimed\n", "done\n")).is_empty());
    }

    #[test]
    fn whoever_has_a_task_or_found_something_out_is_known() {
        let agent = |id: &str| format!("---\nstepmark_kind: agent\nagent: {id}\n---\n");
        let discovery = "---\nstepmark_kind: discovery\nid: d\nagent_id: ghost\n---\nText\n";
        let (known, other) = (agent("worker-1"), agent("worker-2"));
        let path = path_of(&AGENT_UNKNOWN);
        assert!(found_in(&AGENT_UNKNOWN, &[(path, AGENT_UNKNOWN.bad()), ("w.md", &known)]).is_empty());
        let files = [(path, AGENT_UNKNOWN.bad()), ("w.md", other.as_str()), ("d.md", discovery)];
        assert_eq!(
            found_in(&AGENT_UNKNOWN, &files),
            [
                format!("{path}:6:13 SMC08 `worker-1` is no agent of the coordination"),
                "d.md:4:11 SMC08 `ghost` is no agent of the coordination".to_owned(),
            ]
        );
        assert_eq!(
            helps_in(&AGENT_UNKNOWN, &files),
            ["is `worker-2` meant?", "`stepmark coordination register ghost` makes its record"]
        );
    }

    #[test]
    fn the_tasks_beyond_the_limit_are_told() {
        let parser = TOO_MANY_CLAIMS.bad().replace("id: tests", "id: parser\nstepmark_order: 1");
        let tests = TOO_MANY_CLAIMS.bad().replace("id: tests", "id: tests\nstepmark_order: 2");
        let files = [(path_of(&TOO_MANY_CLAIMS), tests.as_str()), ("parser.md", parser.as_str())];
        let path = path_of(&TOO_MANY_CLAIMS);
        assert_eq!(
            found_in(&TOO_MANY_CLAIMS, &files),
            [format!("{path}:7:13 SMC09 `worker-1` has `parser` already, and may have 1 at once")]
        );
        let other = parser.replace("worker-1", "worker-2");
        assert!(found_in(&TOO_MANY_CLAIMS, &[files[0], ("parser.md", &other)]).is_empty());
    }

    #[test]
    fn times_follow_each_other() {
        let text = "---\nstepmark_kind: task\nid: t\ncreated_at: '2026-11-24T10:00:00.7Z'\nclaimed_at: 2026-11-24T10:00:00\n\
                    started_at: later\ncompleted_at: '2026-11-24T10:59:00+01:00'\n---\n";
        assert_eq!(found(&TIME_ORDER, text), ["7:15 SMC10 `completed_at` is before `claimed_at`"]);
    }

    #[test]
    fn what_the_model_does_not_hold_is_told() {
        assert_eq!(
            found(&NOT_FOR_ORCHESTRATORS, NOT_FOR_ORCHESTRATORS.bad()),
            ["5:9 SMC11 orchestrators do not take `status`"]
        );
        let text = "---\nstepmark_kind: task\nid: t\ndescription: x\ncontext: {hints: '', mine: 1}\ngroup_id: g\n---\n";
        assert_eq!(
            found(&NOT_FOR_ORCHESTRATORS, text),
            ["6:11 SMC11 orchestrators do not take `group_id` and `context.mine`"]
        );
    }

    #[test]
    fn what_was_cancelled_is_never_done() {
        for (status, expected) in [("cancelled", 1), ("failed", 0), ("available", 0)] {
            let parser = format!("---\nstepmark_kind: task\nid: parser\nstatus: {status}\n---\n");
            let found = found_in(
                &DEPENDENCY_CANCELLED,
                &[(path_of(&DEPENDENCY_CANCELLED), DEPENDENCY_CANCELLED.bad()), ("parser.md", &parser)],
            );
            assert_eq!(found.len(), expected, "{status}: {found:?}");
        }
    }
}
