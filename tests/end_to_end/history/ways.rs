//! Every change that history explains, on every way by which a commit reaches a clone: there the check says
//! what the hook said, and `log` tells why.

use std::path::Path;

use crate::{
    harness::Repository,
    history::in_commits::{PRD, git, repository},
};

const OTHER: &str = "docs/other.md";
const STORY: &str = "_bmad-output/implementation-artifacts/1-1-a.md";
const REASON: &str = "we know better now";

/// A way from the commit of a branch to a clone.
#[derive(Clone, Copy, Debug)]
enum Way {
    Fresh,
    /// Committed in another work tree, which is removed afterwards.
    WorkTree,
    /// A clone of two commits only.
    Depth,
    Rebase,
    Squash,
    Merge,
}

/// Commands of stepmark, and files that `git mv` moves, which are one commit of a branch.
struct Change {
    stepmark: &'static [&'static [&'static str]],
    moved: Option<(&'static str, &'static str)>,
    /// An artifact whose history tells the reason.
    told_of: Option<&'static str>,
}

/// Makes the change on a branch by `way`, and returns what it is to be checked against.
fn travel(repository: &Repository, change: &Change, way: Way) -> &'static str {
    let tree = repository.sandbox.outside().join("tree");
    let place = match way {
        Way::WorkTree => tree.as_path(),
        _ => repository.sandbox.root(),
    };
    match way {
        Way::WorkTree => {
            git(repository, &["worktree", "add", "--quiet", "-b", "work", tree.to_str().unwrap()])
        }
        _ => git(repository, &["switch", "--quiet", "--create", "work"]),
    };
    work(repository, change, place);
    let go_on = |branch: &str| {
        git(repository, &["switch", "--quiet", branch]);
        repository.sandbox.write("README.md", "# Read me\n");
        assert_eq!(repository.stepmark(&["reopen", "docs/third.md", "3"]).code, 0);
        git(repository, &["add", "--all"]);
        git(repository, &["commit", "--quiet", "-m", "went on"]);
    };
    match way {
        Way::Fresh | Way::Depth => {}
        Way::WorkTree => {
            git(repository, &["worktree", "remove", tree.to_str().unwrap()]);
            git(repository, &["switch", "--quiet", "work"]);
        }
        Way::Rebase => {
            go_on("main");
            git(repository, &["switch", "--quiet", "work"]);
            git(repository, &["rebase", "--quiet", "main"]);
        }
        Way::Squash => {
            go_on("main");
            git(repository, &["merge", "--quiet", "--squash", "work"]);
            git(repository, &["commit", "--quiet", "-m", "squashed"]);
        }
        Way::Merge => {
            go_on("main");
            git(repository, &["merge", "--quiet", "--no-ff", "-m", "merged", "work"]);
        }
    }
    assert_eq!(repository.git(&["status", "--porcelain"]), "", "nothing is left over");
    "HEAD~1"
}

fn work(repository: &Repository, change: &Change, place: &Path) {
    let place = place.to_str().unwrap();
    for arguments in change.stepmark {
        let mut command = repository.command(&[*arguments, &["--root", place]].concat());
        let run = repository.sandbox.run(command.env_remove("STEPMARK_TEST_ID"));
        assert_eq!(run.code, 0, "{run}");
    }
    if let Some((from, to)) = change.moved {
        git(repository, &["-C", place, "mv", from, to]);
    }
    git(repository, &["-C", place, "add", "--all"]);
    git(repository, &["-C", place, "commit", "--quiet", "-m", "work"]);
}

fn assert_arrives(name: &str, change: &Change) {
    for way in [Way::Fresh, Way::WorkTree, Way::Depth, Way::Rebase, Way::Squash, Way::Merge] {
        let Some(repository) = repository(name) else { return };
        repository.sandbox.write(STORY, "---\nstatus: backlog\n---\n\n# Story 1.1\n");
        repository.sandbox.write("docs/third.md", "---\nstepsCompleted: [1, 2, 3]\nstatus: draft\n---\n");
        git(&repository, &["add", "--all"]);
        git(&repository, &["commit", "--quiet", "-m", "more"]);
        let base = repository.git(&["rev-parse", travel(&repository, change, way)]);
        let hooked = repository.stepmark(&["check", "--from", &base, "--to", "HEAD"]);
        assert_eq!(hooked.code, 0, "{name}, {way:?}, before a push: {hooked}");
        let clone = repository.sandbox.outside().join("clone");
        let (from, clone) =
            (format!("file://{}", repository.sandbox.root().display()), clone.to_str().unwrap());
        let mut arguments = vec!["clone", "--quiet", "--no-local"];
        if let Way::Depth = way {
            arguments.extend(["--depth", "2"]);
        }
        repository.git(&[&arguments[..], &[&from, clone]].concat());
        let run = repository.stepmark(&["check", "--from", &base, "--root", clone]);
        assert_eq!(run.code, 0, "{name}, {way:?}: {run}");
        if let Some(artifact) = change.told_of {
            let log = repository.stepmark(&["log", artifact, "--root", clone]);
            assert!(log.stdout.contains(REASON), "{name}, {way:?}: {log}");
        }
    }
}

#[test]
fn a_reopened_step() {
    let stepmark: &[&[&str]] = &[&["reopen", PRD, "3", "--reason", REASON]];
    assert_arrives("a_reopened_step", &Change { stepmark, moved: None, told_of: Some(PRD) });
}

#[test]
fn a_forced_move() {
    let stepmark: &[&[&str]] = &[&["transition", STORY, "done", "--force", "--reason", REASON]];
    assert_arrives("a_forced_move", &Change { stepmark, moved: None, told_of: Some(STORY) });
}

#[test]
fn a_removed_artifact() {
    let stepmark: &[&[&str]] = &[&["remove", OTHER, "--reason", REASON]];
    assert_arrives("a_removed_artifact", &Change { stepmark, moved: None, told_of: Some(OTHER) });
}

#[test]
fn a_moved_artifact() {
    let stepmark: &[&[&str]] = &[&["reopen", OTHER, "3", "--reason", REASON]];
    let moved = Some((OTHER, "docs/moved.md"));
    assert_arrives("a_moved_artifact", &Change { stepmark, moved, told_of: Some("docs/moved.md") });
}

#[test]
fn a_delegated_artifact() {
    let stepmark: &[&[&str]] = &[&["delegate", PRD, "--to", "writer"]];
    assert_arrives("a_delegated_artifact", &Change { stepmark, moved: None, told_of: None });
}
