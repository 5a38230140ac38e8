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
