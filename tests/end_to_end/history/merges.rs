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

/// Two clones change the records of a system; `check` and the hook are asked once one side was taken.
struct Clones {
    repository: Repository,
    other: String,
}

impl Clones {
    fn begin(test: &str, configuration: &str, begun: &[&[&str]]) -> Option<Self> {
        let repository = Repository::empty(test)?;
        repository.sandbox.write(".stepmark/config.yaml", configuration);
        repository.sandbox.write("graph.json", GRAPH);
        let other = repository.sandbox.outside().join("clone").display().to_string();
        let clones = Self { repository, other };
        clones.done(&["hook", "install"]);
        begun.iter().for_each(|line| clones.done(line));
        clones.commit(".");
        clones.repository.git(&["clone", "--quiet", "--no-local", ".", &clones.other]);
        clones.done(&["hook", "install", "--root", &clones.other]);
        Some(clones)
    }

    fn done(&self, arguments: &[&str]) {
        let run = self.repository.stepmark(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {run}");
    }

    fn commit(&self, place: &str) {
        git(&self.repository, &["-C", place, "add", "--all"]);
        git(&self.repository, &["-C", place, "commit", "--quiet", "-m", "work"]);
    }

    /// The same, where ours is taken.
    fn meet(&self, ours: &[&str], theirs: &[&str]) {
        self.merge(ours, theirs);
        self.repository.try_git(&["checkout", "--quiet", "--ours", "."]);
    }

    /// Merges what `theirs` does in the other clone into what `ours` does here; conflicts stay.
    fn merge(&self, ours: &[&str], theirs: &[&str]) {
        // A judgement that something failed ends with 1.
        assert!(self.repository.stepmark(&[theirs, &["--root", &self.other]].concat()).code < 2);
        self.commit(&self.other);
        self.done(ours);
        self.commit(".");
        self.repository.git(&["fetch", "--quiet", &self.other, "HEAD"]);
        self.repository.try_git(&["merge", "--quiet", "--no-commit", "FETCH_HEAD"]);
    }

    /// The hook stops the merge, and `check` says the same.
    fn is_told(&self, text: &str) {
        let run = commit(&self.repository, &[]);
        assert!(run.code == 1 && run.to_string().contains(text), "{run}");
        let run = self.repository.stepmark(&["check"]);
        assert!(run.code == 1 && run.stdout.contains(text), "{run}");
    }
}

const GRAPH: &str = r#"{"id": "g", "tasks": [{"id": "a", "required_scopes": {"write": ["src"]}}]}"#;

#[test]
fn a_slice_that_both_sides_made_is_not_lost_in_silence() {
    let begun: [&[&str]; 1] = [&["asdd", "init"]];
    let Some(clones) = Clones::begin("two slices of one number", "asdd: {}\n", &begun) else { return };
    clones.meet(&["asdd", "add", "Red"], &["asdd", "add", "Blue"]);
    clones.is_told("name Blue → Red");
    assert_eq!(clones.repository.stepmark(&["replay", "--verify"]).code, 1);
    clones.done(&["asdd", "block", "SLICE-001", "--reason", "which of the two"]);
    assert_eq!(
        clones.repository.stepmark(&["replay", "--verify"]).code,
        0,
        "the next change records the choice"
    );
}

#[test]
fn a_task_that_both_sides_claimed_is_told_and_goes_on_with_its_holder() {
    let begun: [&[&str]; 2] =
        [&["coordination", "init", "--goal", "Shed"], &["task", "add", "Roof", "--id", "roof"]];
    let Some(clones) = Clones::begin("two claims", "coordination: {option: A}\n", &begun) else { return };
    clones.meet(&["task", "claim", "roof", "--agent", "ann"], &["task", "claim", "roof", "--agent", "bob"]);
    clones.is_told("claimed_by bob → ann");
    clones.done(&["task", "start", "roof", "--agent", "ann"]);
    let run = commit(&clones.repository, &[]);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn a_flow_that_was_paused_here_and_claimed_there_is_told() {
    let begun: [&[&str]; 3] = [
        &["flow", "graph", "create", "graph.json"],
        &["flow", "create", "g", "--id", "r"],
        &["flow", "start", "r"],
    ];
    let Some(clones) = Clones::begin("paused and claimed", "flows: {}\n", &begun) else { return };
    let (pause, claim) = (["flow", "pause", "r"], ["flow", "next", "r", "--claim", "--agent", "w1"]);
    clones.done(&[&["--actor", "human:Ada"], &pause[..]].concat());
    clones.meet(&["status"], &claim);
    let run = clones.repository.stepmark(&["check"]);
    assert!(run.stdout.contains("SMF09") && run.stdout.contains("began after `r` was paused"), "{run}");
}

#[test]
fn a_judgement_that_a_merge_drops_is_told() {
    let (claim, end) = (
        ["flow", "next", "r", "--claim", "--agent", "w1"],
        ["flow", "attempt", "end", "r.a", "--agent", "w1"],
    );
    let begun: [&[&str]; 5] = [
        &["flow", "graph", "create", "graph.json"],
        &["flow", "create", "g", "--id", "r"],
        &["flow", "start", "r"],
        &claim,
        &end,
    ];
    let Some(clones) = Clones::begin("a judgement", "flows: {}\n", &begun) else { return };
    let verify = |decision: &'static str| ["flow", "verify", "r.a", "--decision", decision];
    clones.meet(&verify("pass"), &verify("hard-fail"));
    clones.is_told("a merge lost what event");
}

#[test]
fn a_record_in_conflict_stops_only_its_own_moves() {
    let begun: [&[&str]; 3] = [
        &["coordination", "init", "--goal", "Shed"],
        &["task", "add", "Roof", "--id", "roof"],
        &["task", "add", "Wall", "--id", "wall"],
    ];
    let Some(clones) = Clones::begin("a task in conflict", "coordination: {option: A}\n", &begun) else {
        return;
    };
    clones.merge(&["task", "claim", "roof", "--agent", "ann"], &["task", "claim", "roof", "--agent", "bob"]);
    let before = clones.repository.sandbox.read(".coordination/tasks/roof.md");
    clones.done(&["task", "claim", "wall", "--agent", "eve"]);
    clones.done(&["task", "done", "wall", "--agent", "eve", "--output", "It stands"]);
    let run = clones.repository.stepmark(&["task", "start", "roof", "--agent", "ann"]);
    assert!(run.code == 1 && run.stderr.contains("merge conflict"), "{run}");
    assert_eq!(clones.repository.sandbox.read(".coordination/tasks/roof.md"), before);
    let begun: [&[&str]; 1] = [&["asdd", "init"]];
    let Some(clones) = Clones::begin("a slice in conflict", "asdd: {}\n", &begun) else { return };
    clones.merge(&["asdd", "add", "Red"], &["asdd", "add", "Blue"]);
    clones.done(&["asdd", "add", "Green"]);
    clones.done(&["asdd", "block", "SLICE-002", "--reason", "later"]);
    let run = clones.repository.stepmark(&["asdd", "block", "SLICE-001", "--reason", "which"]);
    assert!(run.code == 1 && run.stderr.contains("merge conflict"), "{run}");
    let begun: [&[&str]; 3] = [
        &["flow", "graph", "create", "graph.json"],
        &["flow", "create", "g", "--id", "r"],
        &["flow", "start", "r"],
    ];
    let Some(clones) = Clones::begin("a flow in conflict", "flows: {}\n", &begun) else { return };
    let claim = |agent: &'static str| ["flow", "next", "r", "--claim", "--agent", agent];
    clones.merge(&claim("ann"), &claim("bob"));
    clones.done(&["flow", "create", "g", "--id", "s"]);
    clones.done(&["flow", "show", "s"]);
    for line in [
        &["flow", "attempt", "end", "r.a", "--agent", "ann"][..],
        &["flow", "accept", "r", "--actor", "human:Ada", "--reason", "so"],
    ] {
        let run = clones.repository.stepmark(line);
        assert!(run.code == 1 && run.stderr.contains("flows/r/tasks/a.md"), "{run}");
    }
}
