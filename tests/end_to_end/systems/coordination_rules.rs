//! `stepmark check` on the records of a coordination.

use super::coordination::{project, succeeds};
use crate::harness::{Run, Sandbox};

/// The rules that were broken, each with its file.
fn broken(run: &Run) -> Vec<String> {
    let answer = run.json("stepmark.check/1");
    let findings = answer["findings"].as_array().unwrap().iter();
    let told = |finding: &serde_json::Value| {
        let path = finding["path"].as_str().unwrap().trim_start_matches(".coordination/tasks/");
        format!("{path} {}", finding["id"].as_str().unwrap())
    };
    let mut told: Vec<_> = findings.map(told).collect();
    told.sort();
    told
}

fn edit(sandbox: &Sandbox, id: &str, from: &str, to: &str) {
    let path = format!(".coordination/tasks/{id}.md");
    let text = String::from_utf8(sandbox.read(&path)).unwrap();
    assert!(text.contains(from), "{text}");
    sandbox.write(&path, text.replace(from, to));
}

#[test]
fn records_are_held_against_each_other_in_every_check() {
    let sandbox = project();
    let check = || broken(&sandbox.stepmark(&["check", "--json"]));
    assert_eq!((check(), check()), (Vec::new(), Vec::new()));
    edit(&sandbox, "t2", "[t1]", "[t1, t3]");
    assert_eq!(check(), ["t2.md SMC01"]);
    edit(&sandbox, "t1", "dependencies: []", "dependencies: [t2]");
    assert_eq!(check(), ["t1.md SMC02", "t2.md SMC01", "t2.md SMC02"]);
    edit(&sandbox, "t1", "[t2]", "[]");
    edit(&sandbox, "t2", "[t1, t3]", "[t1]");
    edit(&sandbox, "t2", "status: available", "status: done");
    assert_eq!(check(), ["t2.md SMC04", "t2.md SMC06"]);
    edit(&sandbox, "t2", "status: done", "status: claimed");
    edit(&sandbox, "t2", "claimed_by: null", "claimed_by: w9");
    // Nobody has heard of the agent, and a note is no reason to fail.
    assert_eq!(check(), ["t2.md SMC07", "t2.md SMC08"]);
    edit(&sandbox, "t1", "priority: 2", "priority: 12");
    let staged = sandbox.stepmark(&["check", ".coordination/tasks/t1.md", "--json"]);
    assert_eq!(broken(&staged), ["t1.md SMC05"]);
}

#[test]
fn option_c_tells_what_an_orchestrator_does_not_take() {
    let sandbox = project();
    succeeds(&sandbox, &["task", "cancel", "t2"]);
    assert!(broken(&succeeds(&sandbox, &["check", "--json"])).is_empty());
    succeeds(&sandbox, &["coordination", "convert", "--to", "C"]);
    assert_eq!(broken(&succeeds(&sandbox, &["check", "--json"])), ["t2.md SMC11"]);
}
