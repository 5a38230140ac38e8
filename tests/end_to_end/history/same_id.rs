//! Several files with one id, and an id that comes later.

use std::fs;

use crate::harness::{Repository, Sandbox};

const ONE: &str = "backlog/one.md";
const OTHER: &str = "backlog/other.md";

/// A project with two tasks that have the same id.
fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(ONE, "---\nid: TASK-7\nstatus: To Do\nowner: ann\n---\n");
    sandbox.write(OTHER, "---\nid: TASK-7\nstatus: Done\nowner: bob\n---\n");
    sandbox
}

fn done(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let run = sandbox.stepmark(arguments);
    assert_eq!(run.code, 0, "{run}");
    run.stdout
}

fn text(sandbox: &Sandbox, path: &str) -> String {
    String::from_utf8(sandbox.read(path)).unwrap()
}

/// The kinds and ids of the events of `path`, the latest first.
fn events(sandbox: &Sandbox, path: &str) -> Vec<(String, String)> {
    let answer = sandbox.stepmark(&["log", path, "--json"]).json("stepmark.log/1");
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    answer["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (text(&event["kind"]), text(&event["id"])))
        .collect()
}

#[test]
fn each_file_has_its_own_history_and_the_id_is_a_finding_of_both() {
    let sandbox = project();
    let before = sandbox.read(OTHER);
    done(&sandbox, &["set", ONE, "status=Doing"]);
    assert_eq!(events(&sandbox, OTHER), [], "nothing happened to it");
    done(&sandbox, &["set", OTHER, "owner=cleo"]);
    done(&sandbox, &["set", ONE, "owner=dan"]);
    let [one, other] = [ONE, OTHER].map(|path| events(&sandbox, path));
    let kinds = |events: &[(String, String)]| events.iter().map(|event| event.0.clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&one), ["change", "change", "first-seen"]);
    assert_eq!(kinds(&other), ["change", "first-seen"]);
    done(&sandbox, &["undo", &other[0].1]);
    assert_eq!(sandbox.read(OTHER), before);
    done(&sandbox, &["replay", "--verify", "--strict"]);
    for _warm in 0..2 {
        let run = sandbox.stepmark(&["check"]);
        assert_eq!(run.code, 1, "{run}");
        for path in [ONE, OTHER] {
            assert!(run.stdout.contains(&format!("{path}:2:5")), "{run}");
        }
        assert_eq!(run.stdout.matches("SM502").count(), 2, "{run}");
    }
    let other = text(&sandbox, OTHER);
    sandbox.write(OTHER, other.replace("TASK-7", "TASK-8"));
    assert_eq!(sandbox.stepmark(&["check"]).code, 0, "the other one is alone again");
    sandbox.write(OTHER, other);
    assert_eq!(sandbox.stepmark(&["check"]).stdout.matches("SM502").count(), 2);
}

#[test]
fn a_file_that_was_moved_keeps_its_history() {
    let sandbox = project();
    fs::remove_file(sandbox.place(OTHER)).unwrap();
    done(&sandbox, &["set", ONE, "status=Doing"]);
    fs::rename(sandbox.place(ONE), sandbox.place(OTHER)).unwrap();
    assert_eq!(events(&sandbox, OTHER).len(), 2);
    done(&sandbox, &["set", OTHER, "status=Done"]);
    fs::rename(sandbox.place(OTHER), sandbox.place(ONE)).unwrap();
    done(&sandbox, &["set", ONE, "owner=dan"]);
    assert_eq!(events(&sandbox, ONE).len(), 4, "there and back again");
    // A copy begins with nothing.
    fs::copy(sandbox.place(ONE), sandbox.place("backlog/copy.md")).unwrap();
    assert_eq!(events(&sandbox, "backlog/copy.md"), []);
    done(&sandbox, &["replay", "--verify"]);
}

#[test]
fn what_happened_before_an_id_was_given_can_be_undone() {
    let sandbox = Sandbox::empty();
    sandbox.write(ONE, "---\nstatus: draft\n---\n");
    done(&sandbox, &["set", ONE, "status=review"]);
    done(&sandbox, &["track", ONE]);
    let earlier = events(&sandbox, ONE).remove(1);
    assert_eq!(earlier.0, "change");
    done(&sandbox, &["undo", &earlier.1]);
    assert!(text(&sandbox, ONE).contains("status: draft"), "{}", text(&sandbox, ONE));
}

#[test]
fn a_copy_is_found_in_the_commit_that_brings_it_and_beside_a_named_file() {
    let Some(repository) = Repository::empty("a copy") else { return };
    repository.sandbox.write("one.md", "---\nid: T-1\nstatus: draft\n---\n");
    repository.sandbox.write("ten.md", "---\nid: T-10\nstatus: draft\n---\n");
    repository.commit("one");
    fs::copy(repository.sandbox.place("one.md"), repository.sandbox.place("copy.md")).unwrap();
    repository.git(&["add", "--all"]);
    for arguments in
        [&["check", "--staged", "--format", "short"][..], &["check", "copy.md", "--format", "short"]]
    {
        let run = repository.stepmark(arguments);
        assert!(run.code == 1 && run.stdout.contains("copy.md:2:5: error SM502"), "{run}");
        assert!(!run.stdout.contains("ten.md"), "{run}");
    }
    // An old finding does not stop a commit that changes something else.
    repository.commit("two");
    let copy = text(&repository.sandbox, "copy.md");
    repository.sandbox.write("copy.md", copy + "# Text\n");
    repository.git(&["add", "--all"]);
    assert_eq!(repository.stepmark(&["check", "--staged"]).code, 0);
}
