//! `stepmark flow events`: what happened, what follows from it, and what comes.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

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
