//! Records of flows: graphs, flows and executions.

use super::value_span;
use crate::check::{Finding, Subject, rule::Decision};
use crate::flows::{Attempt, FlowFacts, FlowKind, FlowRecord, Graph, allows, execution_record};
use crate::lifecycle::Guard;
use std::sync::Arc;
use stepmark_frontmatter::Span;

fn record(subject: &Subject<'_>, kind: FlowKind) -> Option<FlowRecord> {
    // Fast path: most artifacts are not records.
    subject.artifact.state().kind.filter(|own| own.name == kind.name())?;
    FlowRecord::of(subject.artifact, kind).ok()
}

fn facts(subject: &Subject<'_>) -> Option<Arc<FlowFacts>> {
    subject.environment?.flows()
}

fn span(subject: &Subject<'_>, key: &str) -> Span {
    value_span(subject.artifact, &[key])
}

rules! { Flows;
    pub(crate) GRAPH_CHANGED "SMF01" "flow-graph-changed" Error Decision::OfArtifact(check_graph_changed);
    pub(crate) GRAPH_CYCLIC "SMF02" "graph-cannot-be-run" Error Decision::OfArtifact(check_graph_cyclic);
    pub(crate) EXECUTION_MISSING "SMF03" "execution-missing" Error Decision::OfArtifact(check_execution_missing);
    pub(crate) SUCCESS_UNVERIFIED "SMF04" "success-unverified" Error Decision::OfArtifact(check_success_unverified);
    pub(crate) ATTEMPT_COUNT_WRONG "SMF05" "attempt-count-wrong" Warning Decision::OfArtifact(check_attempt_count_wrong);
    pub(crate) OVER_LIMIT "SMF06" "attempts-over-limit" Warning Decision::OfArtifact(check_over_limit);
    pub(crate) LOG_DISAGREES "SMF07" "flow-log-disagrees" Error Decision::OfLaterStage;
    pub(crate) SCOPE_VIOLATION "SMF08" "scope-violation" Warning Decision::OfArtifact(check_scope_violation);
    pub(crate) TASK_OUTLIVES_FLOW "SMF09" "task-outlives-flow" Warning Decision::OfArtifact(check_task_outlives_flow);
    pub(crate) ATTEMPT_INTERRUPTED "SMF10" "attempt-interrupted" Note Decision::OfArtifact(check_attempt_interrupted);
    pub(crate) COPY_DIFFERS "SMF11" "execution-copy-differs" Warning Decision::OfArtifact(check_copy_differs);
}

fn check_graph_changed(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(flow) = record(subject, FlowKind::Flow) else { return };
    let Some(facts) = facts(subject) else { return };
    if let Some(Err(refusal)) = facts.of(&flow).map(crate::flows::FlowState::check_graph) {
        let help = format!("`stepmark flow restore {}` brings the graph back", flow.id());
        found.push(
            subject
                .finding(&GRAPH_CHANGED, span(subject, "graph_digest"), refusal.to_string())
                .with_help(help),
        );
    }
}

fn check_graph_cyclic(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(record) = record(subject, FlowKind::Graph) else { return };
    let told = match Graph::of(&record) {
        Ok(graph) => graph.check().err().map(|problem| problem.to_string()),
        Err(error) => Some(error.to_string()),
    };
    found.extend(told.map(|told| subject.finding(&GRAPH_CYCLIC, span(subject, "tasks"), told)));
}

fn check_execution_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(flow) = record(subject, FlowKind::Flow) else { return };
    let (Some(environment), Some(folder)) = (subject.environment, subject.artifact.path().parent()) else {
        return;
    };
    let prefix = format!("{}.", flow.id());
    for id in flow.texts("tasks") {
        let task = id.strip_prefix(&prefix).unwrap_or(id);
        let Ok(path) = folder.join(&format!("tasks/{task}.md")) else { continue };
        if !environment.exists(&path) {
            let message = format!("the task `{task}` has no record: `{path}` is not there");
            let help = format!(
                "`stepmark flow restore {0}` brings it back, or `stepmark flow start {0}` makes it",
                flow.id()
            );
            found.push(subject.finding(&EXECUTION_MISSING, span(subject, "tasks"), message).with_help(help));
        }
    }
}

fn check_success_unverified(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution).filter(|task| task.status() == "SUCCESS") else {
        return;
    };
    let is_overridden = task.human_actions().iter().any(|action| action.action == "override");
    if let Some(unmet) = Guard::Verified
        .unmet_in(&subject.artifact.state_value().unwrap_or_default())
        .filter(|_| !is_overridden)
    {
        found.push(subject.finding(
            &SUCCESS_UNVERIFIED,
            span(subject, "status"),
            format!("it is `SUCCESS`, and {unmet}"),
        ));
    }
}

fn check_attempt_count_wrong(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    let number = task.attempts().len() + usize::from(task.open_attempt().is_some());
    let count = task.number("attempt_count");
    if usize::try_from(count) == Ok(number) {
        return;
    }
    let message = format!("`attempt_count` is {count}, and there are {number} attempts");
    found.push(subject.finding(&ATTEMPT_COUNT_WRONG, span(subject, "attempt_count"), message));
}

fn check_over_limit(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    let (count, most) = (task.number("attempt_count"), task.number("max_attempts"));
    if count > most && task.values().contains_key("max_attempts") {
        let message = format!("it was tried {count} times, and `max_attempts` allows {most}");
        found.push(subject.finding(&OVER_LIMIT, span(subject, "attempt_count"), message));
    }
}

fn check_scope_violation(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    let scopes = task.scopes().write;
    for attempt in task.attempts().into_iter().filter(|_| !scopes.is_empty()) {
        let changed = attempt.output_summary.map(|summary| summary.files_changed).unwrap_or_default();
        for file in changed.iter().filter(|file| !allows(&scopes, file)) {
            let message = format!(
                "the attempt `{}` changed `{file}`, which the task may not write",
                attempt.attempt_id
            );
            found.push(subject.finding(&SCOPE_VIOLATION, span(subject, "attempts"), message));
        }
    }
}

fn check_task_outlives_flow(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    if task.has_ended() {
        return;
    }
    let Some(facts) = facts(subject) else { return };
    let Some(flow) = facts.of(&task).map(|state| &state.flow) else { return };
    if !["CREATED", "RUNNING", "PAUSED"].contains(&flow.status()) {
        let message = format!("it is `{}`, and its flow is `{}`", task.status(), flow.status());
        let help = format!("`stepmark flow abort {}` ends what is left of an aborted flow", flow.id());
        found.push(subject.finding(&TASK_OUTLIVES_FLOW, span(subject, "status"), message).with_help(help));
    }
    let began = |attempt: &Attempt| {
        flow.texts("paused_at").last().is_some_and(|at| *at < attempt.started_at.as_str())
    };
    if flow.status() == "PAUSED"
        && let Some(attempt) = task.open_attempt().filter(began)
    {
        let message = format!("the attempt `{}` began after `{}` was paused", attempt.attempt_id, flow.id());
        let help = format!("`stepmark flow resume {}` lets it go on", flow.id());
        found.push(subject.finding(&TASK_OUTLIVES_FLOW, span(subject, "status"), message).with_help(help));
    }
}

fn check_attempt_interrupted(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    // Later success needs no attention.
    if task.status() == "SUCCESS" {
        return;
    }
    for attempt in task.attempts() {
        if attempt.ended_at.is_some() && attempt.exit_status.is_none() {
            let message = format!("the attempt `{}` of `{}` was cut off", attempt.attempt_id, attempt.agent);
            found.push(subject.finding(&ATTEMPT_INTERRUPTED, span(subject, "attempts"), message));
        }
    }
}

fn check_copy_differs(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(task) = record(subject, FlowKind::Execution) else { return };
    let Some(facts) = facts(subject) else { return };
    let Some(definition) = facts.of(&task).and_then(|state| state.graph.task(task.task())) else { return };
    let copy = execution_record(task.text("flow"), definition);
    for key in ["depends_on", "required_scopes"] {
        let differs = match key {
            "depends_on" => copy.texts(key) != task.texts(key),
            _ => copy.scopes() != task.scopes(),
        };
        if differs {
            let message = format!("`{key}` is not what the graph says");
            found.push(subject.finding(&COPY_DIFFERS, span(subject, key), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rules::sample::{found, found_in};

    #[test]
    fn the_graph_is_the_one_of_then() {
        let graph = "---\nstepmark_kind: task-graph\nid: g@v1\ngraph: g\nversion: 1\ntasks: []\n---\n";
        let digest = crate::flows::Graph::default().digest();
        for (digest, expected) in [("0000", 1), (digest.as_str(), 0)] {
            let flow = GRAPH_CHANGED.bad().replace("'0000'", digest).replace("0000", digest);
            assert_eq!(
                found_in(&GRAPH_CHANGED, &[("g.md", graph), ("f.md", &flow)]).len(),
                expected,
                "{digest}"
            );
        }
    }

    #[test]
    fn what_cannot_be_run_is_told() {
        for (old, new, expected) in [
            ("[b]", "[b]", "8:3 SMF02 tasks wait for each other: a → b → a"),
            ("[b]", "[c]", "8:3 SMF02 the task `a` depends on `c`, which is no task of the graph"),
            ("[b]", "[]", ""),
        ] {
            assert_eq!(
                found(&GRAPH_CYCLIC, &GRAPH_CYCLIC.bad().replace(old, new)).concat(),
                expected,
                "{new}"
            );
        }
    }

    #[test]
    fn each_task_has_a_record() {
        let flow = ("flows/r1/flow.md", EXECUTION_MISSING.bad());
        assert_eq!(
            found_in(&EXECUTION_MISSING, &[flow, ("flows/r1/tasks/tests.md", "---\nid: r1.tests\n---\n")]),
            [""; 0]
        );
        assert_eq!(
            found_in(&EXECUTION_MISSING, &[flow]),
            [
                "flows/r1/flow.md:8:8 SMF03 the task `tests` has no record: `flows/r1/tasks/tests.md` is not there"
            ]
        );
    }

    #[test]
    fn success_is_judged() {
        let by_person = "human_actions: [{action: override, actor: 'human:A'}]\n---";
        let waits = SUCCESS_UNVERIFIED.bad().replace("SUCCESS", "VERIFYING");
        for (text, expected) in [
            (
                SUCCESS_UNVERIFIED.bad().to_owned(),
                "6:9 SMF04 it is `SUCCESS`, and the attempt `r1.tests.1` has no verification",
            ),
            (format!("{}{by_person}\n", SUCCESS_UNVERIFIED.bad().trim_end().trim_end_matches('-')), ""),
            (waits, ""),
        ] {
            assert_eq!(found(&SUCCESS_UNVERIFIED, &text).concat(), expected, "{text}");
        }
    }

    #[test]
    fn open_attempts_count() {
        assert_eq!(found(&ATTEMPT_COUNT_WRONG, ATTEMPT_COUNT_WRONG.good()), [""; 0]);
        let open = ATTEMPT_COUNT_WRONG
            .good()
            .replace("attempt_count: 1", "attempt_count: 2\nattempt: {attempt_id: r1.tests.2}");
        assert_eq!(found(&ATTEMPT_COUNT_WRONG, &open), [""; 0]);
        assert_eq!(
            found(&ATTEMPT_COUNT_WRONG, ATTEMPT_COUNT_WRONG.bad()),
            ["7:16 SMF05 `attempt_count` is 3, and there are 1 attempts"]
        );
    }

    #[test]
    fn the_limit_is_kept() {
        assert_eq!(
            found(&OVER_LIMIT, OVER_LIMIT.bad()),
            ["8:16 SMF06 it was tried 2 times, and `max_attempts` allows 1"]
        );
    }

    #[test]
    fn a_task_without_scopes_may_write_all() {
        let told = ["8:11 SMF08 the attempt `r1.tests.1` changed `docs/a.md`, which the task may not write"];
        assert_eq!(found(&SCOPE_VIOLATION, SCOPE_VIOLATION.bad()), told);
        assert_eq!(found(&SCOPE_VIOLATION, &SCOPE_VIOLATION.bad().replace("[src]", "[]")), [""; 0]);
    }

    #[test]
    fn nothing_begins_in_a_paused_flow() {
        for (started, expected) in [("2026-11-01T11:00:00Z", 0), ("2026-11-01T13:00:00Z", 1)] {
            let flow = "---\nstepmark_kind: task-flow\nid: r1\nstatus: PAUSED\npaused_at: ['2026-11-01T12:00:00Z']\n---\n";
            let attempts = format!("attempt: {{attempt_id: r1.tests.1, started_at: '{started}'}}\nstatus:");
            let task = TASK_OUTLIVES_FLOW.bad().replace("status:", &attempts);
            let found = found_in(&TASK_OUTLIVES_FLOW, &[("f.md", flow), ("t.md", &task)]);
            assert_eq!(found.len(), expected, "{started}: {found:?}");
        }
    }

    #[test]
    fn tasks_end_with_their_flow() {
        for (status, expected) in [("ABORTED", 1), ("RUNNING", 0), ("PAUSED", 0), ("COMPLETED", 1)] {
            let flow = format!("---\nstepmark_kind: task-flow\nid: r1\nstatus: {status}\n---\n");
            assert_eq!(
                found_in(&TASK_OUTLIVES_FLOW, &[("f.md", &flow), ("t.md", TASK_OUTLIVES_FLOW.bad())]).len(),
                expected,
                "{status}"
            );
        }
    }

    #[test]
    fn what_was_cut_off_is_told_until_it_succeeded() {
        assert_eq!(
            found(&ATTEMPT_INTERRUPTED, ATTEMPT_INTERRUPTED.bad()),
            ["7:11 SMF10 the attempt `r1.tests.1` of `` was cut off"]
        );
        assert_eq!(
            found(&ATTEMPT_INTERRUPTED, &ATTEMPT_INTERRUPTED.bad().replace("RETRY", "SUCCESS")),
            [""; 0]
        );
    }

    #[test]
    fn a_copy_says_what_the_graph_says() {
        let graph = "---\nstepmark_kind: task-graph\nid: g@v1\ngraph: g\ntasks: [{id: parse}, {id: tests, depends_on: [parse]}]\n---\n";
        let flow = "---\nstepmark_kind: task-flow\nid: r1\nstatus: RUNNING\n---\n";
        for (text, expected) in [(COPY_DIFFERS.bad(), 1), (COPY_DIFFERS.good(), 0)] {
            assert_eq!(
                found_in(&COPY_DIFFERS, &[("g.md", graph), ("f.md", flow), ("t.md", text)]).len(),
                expected
            );
        }
    }
}
