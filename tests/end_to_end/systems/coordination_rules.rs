//! `stepmark check` on the records of a coordination.

use super::coordination::{project, succeeds};
use crate::harness::{Run, Sandbox};

/// The rules of records that were broken, each with its file.
fn broken(run: &Run) -> Vec<String> {
    told(run, "SMC")
}

/// The rules of a group that were broken.
fn told(run: &Run, group: &str) -> Vec<String> {
    let answer = run.json("stepmark.check/1");
    let findings = answer["findings"].as_array().unwrap().iter();
    let findings = findings.filter(|finding| finding["id"].as_str().unwrap().starts_with(group));
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

const TASKS: &str = ".coordination/tasks.json";

#[test]
fn files_that_follow_are_held_against_the_records() {
    let sandbox = project();
    let check = || told(&sandbox.stepmark(&["check", "--json"]), "SMP");
    assert_eq!(check(), Vec::<String>::new());
    edit(&sandbox, "t1", "priority: 2", "priority: 3");
    assert_eq!(check(), [".coordination/tasks.json SMP02", "t1.md SMP11"]);
    let status = sandbox.stepmark(&["status"]);
    let told = ".coordination/tasks.json: 1 warning; `stepmark check` says what";
    assert!(status.stderr.contains(told), "{status}");
    succeeds(&sandbox, &["set", ".coordination/tasks/t1.md", "priority=3", "--force", "--reason", "agreed"]);
    succeeds(&sandbox, &["coordination", "project"]);
    assert_eq!(check(), Vec::<String>::new());
    let written = String::from_utf8(sandbox.read(TASKS)).unwrap();
    sandbox.write(TASKS, written.replace("\"available\"", "\"claimed\""));
    assert_eq!(check(), [".coordination/tasks.json SMP01", ".coordination/tasks.json SMP01"]);
    let run = sandbox.stepmark(&["check"]);
    assert!(run.stdout.contains("this file says something else of `t1` than its record"), "{run}");
    assert!(run.stdout.contains("`stepmark coordination project --overwrite t1` gives it up"), "{run}");
    sandbox.write(TASKS, "<<<<<<< ours\n{\"tasks\": []}\n");
    assert_eq!(check(), [".coordination/tasks.json SMP03"]);
    std::fs::remove_file(sandbox.place(TASKS)).unwrap();
    assert_eq!(check(), [".coordination/tasks.json SMP03"]);
    let some = sandbox.stepmark(&["check", ".coordination/tasks/t1.md", "--json"]);
    assert_eq!(self::told(&some, "SMP"), Vec::<String>::new(), "only what was named");
}
