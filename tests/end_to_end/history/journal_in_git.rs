//! The journal in a real git repository: what branches, merges, rebases, reverts, clones and line ends do to
//! it.

use std::{ffi::OsString, fs, path::PathBuf, process::Command};

use serde_json::Value as Json;

use crate::harness::{Run, Sandbox, tool};

const PRD: &str = "docs/prd.md";
const TIME: &str = "2026-11-22T10:00:00Z";

/// A project in a repository.
struct Repository {
    sandbox: Sandbox,
    git: PathBuf,
}

impl Repository {
    /// `None` where this machine has no git.
    fn new(test: &str) -> Option<Self> {
        let git = tool("git", test)?;
        let repository = Self { sandbox: Sandbox::empty(), git };
        repository.git(&["init", "-q", "-b", "main"]);
        repository.sandbox.write(".gitignore", ".stepmark/local/\n.stepmark/local/cache/\n");
        repository.sandbox.write(".stepmark/config.yaml", "# A project.\n");
        repository.sandbox.write(PRD, "---\nstepsCompleted: [1]\nstatus: draft\n---\n\n# PRD\n");
        repository.commit("begun");
        Some(repository)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.git);
        self.sandbox.isolate(&mut command);
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "Ada"),
            ("GIT_AUTHOR_EMAIL", "ada@example.org"),
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_EMAIL", "ada@example.org"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_EDITOR", "true"),
        ] {
            command.env(name, value);
        }
        command.args(arguments);
        command
    }

    fn git(&self, arguments: &[&str]) -> Run {
        let run = self.sandbox.run(&mut self.command(arguments));
        assert_eq!(run.code, 0, "git {arguments:?}: {run}");
        run
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// `stepmark ARGUMENTS…` in a session.
    fn work(&self, session: &str, arguments: &[&str]) {
        let all = [arguments, &["--session", session, "--actor", "agent:writer"]].concat();
        let run = self
            .sandbox
            .run(self.sandbox.command(&all).env("STEPMARK_TEST_TIME", TIME).env("PATH", search_path()));
        assert_eq!(run.code, 0, "{run}");
    }

    /// Moves a session's live segments to where they are tracked, as its end does.
    fn seal(&self, session: &str) {
        let sealed = self.sandbox.place(".stepmark/journal");
        fs::create_dir_all(&sealed).unwrap();
        for entry in fs::read_dir(self.sandbox.place(".git/stepmark/journal")).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_string_lossy().starts_with(&format!("{session}-")) {
                fs::rename(entry.path(), sealed.join(entry.file_name())).unwrap();
            }
        }
    }

    fn replay(&self) -> (i32, Json) {
        replay(&self.sandbox)
    }

    fn assert_standing(&self, wanted: &str) {
        let (code, answer) = self.replay();
        assert_eq!(answer["problems"], serde_json::json!([]), "{answer}");
        let prd = answer["artifacts"].as_array().unwrap().iter().find(|artifact| artifact["path"] == PRD);
        assert_eq!(prd.unwrap()["state"], wanted, "{answer}");
        assert_eq!(code, i32::from(wanted == "unexplained"), "{answer}");
    }
}

/// Where git is found, which says what is checked out.
fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

fn replay(sandbox: &Sandbox) -> (i32, Json) {
    let mut command = sandbox.command(&["replay", "--verify", "--json"]);
    let run = sandbox.run(command.env("PATH", search_path()));
    (run.code, run.json("stepmark.replay/2"))
}

#[test]
fn a_branch_switch_is_an_earlier_state_and_no_edit() {
    let Some(repository) = Repository::new("a_branch_switch_is_an_earlier_state") else { return };
    repository.work("s-1", &["complete", PRD, "2"]);
    repository.assert_standing("current");
    repository.git(&["checkout", "-q", "-b", "work"]);
    repository.commit("two");
    repository.work("s-1", &["complete", PRD, "3"]);
    repository.commit("three");
    repository.git(&["checkout", "-q", "HEAD~1"]);
    repository.assert_standing("earlier");
    // Going on from there is a branch of history, without an event for the checkout.
    repository.work("s-2", &["complete", PRD, "4"]);
    repository.assert_standing("current");
    let log = repository.sandbox.stepmark(&["log", PRD, "--json"]).json("stepmark.log/1");
    let kinds: Vec<&str> =
        log["events"].as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert!(!kinds.contains(&"external-edit"), "{kinds:?}");
    repository.git(&["checkout", "-q", "-f", "work"]);
    repository.assert_standing("current");
}

#[test]
fn an_edit_by_hand_is_unexplained_until_the_next_command_records_it() {
    let Some(repository) = Repository::new("an_edit_by_hand_is_unexplained") else { return };
    repository.work("s-1", &["complete", PRD, "2"]);
    repository.sandbox.write(PRD, "---\nstepsCompleted: [1, 2]\nstatus: done\n---\n\n# PRD\n");
    let (code, answer) = repository.replay();
    assert_eq!((code, &answer["artifacts"][0]["state"]), (1, &Json::from("unexplained")));
    assert_eq!(answer["artifacts"][0]["changes"][0]["new"], "done");
    let shown = repository.sandbox.stepmark(&["replay", "--verify"]);
    assert!(shown.stdout.contains("    status draft → done\n"), "{shown}");
    repository.work("s-1", &["complete", PRD, "3"]);
    repository.assert_standing("current");
}

#[test]
fn two_branches_that_work_in_sessions_of_their_own_merge_and_rebase_cleanly() {
    let Some(repository) = Repository::new("two_branches_merge_cleanly") else { return };
    let other = "docs/other.md";
    repository.sandbox.write(other, "---\nstepsCompleted: []\nstatus: draft\n---\n\n# Other\n");
    repository.commit("other");
    for (branch, artifact, session) in [("one", PRD, "s-1"), ("two", other, "s-2")] {
        repository.git(&["checkout", "-q", "-b", branch, "main"]);
        repository.work(session, &["complete", artifact, "2"]);
        repository.seal(session);
        repository.commit(branch);
    }
    repository.git(&["checkout", "-q", "one"]);
    repository.assert_standing("current");
    repository.git(&["merge", "-q", "--no-edit", "two"]);
    let (code, answer) = repository.replay();
    assert_eq!(code, 0, "{answer}");
    assert_eq!((&answer["segments"], &answer["problems"]), (&Json::from(2), &serde_json::json!([])));
    repository.git(&["checkout", "-q", "-B", "rebased", "two"]);
    repository.git(&["rebase", "-q", "one"]);
    assert_eq!(repository.replay().0, 0);
    repository.git(&["checkout", "-q", "main"]);
    let (code, answer) = repository.replay();
    assert_eq!((code, &answer["segments"]), (0, &Json::from(0)), "main has no journal: {answer}");
}

#[test]
fn a_revert_takes_the_state_and_its_events_back() {
    let Some(repository) = Repository::new("a_revert_takes_the_state_back") else { return };
    repository.work("s-1", &["complete", PRD, "2"]);
    repository.seal("s-1");
    repository.commit("two");
    repository.work("s-2", &["complete", PRD, "3"]);
    repository.seal("s-2");
    repository.commit("three");
    repository.assert_standing("current");
    repository.git(&["revert", "--no-edit", "HEAD"]);
    repository.assert_standing("current");
    // The file alone: the events stay, and the state is that of an earlier one.
    repository.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repository.git(&["checkout", "-q", "HEAD~1", "--", PRD]);
    repository.assert_standing("earlier");
}

#[test]
fn a_clone_without_a_journal_has_no_history() {
    let Some(repository) = Repository::new("a_clone_has_no_history") else { return };
    repository.work("s-1", &["complete", PRD, "2"]);
    repository.commit("two");
    let clone = Sandbox::empty();
    let origin = repository.sandbox.root().display().to_string();
    let mut command = repository.command(&["clone", "-q", &origin, "."]);
    command.current_dir(clone.root());
    assert_eq!(clone.run(&mut command).code, 0);
    let (code, answer) = replay(&clone);
    assert_eq!((code, &answer["artifacts"][0]["state"]), (0, &Json::from("no-history")));
    let strict = clone.stepmark(&["replay", "--verify", "--strict"]);
    assert_eq!(strict.code, 1, "{strict}");
    // With the session sealed and committed, the clone has its history.
    repository.seal("s-1");
    repository.commit("sealed");
    let mut command = repository.command(&["pull", "-q"]);
    command.current_dir(clone.root());
    assert_eq!(clone.run(&mut command).code, 0);
    let (code, answer) = replay(&clone);
    assert_eq!((code, &answer["artifacts"][0]["state"]), (0, &Json::from("current")), "{answer}");
}

#[test]
fn line_ends_that_git_changes_are_no_edit_and_break_no_chain() {
    let Some(repository) = Repository::new("line_ends_are_no_edit") else { return };
    repository.work("s-1", &["complete", PRD, "2"]);
    repository.seal("s-1");
    repository.commit("two");
    let clone = Sandbox::empty();
    let origin = repository.sandbox.root().display().to_string();
    let mut command = repository.command(&["clone", "-q", "-c", "core.autocrlf=true", &origin, "."]);
    command.current_dir(clone.root());
    assert_eq!(clone.run(&mut command).code, 0);
    assert!(clone.read(PRD).windows(2).any(|pair| pair == b"\r\n"), "git changed the line ends");
    let (code, answer) = replay(&clone);
    assert_eq!((code, &answer["artifacts"][0]["state"]), (0, &Json::from("current")), "{answer}");
    assert_eq!(answer["problems"], serde_json::json!([]), "{answer}");
}
