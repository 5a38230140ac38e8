//! `stepmark hook`: commits and pushes that are checked.

use insta::assert_snapshot;

use crate::harness::{Repository, sprint, terminal::Terminal};

const PRD: &str = "docs/prd.md";

fn prd(steps: &str) -> String {
    format!("---\nid: PRD-1\nstepsCompleted: [{steps}]\n---\n\n# PRD\n")
}

/// A repository with a commit, in which `stepmark hook install` was run after a hook of somebody else was
/// there.
fn repository(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    repository.sandbox.write(".stepmark/config.yaml", "# A project.\n");
    repository
        .sandbox
        .write(".gitignore", ".stepmark/local/\n.stepmark/local/cache/\n.stepmark/gates/\n*.log\n");
    repository.sandbox.write(PRD, prd("1, 2"));
    repository.commit("one");
    for name in ["pre-commit", "pre-push"] {
        repository.add_hook(name, &format!("cat > {name}.log; echo ran >> {name}.log"));
    }
    let run = repository.stepmark(&["hook", "install", "--all"]);
    assert_eq!(run.code, 0, "{run}");
    Some(repository)
}

#[test]
fn a_commit_that_drops_a_step_is_stopped() {
    let Some(repository) = repository("commit hook") else { return };
    repository.sandbox.write(PRD, prd("1"));
    let run = repository.try_git_with_stepmark(&["commit", "--quiet", "--all", "-m", "two"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.to_string().contains("SM901"), "{run}");
    assert!(!repository.sandbox.place("pre-commit.log").exists(), "what comes after it did not run");
    repository.sandbox.write(PRD, prd("1, 2, 3"));
    let run = repository.try_git_with_stepmark(&["commit", "--quiet", "--all", "-m", "two"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(repository.sandbox.read("pre-commit.log"), b"ran\n");
}

#[test]
fn a_check_of_nothing_says_what_to_stage() {
    let Some(repository) = repository("nothing is staged") else { return };
    let run = repository.stepmark(&["check", "--staged"]);
    assert!(run.code == 0 && run.stdout.contains("no artifact is staged: `git add`"), "{run}");
    assert_eq!(repository.stepmark(&["check", "--staged", "--quiet"]).to_string(), "exit 0\n");
    let run = repository.stepmark(&["sync", "allow"]);
    assert!(run.code == 0 && run.to_string().contains("no tracker is allowed yet"), "{run}");
}

#[test]
fn a_machine_without_stepmark_can_commit() {
    let Some(repository) = repository("no stepmark") else { return };
    repository.sandbox.write(PRD, prd("1"));
    let run = repository.try_git(&["commit", "--quiet", "--all", "-m", "two"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("artifacts are not checked"), "{run}");
}

#[test]
fn a_push_is_held_against_what_the_remote_has() {
    let Some(repository) = repository("push hook") else { return };
    let remote = repository.sandbox.outside().join("remote.git");
    let remote = remote.to_str().unwrap();
    repository.git(&["clone", "--quiet", "--bare", ".", remote]);
    repository.git(&["remote", "add", "origin", remote]);
    repository.git(&["fetch", "--quiet", "origin"]);
    let push = |arguments: &[&str]| {
        repository.try_git_with_stepmark(&[&["push", "--quiet", "origin"], arguments].concat())
    };
    repository.sandbox.write(PRD, prd("1"));
    repository.git(&["commit", "--quiet", "--no-verify", "--all", "-m", "drops a step"]);
    for arguments in [&["main"][..], &["HEAD:refs/heads/new"]] {
        let run = push(arguments);
        assert_eq!(run.code, 1, "{run}");
        assert!(run.to_string().contains("SM901"), "{run}");
    }
    repository.sandbox.write(PRD, prd("1, 2"));
    repository.commit("puts it back");
    let run = push(&["main", "HEAD:refs/heads/new"]);
    assert_eq!(run.code, 0, "{run}");
    let log = String::from_utf8(repository.sandbox.read("pre-push.log")).unwrap();
    assert_eq!(
        log.lines().filter(|line| line.contains("refs/heads/")).count(),
        2,
        "the next hook reads it too: {log}"
    );
    assert_eq!(push(&["--delete", "new"]).code, 0);
    repository.git(&["commit", "--quiet", "--amend", "-m", "another"]);
    assert_eq!(push(&["--force", "main"]).code, 0);
}

#[test]
fn a_merge_commit_is_checked() {
    let Some(repository) = repository("merge hook") else { return };
    repository.git(&["switch", "--quiet", "-c", "other"]);
    repository.sandbox.write("docs/theirs.md", prd("1"));
    repository.commit("theirs");
    repository.git(&["switch", "--quiet", "main"]);
    repository.sandbox.write("docs/ours.md", prd("1"));
    repository.commit("ours");
    let run = repository.try_git_with_stepmark(&["merge", "--quiet", "--no-edit", "other"]);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn status_tells_what_is_there_and_uninstall_takes_it_out() {
    let Some(repository) = repository("hook status") else { return };
    assert_snapshot!(repository.stepmark(&["hook", "status"]), @r"
    exit 0
    ── stdout
    [ROOT]/.git/hooks/pre-commit: installed
    [ROOT]/.git/hooks/pre-merge-commit: installed
    [ROOT]/.git/hooks/post-commit: installed
    [ROOT]/.git/hooks/pre-push: installed
    [ROOT]/.git/hooks/post-checkout: installed
    [ROOT]/.git/hooks/post-merge: installed
    [ROOT]/.git/hooks/post-rewrite: installed
    [ROOT]/.git/hooks/commit-msg: not installed
    ");
    assert_eq!(repository.stepmark(&["hook", "uninstall"]).code, 0);
    let run = repository.stepmark(&["hook", "status", "--json"]);
    assert_eq!(run.code, 1, "{run}");
    let answer = run.json("stepmark.hook-status/1");
    assert!(answer["hooks"].as_array().unwrap().iter().all(|hook| hook["installed"] == false), "{run}");
    assert!(repository.sandbox.place(".git/hooks/pre-commit").exists(), "what was there before stays");
    assert_eq!(repository.stepmark(&["hook", "install", "pre-receive"]).code, 2);
}

#[test]
fn several_legal_moves_may_stand_in_one_commit() {
    let Some(repository) = repository("several_legal_moves_may_stand_in_one_commit") else { return };
    let spec =
        |status: &str| format!("---\ntype: feature\ncontext: [prd.md]\nstatus: {status}\n---\n# Spec\n");
    repository.sandbox.write("docs/spec-1.md", spec("ready-for-dev"));
    repository.commit("approved");
    for status in ["in-progress", "in-review", "done"] {
        repository.sandbox.write("docs/spec-1.md", spec(status));
    }
    repository.git(&["add", "--all"]);
    let run = repository.try_git_with_stepmark(&["commit", "--quiet", "-m", "built"]);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn what_an_editor_changes_is_recorded_when_it_is_committed() {
    let Some(repository) = repository("edits by hand") else { return };
    let spec = |status: &str| format!("---\ntype: feature\nstatus: {status}\n---\n# Spec\n");
    for status in ["draft", "ready-for-dev", "in-progress", "in-review"] {
        repository.sandbox.write("docs/spec-1.md", spec(status));
        repository.git(&["add", "--all"]);
        let run = repository.try_git_with_stepmark(&["commit", "--quiet", "-m", status]);
        assert_eq!(run.code, 0, "{run}");
    }
    let log = repository.stepmark(&["log", "docs/spec-1.md", "--json"]).json("stepmark.log/1");
    let events = log["events"].as_array().unwrap();
    assert_eq!(events.len(), 4, "{log}");
    assert!(events.iter().all(|event| event["actor"] != "unknown"), "{log}");
    assert_eq!(repository.git(&["status", "--porcelain"]), "", "the commit holds them");
    // What is refused is not recorded.
    repository.sandbox.write(PRD, prd("1"));
    let run = repository.try_git_with_stepmark(&["commit", "--quiet", "--all", "-m", "loses a step"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(repository.stepmark(&["log", PRD]).to_string().contains("nothing is recorded"));
}

/// A code review of BMAD writes line and ledger; the setting has the frontmatter follow.
#[test]
fn what_line_and_ledger_agree_on_is_taken_in_where_that_is_wanted() {
    let Some(repository) = repository("line and ledger agree") else { return };
    let (path, name) = (sprint::path("1-1-lamp"), "1-1-lamp");
    let write = |frontmatter: &str, copies: [&str; 2]| {
        repository.sandbox.write(&path, sprint::story(name, Some(frontmatter), Some(copies[0])));
        repository
            .sandbox
            .write(sprint::LEDGER, sprint::ledger(&[("epic-1", "in-progress"), (name, copies[1])]));
        repository.git(&["add", "--all"]);
    };
    let commit = || repository.try_git_with_stepmark(&["commit", "--quiet", "-m", "reviewed"]);
    write("in-progress", ["in-progress", "in-progress"]);
    assert_eq!(commit().code, 0);
    write("in-progress", ["review", "review"]);
    assert_eq!(commit().code, 1, "nobody asked for it");
    if let Some(terminal) = Terminal::find() {
        let run = terminal.run_answering(&repository.sandbox, &["hook", "install"], "n");
        assert!(run.to_string().contains("Shall the hook"), "{run}");
        assert_eq!(commit().code, 1, "{run}");
        terminal.run_answering(&repository.sandbox, &["hook", "install"], "y");
    } else {
        repository.sandbox.write(".stepmark/config.yaml", "stories: {take_in_agreed: true}\n");
    }
    let run = commit();
    assert_eq!(run.code, 0, "{run}");
    assert!(run.to_string().contains("took `review` from its line and `sprint-status.yaml`"), "{run}");
    let committed = repository.git(&["show", &format!("HEAD:{path}")]);
    assert!(committed.starts_with("---\nstatus: review #"), "{committed}");
    assert_eq!(repository.stepmark(&["check", "--quiet"]).code, 0);
    write("review", ["done", "done"]);
    assert_eq!(repository.stepmark(&["gate", "lease", "take", &path, "--actor", "agent:eve"]).code, 0);
    let run = commit();
    assert!(
        run.code == 1 && run.to_string().contains("is not taken in") && run.to_string().contains("agent:eve"),
        "{run}"
    );
    assert_eq!(repository.stepmark(&["gate", "lease", "release", &path, "--actor", "agent:eve"]).code, 0);
    assert!(repository.stepmark(&["log", &path]).to_string().contains("status-line wins"));
    for (frontmatter, copies) in [
        ("review", ["done", "in-progress"]),
        ("review", ["nonsense", "nonsense"]),
        ("done", ["review", "review"]),
    ] {
        write(frontmatter, copies);
        let run = commit();
        assert!(run.code == 1 && !run.to_string().contains("took"), "{frontmatter} {copies:?}: {run}");
    }
    write("review", ["done", "done"]);
    let run = repository.try_git_with_stepmark(&["commit", "--quiet", "-m", "one file", "--", &path]);
    assert_eq!(run.code, 1, "the index of the next commit would not know of it: {run}");
    assert_eq!(commit().code, 0);
    assert!(repository.git(&["show", &format!("HEAD:{path}")]).starts_with("---\nstatus: done #"));
}

#[test]
fn only_what_is_needed_is_installed_and_with_husky_beside_its_own_folder() {
    let Some(repository) = Repository::empty("husky") else { return };
    repository.sandbox.write(".stepmark/config.yaml", "# A project.\n");
    repository.sandbox.write(".husky/_/h", "#!/usr/bin/env sh\n");
    repository.sandbox.write(".husky/pre-commit", "npm test\n");
    repository.git(&["config", "core.hooksPath", ".husky/_"]);
    assert_snapshot!(repository.stepmark(&["hook", "install"]), @r"
    exit 0
    ── stdout
    [ROOT]/.husky/pre-commit: added; adds the history of what is staged to the commit, and checks it
    [ROOT]/.husky/pre-merge-commit: created; does the same for a merge
    [ROOT]/.husky/post-commit: created; keeps the history that a commit got in the work tree
    ");
    let hook = String::from_utf8(repository.sandbox.read(".husky/pre-commit")).unwrap();
    assert!(hook.contains("stepmark check --staged") && hook.ends_with("npm test\n"), "{hook}");
    assert!(repository.stepmark(&["hook", "status"]).stdout.contains(".husky/pre-commit: installed"));
}
