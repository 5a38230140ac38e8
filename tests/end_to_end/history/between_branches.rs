//! What hooks, the check before a push, and CI say of one commit is the same, whatever else this clone did.

use std::fs;

use crate::{
    harness::{Repository, Run},
    history::in_commits::{PRD, git, in_clone, reopen, repository, status},
};

const OTHER: &str = "docs/other.md";

fn complete(repository: &Repository, artifact: &str, step: &str) {
    let run = repository.stepmark(&["complete", artifact, step]);
    assert_eq!(run.code, 0, "{run}");
}

fn switch_to_new(repository: &Repository, branch: &str, from: &str) {
    git(repository, &["switch", "--quiet", "--create", branch, from]);
}

fn commit(repository: &Repository, message: &str) {
    git(repository, &["commit", "--quiet", "--all", "-m", message]);
}

fn commit_refused(repository: &Repository, message: &str) -> Run {
    let run = repository.try_git_with_stepmark(&["commit", "--quiet", "--all", "-m", message]);
    assert_eq!(run.code, 1, "{run}");
    run
}

/// Asserts what the check before a push of HEAD and the check of a fresh clone end with, since `base`.
#[track_caller]
fn assert_checked(repository: &Repository, base: &str, code: i32) {
    let base = repository.git(&["rev-parse", base]);
    let push = repository.stepmark(&["check", "--from", &base, "--to", "HEAD"]);
    assert_eq!(push.code, code, "before a push: {push}");
    let fresh = in_clone(repository, &base, None);
    assert_eq!(fresh.code, code, "in a fresh clone: {fresh}");
}

#[test]
fn work_after_a_commit_does_not_count_against_it() {
    let Some(repository) = repository("work_after_a_commit_does_not_count_against_it") else { return };
    switch_to_new(&repository, "work", "main");
    reopen(&repository, PRD, "3");
    commit(&repository, "reopened");
    complete(&repository, PRD, "3");
    assert_checked(&repository, "main", 0);
}

#[test]
fn a_commit_of_the_index_is_held_against_what_led_to_the_index() {
    let Some(repository) = repository("a_commit_of_the_index_is_held_against_what_led_to_the_index") else {
        return;
    };
    switch_to_new(&repository, "work", "main");
    reopen(&repository, PRD, "3");
    git(&repository, &["add", PRD]);
    complete(&repository, PRD, "3");
    git(&repository, &["commit", "--quiet", "-m", "the index"]);
    assert_checked(&repository, "main", 0);
    // An older state that is written back by hand is no reopened one.
    commit(&repository, "completed again");
    let text = fs::read_to_string(repository.sandbox.place(PRD)).unwrap();
    repository.sandbox.write(PRD, text.replace("[1, 2, 3]", "[1, 2]"));
    let run = commit_refused(&repository, "by hand");
    assert!(run.stderr.contains("SM901"), "{run}");
}

/// Branch `x` reopened a step, and `y` reopened and completed it later in the same clone.
fn two_branches(test: &str) -> Option<Repository> {
    let repository = repository(test)?;
    switch_to_new(&repository, "x", "main");
    reopen(&repository, PRD, "3");
    commit(&repository, "x");
    switch_to_new(&repository, "y", "main");
    reopen(&repository, PRD, "3");
    commit(&repository, "y");
    complete(&repository, PRD, "3");
    commit(&repository, "y again");
    git(&repository, &["switch", "--quiet", "x"]);
    Some(repository)
}

#[test]
fn work_on_another_branch_does_not_count_against_this_one() {
    let Some(repository) = two_branches("work_on_another_branch_does_not_count_against_this_one") else {
        return;
    };
    assert_checked(&repository, "main", 0);
}

#[test]
fn a_merged_reopening_explains_itself() {
    let Some(repository) = two_branches("a_merged_reopening_explains_itself") else { return };
    git(&repository, &["switch", "--quiet", "main"]);
    git(&repository, &["merge", "--quiet", "--no-ff", "-m", "y", "y"]);
    git(&repository, &["merge", "--quiet", "--no-ff", "-m", "x", "x"]);
    assert_eq!(status(&repository), "");
    assert_checked(&repository, "HEAD^1", 0);
}

#[test]
fn a_merged_removal_explains_itself() {
    let Some(repository) = repository("a_merged_removal_explains_itself") else { return };
    switch_to_new(&repository, "removal", "main");
    assert_eq!(repository.stepmark(&["remove", OTHER, "--reason", "split"]).code, 0);
    commit(&repository, "removed");
    switch_to_new(&repository, "elsewhere", "main");
    reopen(&repository, OTHER, "3");
    commit(&repository, "reopened");
    switch_to_new(&repository, "third", "main");
    reopen(&repository, PRD, "3");
    commit(&repository, "went on");
    git(&repository, &["merge", "--quiet", "-m", "merged", "removal"]);
    assert_checked(&repository, "HEAD^1", 0);
}

#[test]
fn a_commit_that_is_refused_or_given_up_stops_no_switch() {
    for is_given_up in [false, true] {
        let Some(repository) = repository("a_commit_that_is_refused_or_given_up_stops_no_switch") else {
            return;
        };
        switch_to_new(&repository, "x", "main");
        reopen(&repository, PRD, "3");
        commit(&repository, "x");
        switch_to_new(&repository, "y", "main");
        // The segment of `x` has events that led to this state, too.
        reopen(&repository, PRD, "3");
        complete(&repository, PRD, "4");
        if is_given_up {
            let run =
                repository.try_git_with_stepmark(&["-c", "core.editor=false", "commit", "--quiet", "--all"]);
            assert_eq!(run.code, 1, "{run}");
        } else {
            repository.sandbox.write(OTHER, "---\nstepsCompleted: [1, 2]\nstatus: draft\n---\n\n# Title\n");
            commit_refused(&repository, "y");
        }
        git(&repository, &["stash", "--quiet"]);
        git(&repository, &["switch", "--quiet", "x"]);
        git(&repository, &["switch", "--quiet", "y"]);
        git(&repository, &["merge", "--quiet", "-m", "x", "x"]);
        assert_checked(&repository, "main", 0);
    }
}

#[test]
fn a_commit_without_hooks_gets_its_history_before_the_push() {
    let Some(repository) = repository("a_commit_without_hooks_gets_its_history_before_the_push") else {
        return;
    };
    switch_to_new(&repository, "work", "main");
    reopen(&repository, PRD, "3");
    git(&repository, &["commit", "--quiet", "--all", "--no-verify", "-m", "reopened"]);
    let run = repository.stepmark(&["check", "--from", "main", "--to", "HEAD"]);
    assert!(run.code == 1 && run.stdout.contains("SM908"), "{run}");
    assert_eq!(repository.stepmark(&["journal", "seal", "--stage"]).code, 0);
    git(&repository, &["commit", "--quiet", "-m", "its history"]);
    assert_checked(&repository, "main", 0);
    assert_eq!(status(&repository), "");
}

#[test]
fn an_amended_commit_gets_its_history() {
    let Some(repository) = repository("an_amended_commit_gets_its_history") else { return };
    switch_to_new(&repository, "work", "main");
    reopen(&repository, PRD, "3");
    git(&repository, &["commit", "--quiet", "--all", "--no-verify", "-m", "reopened"]);
    git(&repository, &["commit", "--quiet", "--amend", "--no-edit"]);
    assert_checked(&repository, "main", 0);
    assert_eq!(status(&repository), "");
}

#[test]
fn a_removal_without_our_hook_is_told_what_is_missing() {
    let Some(repository) = repository("a_removal_without_our_hook_is_told_what_is_missing") else { return };
    assert_eq!(repository.stepmark(&["hook", "uninstall"]).code, 0);
    assert_eq!(repository.stepmark(&["remove", OTHER, "--reason", "split"]).code, 0);
    repository.git(&["add", "--update"]);
    let run = repository.stepmark(&["check", "--staged"]);
    assert!(run.code == 1 && run.stdout.contains("SM908") && !run.stdout.contains("SM907"), "{run}");
    assert!(
        run.stdout.contains("journal seal --stage") && run.stdout.contains("without naming files"),
        "{run}"
    );
    assert_eq!(repository.stepmark(&["journal", "seal", "--stage"]).code, 0);
    let run = repository.stepmark(&["check", "--staged"]);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn what_was_taken_back_by_hand_explains_no_later_loss() {
    let Some(repository) = repository("what_was_taken_back_by_hand_explains_no_later_loss") else { return };
    let write = |steps: &str| {
        repository
            .sandbox
            .write(PRD, format!("---\nstepsCompleted: {steps}\nstatus: draft\n---\n\n# Title\n"));
    };
    reopen(&repository, PRD, "3");
    commit(&repository, "reopened");
    // The times of git are whole seconds.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    write("[1, 2, 3]");
    commit(&repository, "put back by hand");
    write("[1, 2]");
    let run = commit_refused(&repository, "dropped by hand");
    assert!(run.stderr.contains("SM901"), "{run}");
    git(&repository, &["commit", "--quiet", "--all", "--no-verify", "-m", "dropped by hand"]);
    assert_checked(&repository, "HEAD~1", 1);
    // What was given up with the work tree, and came into git with a commit of the body.
    write("[1, 2, 3]");
    commit(&repository, "again");
    assert_eq!(repository.stepmark(&["remove", PRD, "--reason", "split"]).code, 0);
    git(&repository, &["checkout", "--", PRD]);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    repository.sandbox.write(PRD, "---\nstepsCompleted: [1, 2, 3]\nstatus: draft\n---\n\n# Another title\n");
    commit(&repository, "the body");
    fs::remove_file(repository.sandbox.place(PRD)).unwrap();
    let run = commit_refused(&repository, "removed by hand");
    assert!(run.stderr.contains("SM907"), "{run}");
}
