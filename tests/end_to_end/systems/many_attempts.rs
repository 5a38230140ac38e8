//! Many processes that work on one flow at once: each task ends once, and no attempt is lost.

use std::{collections::BTreeSet, process::Stdio};

use serde_json::Value;

use super::coordination::succeeds;
use crate::harness::Sandbox;

/// How many workers there are.
const WORKERS: usize = 8;

/// How many tasks there are; the workers take turns until all have ended.
const TASKS: usize = 40;

/// One of this many attempts fails.
const FAILS: usize = 7;

#[test]
fn each_task_succeeds_or_is_escalated_once() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "flows: {}\n");
    let task = |number: usize| format!("  - {{id: t{number}, retry: {{max_attempts: 2, escalate: true}}}}\n");
    let tasks: String = (0..TASKS).map(task).collect();
    sandbox.write("graph.yaml", format!("id: g\ntasks:\n{tasks}"));
    succeeds(&sandbox, &["flow", "graph", "create", "graph.yaml"]);
    succeeds(&sandbox, &["flow", "create", "g", "--id", "r1"]);
    succeeds(&sandbox, &["flow", "start", "r1"]);
    let (mut attempts, mut held) = (0, Vec::<String>::new());
    loop {
        // Attempts end while others are claimed.
        let ends = held.iter().enumerate().map(|(place, task)| {
            let status = if (attempts + place) % FAILS == 0 { "1" } else { "0" };
            strings(&["flow", "attempt", "end", task, "--exit-status", status, "--json"])
        });
        let claims = (0..WORKERS).map(|worker| {
            strings(&["flow", "next", "r1", "--claim", "--agent", &format!("w{worker}"), "--json"])
        });
        let answers = together(&sandbox, ends.chain(claims));
        let (ends, claims) = answers.split_at(held.len());
        assert!(ends.iter().all(|(is_done, _)| *is_done), "{ends:?}");
        let good = ends
            .iter()
            .filter(|(_, answer)| answer["task"]["status"] == "VERIFYING")
            .map(|(_, answer)| id(answer));
        let judged = together(
            &sandbox,
            good.map(|task| strings(&["flow", "verify", &task, "--decision", "pass", "--json"])),
        );
        assert!(judged.iter().all(|(is_done, _)| *is_done), "{judged:?}");
        let taken: Vec<String> =
            claims.iter().filter(|(is_done, _)| *is_done).map(|(_, answer)| id(answer)).collect();
        let unique: BTreeSet<&String> = taken.iter().collect();
        assert_eq!(unique.len(), taken.len(), "a task was claimed twice: {taken:?}");
        if taken.is_empty() && held.is_empty() {
            break;
        }
        attempts += taken.len();
        held = taken;
    }
    let shown = sandbox.reads_only(&["flow", "show", "r1", "--json"]).json("stepmark.flow/1");
    let records = shown["tasks"].as_array().unwrap();
    let has = |status: &str| records.iter().filter(|task| task["status"] == status).count();
    assert_eq!(has("SUCCESS") + has("ESCALATED"), TASKS, "{shown}");
    let kept: usize = records.iter().map(|task| task["attempts"].as_array().unwrap().len()).sum();
    assert_eq!(kept, attempts, "no attempt is lost");
    succeeds(&sandbox, &["flow", "replay", "r1"]);
}

fn strings(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|argument| (*argument).to_owned()).collect()
}

fn id(answer: &Value) -> String {
    answer["task"]["id"].as_str().unwrap().to_owned()
}

/// Runs commands at once, and returns of each whether it was made, and what it answered.
fn together(sandbox: &Sandbox, commands: impl Iterator<Item = Vec<String>>) -> Vec<(bool, Value)> {
    let start = |arguments: Vec<String>| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = sandbox.command(&arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = commands.map(start).collect();
    let end = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success()
                || told.contains("no task of `r1` can be claimed")
                || told.contains("is `COMPLETED`"),
            "{told}"
        );
        (output.status.success(), serde_json::from_slice(&output.stdout).unwrap_or_default())
    };
    running.into_iter().map(end).collect()
}
