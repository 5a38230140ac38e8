//! When a story moves, its line `Status:` and its entry in `sprint-status.yaml` come along.

use insta::assert_snapshot;

use crate::harness::{
    Repository, Sandbox, changed_lines,
    sprint::{LEDGER, ledger, path, story},
};

fn project(line: &str, listed: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(&path("1-1-a"), story("1-1-a", Some("in-progress"), Some(line)));
    sandbox.write(LEDGER, ledger(&[("epic-1", "in-progress"), ("1-1-a", listed), ("1-2-b", "backlog")]));
    sandbox
}

fn text(sandbox: &Sandbox, path: &str) -> String {
    String::from_utf8(sandbox.read(path)).unwrap()
}

#[test]
fn line_and_ledger_come_along_in_one_commit() {
    let sandbox = project("in-progress", "'in-progress' # Ana");
    let before = [LEDGER.to_owned(), path("1-1-a")].map(|path| (sandbox.read(&path), path));
    assert_snapshot!(sandbox.stepmark(&["transition", &path("1-1-a"), "review"]), @r"
    exit 0
    ── stdout
    _bmad-output/implementation-artifacts/1-1-a.md: `_bmad-output/implementation-artifacts/sprint-status.yaml` says `review` too
    _bmad-output/implementation-artifacts/1-1-a.md: written
    ");
    let changes = before.iter().map(|(bytes, path)| changed_lines(bytes, &sandbox.read(path)));
    assert_snapshot!(changes.collect::<String>(), @r"
    -  1-1-a: 'in-progress' # Ana
    +  1-1-a: 'review' # Ana
    -status: in-progress # backlog | … | done
    +status: review # backlog | … | done
    -Status: in-progress
    +Status: review
    ");
    let log = sandbox.stepmark(&["log", "--json"]).json("stepmark.log/1");
    let kinds: Vec<&str> =
        log["events"].as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["change", "first-seen"], "history is about the story: {log}");
    assert_eq!(sandbox.reads_only(&["project", "--ledgers"]).code, 0);
}

#[test]
fn undo_and_restore_take_the_ledgers_back() {
    let sandbox = project("in-progress", "in-progress");
    let before = (sandbox.read(LEDGER), sandbox.read(&path("1-1-a")));
    let made = sandbox.stepmark(&["checkpoint", &path("1-1-a"), "--json"]);
    let checkpoint = made.json("stepmark.checkpoint-made/1")["checkpoint"].as_str().map(str::to_owned);
    assert_eq!(sandbox.stepmark(&["set", &path("1-1-a"), "status=review"]).code, 0);
    let log = sandbox.stepmark(&["log", &path("1-1-a"), "--json"]).json("stepmark.log/1");
    let undone = sandbox.stepmark(&["undo", log["events"][0]["id"].as_str().unwrap()]);
    assert_eq!((undone.code, undone.stderr.as_str()), (0, ""), "{undone}");
    assert_eq!((sandbox.read(LEDGER), sandbox.read(&path("1-1-a"))), before, "there and back, to the byte");

    let checkpoint = checkpoint.unwrap_or_else(|| panic!("{made}"));
    assert_eq!(sandbox.stepmark(&["transition", &path("1-1-a"), "review"]).code, 0);
    let restored = sandbox.stepmark(&["restore", &path("1-1-a"), "--from", &checkpoint]);
    assert_eq!((restored.code, restored.stderr.as_str()), (0, ""), "{restored}");
    assert_eq!((sandbox.read(LEDGER), sandbox.read(&path("1-1-a"))), before, "{restored}");
}

#[test]
fn a_ledger_that_is_broken_stops_nothing() {
    let sandbox = project("in-progress", "in-progress");
    let broken = text(&sandbox, LEDGER) + "last_updated: today: noon\n";
    sandbox.write(LEDGER, &broken);
    let moved = sandbox.stepmark(&["transition", &path("1-1-a"), "review"]);
    assert_eq!(moved.code, 0, "{moved}");
    assert!(moved.stderr.contains("a ledger stays behind"), "{moved}");
    assert!(text(&sandbox, &path("1-1-a")).contains("status: review") && text(&sandbox, LEDGER) == broken);
    std::fs::remove_file(sandbox.place(LEDGER)).unwrap();
    std::fs::create_dir(sandbox.place(LEDGER)).unwrap();
    let moved = sandbox.stepmark(&["transition", &path("1-1-a"), "in-progress"]);
    assert_eq!(moved.code, 0, "{moved}");
    assert!(moved.stderr.contains("a ledger stays behind"), "{moved}");
}

#[test]
fn a_copy_that_said_something_else_before_follows_unless_no_lifecycle_has_its_word() {
    let sandbox = project("done", "shipped");
    let moved = sandbox.stepmark(&["transition", &path("1-1-a"), "review"]);
    assert_eq!(moved.code, 0, "{moved}");
    assert!(
        text(&sandbox, LEDGER).contains("1-1-a: shipped")
            && text(&sandbox, &path("1-1-a")).contains("Status: review")
    );
    assert!(moved.stderr.contains("says `shipped`, its frontmatter `review`"), "{moved}");
    // Where the ledger does not list it, or there is none, nothing is made.
    let sandbox = project("in-progress", "in-progress");
    sandbox.write(LEDGER, ledger(&[("epic-1", "in-progress")]));
    let before = sandbox.read(LEDGER);
    assert_eq!(sandbox.stepmark(&["transition", &path("1-1-a"), "review"]).code, 0);
    assert_eq!(sandbox.read(LEDGER), before);
    std::fs::remove_file(sandbox.place(LEDGER)).unwrap();
    let moved = sandbox.stepmark(&["transition", &path("1-1-a"), "in-progress"]);
    assert_eq!((moved.code, moved.stderr.as_str()), (0, ""), "{moved}");
    assert!(!sandbox.place(LEDGER).exists());
}

/// What only an ignored file of a linked work tree says dies with it.
#[test]
fn an_ignored_ledger_of_a_linked_work_tree_is_named() {
    let Some(repository) = Repository::empty("an ignored ledger") else { return };
    let sandbox = &repository.sandbox;
    sandbox.write(".gitignore", LEDGER);
    sandbox.write(&path("1-1-a"), story("1-1-a", Some("in-progress"), None));
    repository.commit("start");
    let ledger = ledger(&[("epic-1", "in-progress"), ("1-1-a", "in-progress")]);
    let other = sandbox.place("../lane");
    repository.git(&["worktree", "add", "--quiet", other.to_str().unwrap()]);
    std::fs::write(other.join(LEDGER), ledger).unwrap();
    let root = other.to_str().unwrap();
    let run = repository.stepmark(&["--root", root, "transition", &path("1-1-a"), "review"]);
    let said = format!("git ignores `{LEDGER}`: what it says is gone when this work tree is removed");
    assert!(run.code == 0 && run.stderr.contains(&said), "{run}");
    repository.git(&["worktree", "remove", "--force", root]);
    let doctor = repository.stepmark(&["doctor"]);
    assert!(doctor.code == 0 && doctor.stdout.contains("1-1-a.md: history knows a later state"), "{doctor}");
}
