//! A commit carries the history of what it changes: what the hook accepts, a clone without a journal of its
//! own accepts, too.

use std::{fs, path::Path};

use crate::harness::{Repository, Run, Sandbox};

pub(super) const PRD: &str = "docs/prd.md";

/// A repository with hooks and one commit on `main`.
pub(super) fn repository(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    repository.sandbox.write(".stepmark/config.yaml", "# A project.\n");
    for artifact in [PRD, "docs/other.md"] {
        repository.sandbox.write(artifact, "---\nstepsCompleted: [1, 2, 3]\nstatus: draft\n---\n\n# Title\n");
    }
    repository.commit("begun");
    assert_eq!(repository.stepmark(&["hook", "install"]).code, 0);
    Some(repository)
}

/// Runs git, whose hooks find stepmark.
pub(super) fn git(repository: &Repository, arguments: &[&str]) -> Run {
    let run = repository.try_git_with_stepmark(arguments);
    assert_eq!(run.code, 0, "git {arguments:?}: {run}");
    run
}

pub(super) fn reopen(repository: &Repository, artifact: &str, step: &str) {
    let run = repository.stepmark(&["reopen", artifact, step]);
    assert_eq!(run.code, 0, "{run}");
}

/// What `check --from BASE` says in a fresh clone of so many commits, which has no journal but that of git.
pub(super) fn in_clone(repository: &Repository, base: &str, depth: Option<&str>) -> Run {
    let place = repository.sandbox.outside().join(format!("clone-{base}-{}", depth.unwrap_or("all")));
    let from = format!("file://{}", repository.sandbox.root().display());
    let mut arguments = vec!["clone", "--quiet", "--no-local"];
    arguments.extend(depth.iter().flat_map(|depth| ["--depth", depth]));
    arguments.extend([from.as_str(), place.to_str().unwrap()]);
    repository.git(&arguments);
    let root = place.to_str().unwrap();
    let run = repository.stepmark(&["check", "--from", base, "--root", root]);
    fs::remove_dir_all(&place).unwrap();
    run
}

pub(super) fn status(repository: &Repository) -> String {
    repository.git(&["status", "--porcelain"])
}

fn segments(sandbox: &Sandbox) -> usize {
    fs::read_dir(sandbox.place(".stepmark/journal")).map_or(0, Iterator::count)
}

#[test]
fn what_was_reopened_is_accepted_in_a_fresh_clone() {
    let Some(repository) = repository("what_was_reopened_is_accepted_in_a_fresh_clone") else { return };
    reopen(&repository, PRD, "3");
    let quiet = git(&repository, &["commit", "--quiet", "--all", "-m", "reopened"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""), "a hook that passes is silent");
    assert_eq!(status(&repository), "", "nothing is left over");
    for (base, depth) in [("HEAD~1", None), ("HEAD~1", Some("2"))] {
        let run = in_clone(&repository, base, depth);
        assert_eq!(run.code, 0, "{run}");
    }
}

#[test]
fn a_commit_of_one_file_carries_its_history_and_leaves_nothing_behind() {
    let Some(repository) = repository("a_commit_of_one_file_carries_its_history_and_leaves_nothing_behind")
    else {
        return;
    };
    reopen(&repository, PRD, "3");
    git(&repository, &["commit", "--quiet", "-m", "reopened", PRD]);
    assert_eq!(status(&repository), "");
    assert_eq!(in_clone(&repository, "HEAD~1", None).code, 0);
}

#[test]
fn a_commit_that_is_amended_or_rebased_keeps_its_history() {
    let Some(repository) = repository("a_commit_that_is_amended_or_rebased_keeps_its_history") else {
        return;
    };
    reopen(&repository, PRD, "3");
    git(&repository, &["commit", "--quiet", "--all", "-m", "reopened"]);
    reopen(&repository, PRD, "2");
    git(&repository, &["commit", "--quiet", "--all", "--amend", "-m", "reopened more"]);
    assert_eq!(in_clone(&repository, "HEAD~1", None).code, 0);
    git(&repository, &["switch", "--quiet", "--create", "side", "HEAD~1"]);
    repository.sandbox.write("README.md", "# Read me\n");
    git(&repository, &["add", "README.md"]);
    git(&repository, &["commit", "--quiet", "-m", "read me"]);
    git(&repository, &["switch", "--quiet", "main"]);
    git(&repository, &["rebase", "--quiet", "side"]);
    assert_eq!(in_clone(&repository, "side", None).code, 2, "`side` is no branch of the clone");
    assert_eq!(in_clone(&repository, "HEAD~1", None).code, 0);
}

#[test]
fn a_commit_of_other_files_seals_nothing() {
    let Some(repository) = repository("a_commit_of_other_files_seals_nothing") else { return };
    reopen(&repository, PRD, "3");
    repository.sandbox.write("README.md", "# Read me\n");
    git(&repository, &["add", "README.md"]);
    git(&repository, &["commit", "--quiet", "-m", "read me"]);
    assert_eq!(segments(&repository.sandbox), 0);
}

#[test]
fn without_our_hook_the_check_says_what_is_missing() {
    let Some(repository) = repository("without_our_hook_the_check_says_what_is_missing") else { return };
    assert_eq!(repository.stepmark(&["hook", "uninstall"]).code, 0);
    reopen(&repository, PRD, "3");
    repository.git(&["add", PRD]);
    let run = repository.stepmark(&["check", "--staged"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("SM908") && run.stdout.contains("stepmark journal seal --stage"), "{run}");
    let sealed =
        repository.stepmark(&["journal", "seal", "--stage", "--json"]).json("stepmark.journal-seal/1");
    assert_eq!(
        (sealed["sealed"].as_array().unwrap().len(), sealed["staged"].as_array().unwrap().len()),
        (1, 1)
    );
    let run = repository.stepmark(&["check", "--staged"]);
    assert_eq!(run.code, 0, "{run}");
    // Also what was committed without it is seen, by the check before a push.
    reopen(&repository, PRD, "2");
    repository.git(&["commit", "--quiet", "--all", "-m", "without history"]);
    let run = repository.stepmark(&["check", "--from", "HEAD~1", "--to", "HEAD"]);
    assert!(run.code == 1 && run.stdout.contains("SM908"), "{run}");
}

#[test]
fn another_work_tree_that_is_removed_takes_no_history_along() {
    let Some(repository) = repository("another_work_tree_that_is_removed_takes_no_history_along") else {
        return;
    };
    let place = repository.sandbox.outside().join("tree");
    let root = place.to_str().unwrap();
    git(&repository, &["worktree", "add", "--quiet", "-b", "side", root]);
    let run = repository.stepmark(&["reopen", "--root", root, PRD, "3"]);
    assert_eq!(run.code, 0, "{run}");
    git(&repository, &["worktree", "remove", "--force", root]);
    assert!(!Path::new(root).exists());
    let log = repository.stepmark(&["log", PRD]);
    assert!(log.stdout.contains("stepsCompleted − 3"), "{log}");
}

#[test]
fn a_folder_that_git_ignores_is_left_alone() {
    let Some(repository) = repository("a_folder_that_git_ignores_is_left_alone") else { return };
    repository.sandbox.write(".gitignore", "/.stepmark/journal/\n");
    reopen(&repository, PRD, "3");
    repository.git(&["add", PRD, ".gitignore"]);
    let sealed =
        repository.stepmark(&["journal", "seal", "--stage", "--json"]).json("stepmark.journal-seal/1");
    assert_eq!(sealed["staged"].as_array().unwrap().len(), 0);
}

#[test]
fn what_was_removed_is_accepted_and_told() {
    let Some(repository) = repository("what_was_removed_is_accepted_and_told") else { return };
    let run = repository.stepmark(&["remove", PRD, "--reason", "split in two"]);
    assert_eq!(run.code, 0, "{run}");
    git(&repository, &["commit", "--quiet", "--all", "-m", "removed"]);
    assert_eq!(status(&repository), "");
    let run = in_clone(&repository, "HEAD~1", None);
    assert_eq!(run.code, 0, "{run}");
    let log = repository.stepmark(&["log", PRD]);
    assert!(log.stdout.contains("delete") && log.stdout.contains("split in two"), "{log}");
    // By hand it is seen.
    fs::remove_file(repository.sandbox.place("docs/other.md")).unwrap();
    let run = repository.try_git_with_stepmark(&["commit", "--quiet", "--all", "-m", "gone"]);
    assert!(run.code == 1 && format!("{run}").contains("SM907"), "{run}");
    assert_eq!(repository.stepmark(&["remove", "docs/other.md"]).code, 2, "it is not there");
}

#[test]
fn a_move_that_was_forced_is_told_with_its_artifact() {
    let Some(repository) = repository("a_move_that_was_forced_is_told_with_its_artifact") else { return };
    repository.sandbox.write(
        "_bmad-output/implementation-artifacts/1-1-a.md",
        "---\nid: S\nstatus: backlog\n---\n\n# Story 1.1\n",
    );
    let story = "_bmad-output/implementation-artifacts/1-1-a.md";
    let run =
        repository.stepmark(&["transition", story, "done", "--force", "--reason", "it shipped long ago"]);
    assert_eq!(run.code, 0, "{run}");
    let log = repository.stepmark(&["log", story]);
    assert!(log.stdout.contains("override") && log.stdout.contains("it shipped long ago"), "{log}");
    git(&repository, &["add", story]);
    git(&repository, &["commit", "--quiet", "-m", "shipped"]);
    assert_eq!(in_clone(&repository, "HEAD~1", None).code, 0);
}

/// Work trees share the journal: the hook of one seals what both did, and each commit carries what led to its
/// own file. That holds in the second of the changes as after it: git's times are whole seconds.
#[test]
fn two_work_trees_with_one_path_carry_their_history_each() {
    let dates = ["--date=2001-01-01T00:00:00Z", "--date=2099-01-01T00:00:00Z"];
    for (main_first, date) in [true, false].into_iter().flat_map(|first| dates.map(|date| (first, date))) {
        let Some(repository) = repository("two_work_trees_with_one_path_carry_their_history_each") else {
            return;
        };
        let place = repository.sandbox.outside().join("tree");
        let side = place.to_str().unwrap();
        git(&repository, &["worktree", "add", "--quiet", "-b", "side", side]);
        reopen(&repository, PRD, "3");
        let run = repository.stepmark(&["reopen", "--root", side, PRD, "2", "3"]);
        assert_eq!(run.code, 0, "{run}");
        let commit_main = || git(&repository, &["commit", "--quiet", "--all", date, "-m", "main"]);
        let commit_side =
            || git(&repository, &["-C", side, "commit", "--quiet", "--all", date, "-m", "side"]);
        if main_first {
            commit_main();
            commit_side();
        } else {
            commit_side();
            commit_main();
        }
        assert_eq!(status(&repository), "");
        assert_eq!(repository.git(&["-C", side, "status", "--porcelain"]), "");
        assert_eq!(in_clone(&repository, "HEAD~1", None).code, 0);
        git(&repository, &["checkout", "--quiet", "--detach", "side"]);
        let run = in_clone(&repository, "HEAD~1", None);
        assert_eq!(run.code, 0, "main first: {main_first}: {run}");
        // The same segments on both sides are no conflict.
        git(&repository, &["checkout", "--quiet", "main"]);
        git(&repository, &["merge", "--quiet", "--no-edit", "-X", "theirs", "side"]);
        let run = in_clone(&repository, "HEAD~1", None);
        assert_eq!(run.code, 0, "{run}");
        assert_eq!(repository.stepmark(&["replay", "--verify"]).code, 0);
    }
}

/// Each side joins what it has; the other's history comes with a merge, and the check of a clone reads both.
#[test]
fn clones_that_compact_differently_agree_after_a_merge() {
    let Some(repository) = repository("clones_that_compact_differently_agree_after_a_merge") else { return };
    for step in ["3", "2"] {
        reopen(&repository, PRD, step);
        git(&repository, &["commit", "--quiet", "--all", "-m", "common"]);
    }
    let begin = repository.git(&["rev-parse", "HEAD"]);
    let compact = |message: &str| {
        let run = repository.stepmark(&["log", "journal", "compact"]);
        assert!(run.stdout.contains("→ 1 file of"), "{run}");
        git(&repository, &["add", "--all", ".stepmark/journal"]);
        git(&repository, &["commit", "--quiet", "-m", message]);
        assert_eq!(status(&repository), "");
    };
    git(&repository, &["switch", "--quiet", "-c", "side"]);
    reopen(&repository, "docs/other.md", "3");
    git(&repository, &["commit", "--quiet", "--all", "-m", "side"]);
    compact("joined on the side");
    git(&repository, &["switch", "--quiet", "main"]);
    reopen(&repository, PRD, "1");
    git(&repository, &["commit", "--quiet", "--all", "-m", "main"]);
    compact("joined on main");
    git(&repository, &["merge", "--quiet", "--no-edit", "side"]);
    assert_eq!(segments(&repository.sandbox), 2, "a file of each side");
    for base in [begin.trim(), "HEAD~1"] {
        let run = in_clone(&repository, base, None);
        assert_eq!(run.code, 0, "{run}");
        let run = repository.stepmark(&["check", "--from", base, "--to", "HEAD"]);
        assert_eq!(run.code, 0, "{run}");
    }
    let place = repository.sandbox.outside().join("fresh");
    repository.git(&[
        "clone",
        "--quiet",
        repository.sandbox.root().to_str().unwrap(),
        place.to_str().unwrap(),
    ]);
    let verified = repository.stepmark(&["log", "replay", "--verify", "--root", place.to_str().unwrap()]);
    assert_eq!(verified.code, 0, "{verified}");
    assert!(verified.stdout.contains("in 4 segments"), "{verified}");
    assert_eq!(repository.stepmark(&["doctor"]).code, 0);
    // One more session, and all are in one file.
    reopen(&repository, "docs/other.md", "2");
    git(&repository, &["commit", "--quiet", "--all", "-m", "more"]);
    compact("one file");
    assert_eq!(in_clone(&repository, begin.trim(), None).code, 0);
}
