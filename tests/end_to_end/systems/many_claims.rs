//! Many processes that claim tasks at once: each task has one holder, and the file says what the records say.

use std::{collections::BTreeSet, process::Stdio};

use serde_json::{Value, json};

use super::coordination::{succeeds, tasks};
use crate::harness::Sandbox;

/// How many processes claim at once.
const AGENTS: usize = 24;

/// How many rounds of claims there are.
const ROUNDS: usize = 3;

#[test]
fn each_task_is_claimed_once() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", format!("coordination: {{claims_per_agent: {ROUNDS}}}\n"));
    let list: Vec<Value> = (0..AGENTS * ROUNDS)
        .map(|number| json!({"id": format!("t{number:03}"), "description": "D", "status": "available"}))
        .collect();
    sandbox.write("old/tasks.json", json!({"tasks": list}).to_string());
    succeeds(&sandbox, &["import", "coordination", "old"]);
    let mut claimed = Vec::new();
    for _ in 0..ROUNDS {
        let claims: Vec<_> = (0..AGENTS)
            .map(|number| {
                let agent = format!("w{number}");
                let mut command = sandbox.command(&["task", "claim", "--agent", &agent, "--json"]);
                command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for claim in claims {
            let output = claim.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            claimed.push(answer["task"]["id"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), AGENTS * ROUNDS, "{claimed:?}");
    let records = sandbox.reads_only(&["task", "list", "--json"]).json("stepmark.tasks/1");
    assert_eq!(records["tasks"], Value::from(tasks(&sandbox)), "the file is as fresh as the records");
    assert!(tasks(&sandbox).iter().all(|task| task["status"] == "claimed"));
}
