//! The files that follow the records where git moves both: checkout, stash, merge and pull, with the files
//! tracked and with them ignored.

use serde_json::{Value, json};

use crate::harness::{Repository, Run};

const TASKS: &str = ".coordination/tasks.json";

/// A repository in which coordination has begun, with two tasks and one commit; the files that follow are
/// tracked or ignored.
fn begun(test: &str, is_tracked: bool) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    if !is_tracked {
        repository.sandbox.write(".gitignore", "/.coordination/*.json\n/.coordination/results/\n");
    }
    succeeds(&repository, &["coordination", "init", "--goal", "Ship"]);
    succeeds(&repository, &["task", "add", "One", "--id", "t1"]);
    succeeds(&repository, &["task", "add", "Two", "--id", "t2"]);
    repository.commit("one");
    Some(repository)
}

fn succeeds(repository: &Repository, arguments: &[&str]) -> Run {
    let run = repository.stepmark(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run}");
    run
}

/// Nothing in the files is told as changed by another program.
fn has_no_drift(repository: &Repository, after: &str) {
    let check = repository.stepmark(&["check", "--json"]).json("stepmark.check/1");
    let findings = check["findings"].as_array().unwrap();
    let told = |finding: &&Value| ["SMP01", "SMP03"].contains(&finding["id"].as_str().unwrap());
    assert_eq!(findings.iter().find(told), None, "after {after}");
    let query = "SELECT path FROM projections WHERE state NOT IN ('current', 'behind')";
    let found = succeeds(repository, &["query", query, "--json"]).json("stepmark.query/1");
    assert_eq!(found["rows"], json!([]), "after {after}");
    let status = succeeds(repository, &["coordination", "status"]);
    assert!(status.stderr.is_empty(), "after {after}: {status}");
}

/// A command is made, complains of nothing, and leaves the files as the records.
fn goes_on(repository: &Repository, arguments: &[&str], after: &str) {
    let run = succeeds(repository, arguments);
    assert!(run.stderr.is_empty(), "after {after}: {run}");
    is_current(repository, after);
}

fn is_current(repository: &Repository, after: &str) {
    let file: Value = serde_json::from_slice(&repository.sandbox.read(TASKS)).unwrap();
    let records = succeeds(repository, &["task", "list", "--json"]).json("stepmark.tasks/1");
    assert_eq!(file["tasks"], records["tasks"], "after {after}");
    has_no_drift(repository, after);
}

fn status_of(repository: &Repository, id: &str) -> String {
    let records = succeeds(repository, &["task", "show", id, "--json"]).json("stepmark.task/1");
    records["task"]["status"].as_str().unwrap().to_owned()
}

#[test]
fn a_checkout_is_followed() {
    for is_tracked in [true, false] {
        let Some(repository) = begun("checkout and coordination", is_tracked) else { return };
        repository.git(&["branch", "other"]);
        succeeds(&repository, &["task", "claim", "t1", "--agent", "w1"]);
        succeeds(&repository, &["task", "done", "t1", "--agent", "w1"]);
        repository.commit("two");
        repository.git(&["checkout", "--quiet", "other"]);
        assert_eq!(status_of(&repository, "t1"), "available");
        has_no_drift(&repository, "checkout");
        goes_on(&repository, &["task", "claim", "t2", "--agent", "w2"], "checkout");
        repository.commit("three");
        repository.git(&["checkout", "--quiet", "main"]);
        has_no_drift(&repository, "checkout back");
        goes_on(&repository, &["task", "claim", "t2", "--agent", "w3"], "checkout back");
    }
}

#[test]
fn a_file_that_git_alone_puts_back_is_written_again() {
    let Some(repository) = begun("restored file and coordination", true) else { return };
    // More versions than are remembered.
    for number in 0..20 {
        succeeds(&repository, &["task", "add", "More", "--id", &format!("m{number}")]);
    }
    repository.commit("two");
    repository.git(&["checkout", "--quiet", "--no-overlay", "HEAD~1", "--", ".coordination"]);
    has_no_drift(&repository, "checkout of an old folder");
    goes_on(&repository, &["task", "claim", "t1", "--agent", "w1"], "checkout of an old folder");
    succeeds(&repository, &["task", "start", "t1", "--agent", "w1"]);
    repository.git(&["checkout", "--quiet", "HEAD", "--", TASKS]);
    has_no_drift(&repository, "checkout of the file");
    goes_on(&repository, &["task", "claim", "t2", "--agent", "w2"], "checkout of the file");
    let copy = repository.sandbox.read(TASKS);
    succeeds(&repository, &["task", "start", "t2", "--agent", "w2"]);
    repository.sandbox.write(TASKS, &copy);
    let told = repository.stepmark(&["coordination", "project"]);
    assert!(told.stderr.contains("`t2` was changed in a state file, and stays there so"), "{told}");
}

#[test]
fn a_stash_is_followed() {
    for is_tracked in [true, false] {
        for all in [&["stash", "--quiet"][..], &["stash", "--quiet", "--include-untracked"]] {
            let Some(repository) = begun("stash and coordination", is_tracked) else { return };
            succeeds(&repository, &["task", "claim", "t1", "--agent", "w1"]);
            repository.git(all);
            assert_eq!(status_of(&repository, "t1"), "available");
            has_no_drift(&repository, "stash");
            succeeds(&repository, &["coordination", "project"]);
            is_current(&repository, "stash");
            repository.git(&["checkout", "--quiet", "."]);
            repository.git(&["stash", "pop", "--quiet"]);
            assert_eq!(status_of(&repository, "t1"), "claimed");
            has_no_drift(&repository, "stash pop");
            goes_on(&repository, &["task", "start", "t1", "--agent", "w1"], "stash pop");
        }
    }
}

#[test]
fn a_merge_is_followed() {
    for is_tracked in [true, false] {
        let Some(repository) = begun("merge and coordination", is_tracked) else { return };
        repository.git(&["checkout", "--quiet", "-b", "other"]);
        succeeds(&repository, &["task", "claim", "t1", "--agent", "w1"]);
        repository.commit("two");
        repository.git(&["checkout", "--quiet", "main"]);
        succeeds(&repository, &["task", "claim", "t2", "--agent", "w2"]);
        repository.commit("three");
        let merged = repository.try_git(&["merge", "--quiet", "--no-edit", "other"]);
        assert_eq!(merged.code == 0, !is_tracked, "both wrote the file: {merged}");
        if is_tracked {
            let check = repository.stepmark(&["check", "--json"]).json("stepmark.check/1");
            let marked = |finding: &Value| finding["id"] == "SMP03" && finding["path"] == TASKS;
            assert!(check["findings"].as_array().unwrap().iter().any(marked), "{check}");
            let made = succeeds(&repository, &["coordination", "project"]);
            assert!(made.stderr.contains("could not be read and was made again"), "{made}");
            repository.commit("merged");
        } else {
            has_no_drift(&repository, "merge");
        }
        assert_eq!([status_of(&repository, "t1"), status_of(&repository, "t2")], ["claimed", "claimed"]);
        goes_on(&repository, &["task", "start", "t1", "--agent", "w1"], "merge");
        goes_on(&repository, &["task", "done", "t2", "--agent", "w2"], "merge");
    }
}

#[test]
fn a_merge_of_lines_that_says_what_the_records_say_is_taken() {
    let Some(repository) = begun("merged lines and coordination", true) else { return };
    repository.git(&["checkout", "--quiet", "-b", "other"]);
    succeeds(&repository, &["task", "claim", "t1", "--agent", "w1"]);
    repository.commit("two");
    repository.git(&["checkout", "--quiet", "main"]);
    succeeds(&repository, &["task", "claim", "t2", "--agent", "w2"]);
    repository.commit("three");
    // Whoever resolves it takes a side where both wrote one line.
    let merged = repository.try_git(&["merge", "--quiet", "--no-edit", "-X", "ours", "other"]);
    assert_eq!(merged.code, 0, "{merged}");
    let told = repository.stepmark(&["coordination", "project", "--json"]);
    let drift = &told.json("stepmark.coordination-files/1")["drift"];
    assert_eq!((told.code, drift), (0, &json!([])), "nobody changed anything: {told}");
    is_current(&repository, "merge of lines");
}

#[test]
fn a_pull_is_followed_in_a_clone() {
    for is_tracked in [true, false] {
        let Some(first) = begun("pull and coordination", is_tracked) else { return };
        let Some(second) = Repository::empty("clone and coordination") else { return };
        let place = first.sandbox.root().to_str().unwrap();
        let pull = |to: &Repository, from: &str| {
            to.git(&["pull", "--quiet", "--no-rebase", "--no-edit", from, "main"])
        };
        pull(&second, place);
        has_no_drift(&second, "clone");
        goes_on(&second, &["task", "claim", "t2", "--agent", "w2"], "clone");
        second.commit("of the second");
        pull(&first, second.sandbox.root().to_str().unwrap());
        assert_eq!(status_of(&first, "t2"), "claimed");
        has_no_drift(&first, "pull");
        goes_on(&first, &["task", "claim", "t1", "--agent", "w1"], "pull");
        first.commit("of the first");
        pull(&second, place);
        has_no_drift(&second, "second pull");
        goes_on(&second, &["task", "start", "t2", "--agent", "w2"], "second pull");
    }
}
