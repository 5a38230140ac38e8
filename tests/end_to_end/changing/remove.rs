//! `stepmark remove`

use serde_json::Value as Json;

use crate::harness::{Repository, Sandbox, demo::PRD};

const NOTE: &str = "docs/note.md";

/// What `undo` says of the last event of the artifact at `path`.
fn undo_says(repository: &Repository, path: &str) -> String {
    let log = repository.stepmark(&["log", path, "--json"]).json("stepmark.log/1");
    let event = log["events"][0]["id"].as_str().unwrap().to_owned();
    let run = repository.stepmark(&["undo", &event]);
    assert_eq!(run.code, 1, "{run}");
    run.stderr
}

#[test]
fn bytes_that_git_does_not_have_are_removed_by_force_only() {
    let Some(repository) = Repository::of_demo("bytes that git does not have") else { return };
    let sandbox = &repository.sandbox;
    sandbox.write(NOTE, "---\nstatus: draft\n---\n\nNever committed.\n");
    let committed = sandbox.read(PRD);
    sandbox.write(PRD, [&committed[..], b"Not committed.\n"].concat());
    for path in [NOTE, PRD] {
        let before = sandbox.read(path);
        let run = repository.stepmark(&["remove", path]);
        assert_eq!((run.code, sandbox.read(path)), (1, before), "{run}");
        let said = "neither the commit that is checked out nor the index of git has these bytes";
        assert!(run.stderr.contains(said), "{run}");
        assert!(run.stderr.contains("commit it first, or remove it with `--force`"), "{run}");
        let run = repository.stepmark(&["remove", path, "--force", "--reason", "nobody wants it"]);
        assert_eq!(run.code, 0, "{run}");
        let said = undo_says(&repository, path);
        assert!(!said.contains("git checkout") && said.contains("git did not have these bytes"), "{said}");
    }
    // What the index has alone can be brought back as well.
    sandbox.write(NOTE, "---\nstatus: draft\n---\n\nStaged.\n");
    repository.git(&["add", NOTE]);
    let run = repository.stepmark(&["remove", NOTE]);
    assert_eq!(run.code, 0, "{run}");
    assert!(undo_says(&repository, NOTE).contains("git restore"));
    repository.git(&["restore", NOTE]);
    assert!(sandbox.read(NOTE).ends_with(b"Staged.\n"));
}

#[test]
fn without_git_force_is_needed() {
    let sandbox = Sandbox::demo();
    let run = sandbox.stepmark(&["remove", PRD]);
    assert!(run.code == 1 && run.stderr.contains("--force"), "{run}");
    assert_eq!(sandbox.stepmark(&["remove", PRD, "--force"]).code, 0);
    assert!(!sandbox.place(PRD).exists());
}

#[test]
fn a_parent_is_removed_after_its_children() {
    let Some(repository) = Repository::of_demo("a parent and its children") else { return };
    let mut command =
        repository.command(&["delegate", PRD, "--to", "writer", "--task", "Write it.", "--json"]);
    let run = repository.sandbox.run(command.env_remove("STEPMARK_TEST_ID"));
    let child = run.json("stepmark.delegate/1")["path"].as_str().unwrap().to_owned();
    repository.commit("delegated");
    let run = repository.stepmark(&["remove", PRD]);
    assert!(run.code == 1 && repository.sandbox.place(PRD).exists(), "{run}");
    assert!(run.stderr.contains(&child) && run.stderr.contains("--force"), "{run}");
    assert_eq!(repository.stepmark(&["remove", PRD, "--force"]).code, 0);
    // The help of what that leaves names a command that makes the child whole in one step.
    let run = repository.stepmark(&["check", &child]);
    assert!(run.code == 1 && run.stdout.contains("SM504"), "{run}");
    assert!(run.stdout.contains(&format!("stepmark check --fix --unsafe-fixes {child}")), "{run}");
    repository.stepmark(&["check", "--fix", "--unsafe-fixes", &child]);
    let run = repository.stepmark(&["check", &child, "--json"]);
    let wrong = |finding: &Json| finding["rule"].as_str().is_some_and(|rule| rule.starts_with("SM50"));
    assert!(!run.json("stepmark.check/1")["findings"].as_array().unwrap().iter().any(wrong), "{run}");
}
