//! Records that somebody deleted, emptied or put beside the others by hand.

use std::fs;

use super::coordination::{fails, succeeds, tasks};
use crate::harness::{Repository, Sandbox};

#[test]
fn a_record_that_is_lost_is_found_and_keeps_its_id() {
    let Some(repository) = Repository::empty("lost records") else { return };
    let run = |arguments: &[&str]| repository.stepmark(&[&["--actor", "human:Ada"], arguments].concat());
    for arguments in [&["asdd", "init"][..], &["coordination", "init", "--goal", "g"]] {
        assert_eq!(run(arguments).code, 0);
    }
    repository.commit("begun");
    repository.git(&["switch", "--quiet", "-c", "feature"]);
    for arguments in [
        &["asdd", "add", "One"][..],
        &["task", "add", "x", "--id", "t1"],
        &["task", "add", "y", "--id", "t2"],
    ] {
        assert_eq!(run(arguments).code, 0);
    }
    repository.commit("records");
    assert_eq!(run(&["check"]).code, 0);
    repository.git(&["switch", "--quiet", "main"]);
    assert_eq!(run(&["check"]).code, 0, "another branch has them");
    let tip = repository.git(&["rev-parse", "feature"]);
    repository.git(&["branch", "--quiet", "-D", "feature"]);
    assert_eq!(run(&["check"]).code, 0, "a branch that is gone had them");
    repository.git(&["branch", "feature", &tip]);
    repository.git(&["switch", "--quiet", "feature"]);
    let place = |path: &str| repository.sandbox.place(path);
    fs::remove_file(place(".asdd/slices/SLICE-001.md")).unwrap();
    fs::remove_file(place(".coordination/tasks/t1.md")).unwrap();
    fs::write(place(".coordination/tasks/t2.md"), "text").unwrap();
    let checked = run(&["check", "--json"]);
    assert_eq!(checked.code, 1, "{checked}");
    for path in [".asdd/slices/SLICE-001.md", ".coordination/tasks/t1.md", ".coordination/tasks/t2.md"] {
        let found = checked.json("stepmark.check/1");
        let is_it = |finding: &&serde_json::Value| finding["path"] == path && finding["id"] == "SMP09";
        assert_eq!(
            found["findings"].as_array().unwrap().iter().filter(is_it).count(),
            1,
            "{path}: {checked}"
        );
    }
    assert!(run(&["asdd", "check"]).stdout.contains("SMP09"));
    assert!(run(&["check", ".coordination"]).stdout.contains("SMP09"));
    assert_eq!(run(&["asdd", "add", "Two"]).stdout, "SLICE-002: DISCOVERY\n");
    assert_eq!(run(&["task", "add", "again", "--id", "t1"]).code, 1);
    assert_eq!(run(&["asdd", "rebuild"]).code, 0);
    repository.git(&["restore", ".coordination/tasks"]);
    assert_eq!(run(&["check"]).code, 0);
    assert_eq!(run(&["remove", ".coordination/tasks/t1.md", "--force", "-m", "not wanted"]).code, 0);
    assert_eq!(run(&["check"]).code, 0, "a command took it away");
    assert_eq!(run(&["task", "add", "again", "--id", "t1"]).code, 1, "its id is that of a task that was");
}

#[test]
fn a_file_that_is_no_record_is_found_where_records_stand() {
    let sandbox = super::coordination::project();
    sandbox.write(".coordination/tasks/x.md", "---\nstepmark_kind: task\nid: other\n---\n");
    let checked = sandbox.stepmark(&["check"]);
    let told = ["SMP10", "tasks/other.md"].map(|text| checked.stdout.contains(text));
    assert_eq!((checked.code, told), (1, [true; 2]), "{checked}");
    fs::remove_file(sandbox.place(".coordination/tasks/x.md")).unwrap();
    succeeds(&sandbox, &["check"]);
}

#[test]
fn a_record_that_is_edited_by_hand_is_found_until_a_person_accepts_it() {
    let project = Sandbox::empty();
    let run = |arguments: &[&str]| project.stepmark(&[&["--actor", "human:Ada"], arguments].concat());
    for arguments in [&["coordination", "init", "--goal", "g"][..], &["task", "add", "x", "--id", "t1"]] {
        assert_eq!(run(arguments).code, 0);
    }
    assert_eq!(run(&["check"]).code, 0);
    let path = ".coordination/tasks/t1.md";
    let text = String::from_utf8(project.read(path)).unwrap();
    project.write(path, text.replace("description: x", "description: y"));
    let checked = run(&["check"]);
    assert!(checked.code == 1 && checked.stdout.contains("SMP11"), "{checked}");
    let claim = ["task", "claim", "t1", "--agent", "w"];
    let claimed = run(&claim);
    assert!(
        claimed.code == 1 && claimed.stderr.contains("no recorded change led to this state"),
        "{claimed}"
    );
    assert_eq!(run(&["set", path, "description=y", "--force", "--reason", "as agreed"]).code, 0);
    assert_eq!(run(&["coordination", "project"]).code, 0);
    assert_eq!(run(&["check"]).code, 0);
    assert_eq!(run(&claim).code, 0);
}

#[test]
fn set_names_no_task_that_is_not_there_and_makes_no_circle() {
    let project = Sandbox::empty();
    let run = |arguments: &[&str]| project.stepmark(&[&["--actor", "human:Ada"], arguments].concat());
    assert_eq!(run(&["coordination", "init", "--goal", "g"]).code, 0);
    assert_eq!(run(&["task", "add", "x", "--id", "a"]).code, 0);
    assert_eq!(run(&["task", "add", "y", "--id", "b", "--after", "a"]).code, 0);
    for (list, told) in [("[b]", "a → b → a"), ("[c]", "depends on `c`, which is no task")] {
        let set = run(&["set", ".coordination/tasks/a.md", &format!("dependencies={list}")]);
        assert!(set.code == 1 && set.stderr.contains(told), "{set}");
    }
    assert_eq!(run(&["check"]).code, 0);
}

#[test]
fn a_torn_record_stops_nobody_else() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "coordination: {stale_seconds: 1}\nasdd: {}\n");
    for words in [&["coordination", "init", "--goal", "g"][..], &["asdd", "init"], &["asdd", "add", "One"]] {
        succeeds(&sandbox, words);
    }
    for id in ["torn", "held", "edited", "free", "last"] {
        succeeds(&sandbox, &["task", "add", id, "--id", id]);
    }
    succeeds(&sandbox, &["task", "add", "behind", "--id", "behind", "--after", "free"]);
    succeeds(&sandbox, &["task", "claim", "held", "--agent", "silent"]);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let place = |name: &str| format!(".coordination/tasks/{name}.md");
    for name in ["edited", "behind"] {
        let text = String::from_utf8(sandbox.read(&place(name))).unwrap();
        sandbox.write(&place(name), text.replace("priority: 5", "priority: 6"));
    }
    sandbox.write(&place("torn"), "---\nstepmark_kind: task\nid: to");
    sandbox.write(&place("held"), "");
    sandbox.write(".asdd/slices/SLICE-001.md", "---\nid: [");
    let claimed = succeeds(&sandbox, &["task", "claim", "--agent", "w"]);
    assert!(claimed.stdout.starts_with("free ") && claimed.stderr.contains("torn.md"), "{claimed}");
    succeeds(&sandbox, &["task", "done", "free", "--agent", "w"]);
    for id in ["torn", "held", "edited"] {
        fails(&sandbox, &["task", "claim", id, "--agent", "w"], &format!("{id}.md` is"));
    }
    let listed: Vec<_> = tasks(&sandbox).iter().map(|task| task["id"].clone()).collect();
    assert_eq!(
        listed,
        ["torn", "held", "edited", "free", "last", "behind"],
        "what is torn stays in the files"
    );
    fails(&sandbox, &["asdd", "begin", "SLICE-001", "--agent", "w"], "is no record of ASDD");
    succeeds(&sandbox, &["asdd", "add", "Two"]);
    succeeds(&sandbox, &["asdd", "rebuild"]);
    let checked = sandbox.stepmark(&["check"]);
    let found = ["SMP09", "SMP10", "SMP11"].map(|rule| checked.stdout.matches(rule).count());
    assert_eq!((checked.code, found), (1, [1, 1, 2]), "{checked}");
    sandbox.write(".coordination/coordination.md", "---\n");
    fails(&sandbox, &["coordination", "project"], "coordination.md` is no record");
}
