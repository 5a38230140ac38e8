//! A merge that takes one side loses no work without a word.

use crate::{
    harness::{Repository, Run},
    history::in_commits::{PRD, git, in_clone, reopen, repository},
};

/// A merge in conflict: step 4 is done on both branches, step 5 on `other` alone, `status` on `main`.
fn in_conflict(test: &str) -> Option<Repository> {
    let repository = repository(test)?;
    git(&repository, &["switch", "--quiet", "--create", "other"]);
    assert_eq!(repository.stepmark(&["complete", PRD, "4", "5"]).code, 0);
    git(&repository, &["commit", "--quiet", "--all", "-m", "theirs"]);
    git(&repository, &["switch", "--quiet", "main"]);
    assert_eq!(repository.stepmark(&["complete", PRD, "4"]).code, 0);
    git(&repository, &["commit", "--quiet", "--all", "-m", "ours"]);
    let merge = repository.try_git_with_stepmark(&["merge", "--quiet", "other"]);
    assert_eq!(merge.code, 1, "{merge}");
    Some(repository)
}

fn commit(repository: &Repository, arguments: &[&str]) -> Run {
    git(repository, &["add", "--all"]);
    repository.try_git_with_stepmark(&[&["commit", "--quiet", "-m", "merged"], arguments].concat())
}

fn lost(run: &Run) -> bool {
    run.to_string().contains("SM901")
}

#[test]
fn a_side_that_is_taken_whole_does_not_lose_the_other_silently() {
    let Some(repository) = in_conflict("a_side_that_is_taken_whole") else { return };
    repository.git(&["checkout", "--quiet", "--ours", PRD]);
    let refused = commit(&repository, &[]);
    assert!(refused.code == 1 && lost(&refused), "{refused}");
    assert!(refused.to_string().contains("`5`"), "{refused}");
    assert_eq!(commit(&repository, &["--no-verify"]).code, 0);
    for run in [in_clone(&repository, "HEAD~1", None), repository.stepmark(&["check"])] {
        assert!(run.code == 1 && lost(&run), "{run}");
    }
    let replayed = repository.stepmark(&["replay", "--verify", PRD]);
    assert!(replayed.code == 1 && replayed.stdout.contains("unexplained"), "{replayed}");
    assert_eq!(repository.stepmark(&["complete", PRD, "5"]).code, 0);
    assert_eq!(repository.stepmark(&["check"]).code, 0);
    assert_eq!(repository.stepmark(&["replay", "--verify"]).code, 0);
}

#[test]
fn what_holds_both_sides_or_says_why_it_does_not_is_accepted() {
    let Some(repository) = in_conflict("what_holds_both_sides") else { return };
    repository.git(&["checkout", "--quiet", "--theirs", PRD]);
    assert_eq!(commit(&repository, &[]).code, 0, "their side has all steps of ours");
    assert_eq!(repository.stepmark(&["check"]).code, 0);
    assert_eq!(in_clone(&repository, "HEAD~1", None).code, 0);
    let Some(repository) = in_conflict("says_why_it_does_not") else { return };
    repository.git(&["checkout", "--quiet", "--theirs", PRD]);
    git(&repository, &["add", PRD]);
    reopen(&repository, PRD, "5");
    let accepted = commit(&repository, &[]);
    assert_eq!(accepted.code, 0, "{accepted}");
    assert_eq!(repository.stepmark(&["check"]).code, 0);
}

#[test]
fn work_on_this_branch_is_not_lost_to_theirs() {
    let Some(repository) = in_conflict("work_on_this_branch_is_not_lost_to_theirs") else { return };
    repository.git(&["merge", "--abort"]);
    assert_eq!(repository.stepmark(&["complete", PRD, "6"]).code, 0);
    git(&repository, &["commit", "--quiet", "--all", "-m", "more"]);
    assert_eq!(repository.try_git_with_stepmark(&["merge", "--quiet", "other"]).code, 1);
    repository.git(&["checkout", "--quiet", "--theirs", PRD]);
    let refused = commit(&repository, &[]);
    assert!(refused.code == 1 && lost(&refused), "{refused}");
    assert!(refused.to_string().contains("`6`"), "{refused}");
}

/// Two clones made a slice of one number; whoever takes one side is told of the other.
#[test]
fn a_record_that_both_sides_made_is_not_lost_in_silence() {
    let Some(repository) = Repository::empty("two slices of one number") else { return };
    repository.sandbox.write(".stepmark/config.yaml", "asdd: {}\n");
    let stepmark = |arguments: &[&str]| {
        let run = repository.stepmark(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {run}");
    };
    stepmark(&["asdd", "init"]);
    stepmark(&["hook", "install"]);
    git(&repository, &["add", "--all"]);
    git(&repository, &["commit", "--quiet", "-m", "begun"]);
    let clone = repository.sandbox.outside().join("clone").display().to_string();
    repository.git(&["clone", "--quiet", "--no-local", ".", &clone]);
    stepmark(&["hook", "install", "--root", &clone]);
    stepmark(&["asdd", "add", "Blue", "--root", &clone]);
    git(&repository, &["-C", &clone, "add", "--all"]);
    git(&repository, &["-C", &clone, "commit", "--quiet", "-m", "blue"]);
    stepmark(&["asdd", "add", "Red"]);
    git(&repository, &["add", "--all"]);
    git(&repository, &["commit", "--quiet", "-m", "red"]);
    repository.git(&["fetch", "--quiet", &clone, "HEAD"]);
    assert_eq!(repository.try_git(&["merge", "--quiet", "FETCH_HEAD"]).code, 1);
    repository.git(&["checkout", "--quiet", "--ours", "."]);
    let run = commit(&repository, &[]);
    assert!(run.code == 1 && run.to_string().contains("name Blue → Red"), "{run}");
    let run = repository.stepmark(&["check"]);
    assert!(run.code == 1 && run.stdout.contains("a merge lost what event"), "{run}");
    assert_eq!(repository.stepmark(&["replay", "--verify"]).code, 1);
    stepmark(&["asdd", "block", "SLICE-001", "--reason", "which of the two"]);
    assert_eq!(repository.stepmark(&["replay", "--verify"]).code, 0, "the next change records the choice");
}
