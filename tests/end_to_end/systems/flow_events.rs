//! `stepmark flow events`: what happened, what follows from it, and what comes.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use insta::assert_snapshot;

use super::coordination::succeeds;
use crate::harness::Sandbox;

const GRAPH: &str = "id: release\ntasks: [{id: a}, {id: b, depends_on: [a]}, {id: c, depends_on: [b]}]\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "flows: {}\n");
    sandbox.write("graph.yaml", GRAPH);
    for words in [
        &["flow", "graph", "create", "graph.yaml"][..],
        &["--actor", "human:Ada", "flow", "create", "release", "--id", "r1"],
        &["--actor", "human:Ada", "flow", "start", "r1"],
    ] {
        succeeds(&sandbox, words);
    }
    sandbox
}

/// Each event with what follows from it.
fn told(sandbox: &Sandbox) -> Vec<String> {
    let answer = succeeds(sandbox, &["flow", "events", "r1", "--json"]).json("stepmark.flow-events/1");
    let events = answer["events"].as_array().unwrap().iter();
    let following = |event: &serde_json::Value| {
        let all = event["following"].as_array().unwrap().iter();
        let words = all.map(|one| format!(" > {} {}", one["kind"].as_str().unwrap(), one["task"]));
        format!("{}{}", event["kind"].as_str().unwrap(), words.collect::<String>())
    };
    events.map(following).filter(|line| line.contains('>')).collect()
}

#[test]
fn what_follows_from_events_is_told() {
    let sandbox = project();
    succeeds(&sandbox, &["flow", "next", "r1", "--claim", "--agent", "w1"]);
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1"]);
    succeeds(&sandbox, &["flow", "verify", "r1", "a", "--decision", "pass"]);
    succeeds(&sandbox, &["--actor", "human:Ada", "flow", "abort-task", "r1", "b"]);
    let path = "flows/r1/tasks/c.md";
    let text = String::from_utf8(sandbox.read(path)).unwrap();
    sandbox.write(path, text.replace("max_attempts: 1", "max_attempts: 2"));
    succeeds(&sandbox, &["--actor", "human:Ada", "flow", "accept", "r1"]);
    assert_eq!(
        told(&sandbox),
        [
            "flow-started > task-ready \"a\"",
            "verification-passed > task-ready \"b\"",
            "task-aborted > task-blocked \"c\"",
            "human-override > external-modification \"c\"",
        ]
    );
}

#[test]
fn events_name_the_constitution_and_tell_where_it_changed() {
    let sandbox = project();
    sandbox.write(
        ".stepmark/config.yaml",
        "project_id: p1\nproject:\n  name: Tools\n  repositories: [{name: app, path: ../app, access: rw}]\n  \
         constitution: docs/rules.md\n  documents: [docs/prd.md]\nflows: {}\n",
    );
    let show = || succeeds(&sandbox, &["flow", "show", "r1", "--json"]).json("stepmark.flow/1");
    assert_eq!(show()["project"]["constitution"]["digest"], serde_json::Value::Null);
    sandbox.write("docs/rules.md", "---\nschema_version: 2\nupdated: 2026-01-02\n---\n# Rules\n");
    succeeds(&sandbox, &["flow", "next", "r1", "--claim", "--agent", "w1"]);
    sandbox.write("docs/rules.md", "---\nschema_version: 3\n---\n# Rules\n");
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1"]);
    let told = told(&sandbox);
    assert_eq!(told[1..], ["attempt-completed > constitution-changed null"], "{told:?}");
    let shown = show();
    let constitution = &shown["project"]["constitution"];
    assert_eq!(constitution["schema_version"], "3");
    assert_eq!(constitution["digest"].as_str().map(str::len), Some(64), "{shown}");
    assert_eq!(shown["project"]["repositories"][0]["access"], "rw");
    let text = succeeds(&sandbox, &["flow", "show", "r1"]).stdout;
    assert!(text.contains("constitution  docs/rules.md  3, "), "{text}");
    let bad = "project: {repositories: [{name: a, path: b, access: all}]}\nflows: {}\n";
    sandbox.write(".stepmark/config.yaml", bad);
    let refused = sandbox.stepmark(&["flow", "show", "r1"]);
    assert!(refused.code == 4 && refused.stderr.contains("`all`"), "{refused}");
}

#[test]
fn events_are_printed_as_they_are_written() {
    let sandbox = project();
    let mut command = sandbox.command(&["flow", "events", "r1", "--follow", "--json"]);
    let mut follower = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = || -> String {
        let answer: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        answer["events"][0]["kind"].as_str().unwrap().to_owned()
    };
    while next() != "flow-started" {}
    succeeds(&sandbox, &["flow", "next", "r1", "--claim", "--agent", "w1"]);
    assert_eq!(next(), "attempt-started");
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1"]);
    assert_eq!(next(), "attempt-completed");
    follower.kill().unwrap();
    follower.wait().unwrap();
}

const DUMP: &str = r#"{"metadata": {"sequence": 1}, "payload": {"type": "task_graph_created", "graph_id": "g1", "name": "Release"}}
{"metadata": {"sequence": 2}, "payload": {"type": "task_added_to_graph", "graph_id": "g1", "task": {"id": "t1", "title": "Build"}}}
{"metadata": {"sequence": 3}, "payload": {"type": "task_added_to_graph", "graph_id": "g1", "task": {"id": "t2", "title": "Ship"}}}
{"metadata": {"sequence": 4}, "payload": {"type": "dependency_added", "graph_id": "g1", "from_task": "t1", "to_task": "t2"}}
{"metadata": {"sequence": 5}, "payload": {"type": "context_op_applied", "op": "add"}}
{"metadata": {"sequence": 6}, "payload": {"type": "task_execution_state_changed", "flow_id": "f1", "task_id": "t1", "from": "verifying", "to": "success"}}
"#;

#[test]
fn a_dump_of_hivemind_becomes_a_graph_and_is_kept() {
    let sandbox = Sandbox::empty();
    sandbox.write("dump.jsonl", DUMP);
    assert_snapshot!(sandbox.stepmark(&["import", "flow", "dump.jsonl"]), @r"
    exit 0
    ── stdout
    g1  2 tasks
    f1.t1  SUCCESS
    the events are kept in flows/graphs/g1.v1.events.jsonl
    ── stderr
    warning: left out 1 event of 6: context_op_applied (1)
    ");
    assert_eq!(sandbox.read("flows/graphs/g1.v1.events.jsonl"), DUMP.as_bytes());
    let again = sandbox.stepmark(&["import", "flow", "dump.jsonl", "--dry-run", "--json"]);
    let again = again.json("stepmark.import-flow-events/1");
    assert_eq!((&again["events"], &again["statuses"]["f1.t1"]), (&6.into(), &"SUCCESS".into()));
    succeeds(&sandbox, &["--actor", "human:Ada", "flow", "create", "g1", "--id", "r1"]);
    let why = succeeds(&sandbox, &["flow", "why", "r1", "t2"]);
    assert!(why.stdout.contains("it waits for `r1.t1`"), "{why}");
    let check = sandbox.stepmark(&["check"]);
    assert_eq!(check.code, 0, "{check}");
}
