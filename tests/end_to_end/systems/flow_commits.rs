//! Flows and git: checkpoint commits, scopes, merges.

use super::coordination::{fails, succeeds};
use crate::harness::{Repository, Run, Sandbox};

const GRAPH: &str = "
id: g
tasks:
  - {id: a, required_scopes: {write: [src/a]}, retry: {max_attempts: 2}}
  - {id: b, required_scopes: {write: [src/b]}}
";

/// A repository with the running flow `r1`, in which both tasks are claimed.
fn project(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    repository.sandbox.write(".stepmark/config.yaml", "flows: {}\n");
    repository.git(&["config", "user.name", "Ada"]);
    repository.git(&["config", "user.email", "ada@example.com"]);
    repository.sandbox.write("graph.yaml", GRAPH);
    repository.sandbox.write("src/a/one.rs", "1\n");
    repository.commit("one");
    for arguments in [
        &["flow", "graph", "create", "graph.yaml"][..],
        &["flow", "create", "g", "--id", "r1"],
        &["flow", "start", "r1"],
        &["flow", "next", "r1", "--claim", "--agent", "w1"],
        &["flow", "next", "r1", "--claim", "--agent", "w2"],
    ] {
        succeeds(&repository.sandbox, arguments);
    }
    Some(repository)
}

fn done(repository: &Repository, arguments: &[&str]) -> Run {
    let run = repository.stepmark(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run}");
    run
}

fn refused(repository: &Repository, arguments: &[&str], code: i32, reason: &str) {
    let run = repository.stepmark(arguments);
    assert_eq!(run.code, code, "{arguments:?}: {run}");
    assert!(run.stderr.contains(reason), "{arguments:?}: {run}");
}

#[test]
fn checkpoints_leave_work_tree_and_index_alone() {
    let Some(repository) = project("checkpoints of a flow") else { return };
    let sandbox = &repository.sandbox;
    repository.add_hook("reference-transaction", "exit 1");
    sandbox.write("src/a/one.rs", "2\n");
    sandbox.write("src/a/two.rs", "new\n");
    sandbox.write("src/b/other.rs", "of another\n");
    let before = repository.git(&["status", "--porcelain"]);
    done(&repository, &["flow", "checkpoint", "r1", "a"]);
    assert_eq!(repository.git(&["status", "--porcelain"]), before);
    let files = repository.git(&["diff", "--name-only", "main", "exec/r1/a"]);
    assert_eq!(files, "src/a/one.rs\nsrc/a/two.rs", "what another task may write is its own");
    let first = repository.git(&["rev-parse", "exec/r1/a"]);
    refused(&repository, &["flow", "checkpoint", "r1", "a"], 1, "nothing differs");
    sandbox.write("src/a/two.rs", "newer\n");
    done(&repository, &["flow", "checkpoint", "r1", "a", "-m", "more"]);
    let patch = done(&repository, &["flow", "diff", "r1", "a", "--json"]).json("stepmark.flow-diff/1");
    assert!(patch["patch"].as_str().unwrap().contains("+newer"), "{patch}");
    done(&repository, &["flow", "rollback", "r1", "a", "--to", &first]);
    assert_eq!(repository.git(&["rev-parse", "exec/r1/a"]), first);
    assert_eq!(sandbox.read("src/a/two.rs"), b"newer\n");
}

#[test]
fn a_file_outside_of_the_scope_fails_the_attempt() {
    let Some(repository) = project("scopes of a flow") else { return };
    repository.sandbox.write("src/a/one.rs", "2\n");
    repository.sandbox.write("README", "no business of a\n");
    let made = done(&repository, &["flow", "checkpoint", "r1", "a"]);
    let commit = repository.git(&["rev-parse", "exec/r1/a"]);
    assert!(
        made.stdout.contains(&commit) && made.stderr.contains("the task may not write `README`"),
        "{made}"
    );
    done(&repository, &["flow", "attempt", "end", "r1", "a"]);
    let judged = repository.stepmark(&["flow", "verify", "r1", "a", "--decision", "pass"]);
    assert!(judged.code == 1 && judged.stdout.contains("the task may not write `README`"), "{judged}");
    let cure = format!(
        "the checkpoint {}: take the file away in the next attempt, before its `stepmark flow checkpoint r1.a`",
        &commit[..12]
    );
    assert!(judged.stdout.contains(&cure), "{judged}");
    refused(&repository, &["flow", "checkpoint", "r1", "a"], 1, "is `RETRY`");
}

#[test]
fn what_somebody_else_has_committed_is_no_work_of_a_task() {
    let Some(repository) = project("commits beside a flow") else { return };
    repository.sandbox.write("src/a/one.rs", "2\n");
    repository.sandbox.write("README", "no business of a\n");
    let made = done(&repository, &["flow", "checkpoint", "r1", "a"]);
    assert!(made.stderr.contains("the task may not write `README`"), "{made}");
    repository.git(&["add", "README"]);
    repository.git(&["commit", "-q", "-m", "by a person"]);
    let made = done(&repository, &["flow", "checkpoint", "r1", "a"]);
    assert!(!made.stderr.contains("README"), "{made}");
    repository.sandbox.write("src/a/one.rs", "3\n");
    done(&repository, &["flow", "checkpoint", "r1", "a"]);
    let diff = done(&repository, &["flow", "diff", "r1", "a", "--json"]).json("stepmark.flow-diff/1");
    assert_eq!(diff["files"], serde_json::json!(["src/a/one.rs"]));
    done(&repository, &["flow", "attempt", "end", "r1", "a"]);
    done(&repository, &["flow", "verify", "r1", "a", "--decision", "pass"]);
}

#[test]
fn what_a_record_calls_a_commit_is_no_option_of_git() {
    let Some(repository) = project("options in records") else { return };
    repository.sandbox.write("src/a/one.rs", "2\n");
    done(&repository, &["flow", "checkpoint", "r1", "a"]);
    let path = "flows/r1/tasks/a.md";
    let text = String::from_utf8(repository.sandbox.read(path)).unwrap();
    let victim = repository.sandbox.place("victim");
    std::fs::write(&victim, "kept").unwrap();
    let last = format!("  - {{commit: '--output={}', attempt_id: r1.a.1}}\n", victim.display());
    let at = text.find("checkpoint_commits:").unwrap();
    let at = at + text[at..].find('\n').unwrap() + 1;
    repository.sandbox.write(path, format!("{}{last}{last}{}", &text[..at], &text[at..]));
    refused(&repository, &["flow", "diff", "r1", "a"], 1, "");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
}

#[test]
fn one_id_is_not_given_to_records_of_two_systems() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "flows: {}\ncoordination: {}\n");
    sandbox.write("graph.yaml", "id: lamp\ntasks: [{id: a}]\n");
    succeeds(&sandbox, &["coordination", "init", "--goal", "light"]);
    succeeds(&sandbox, &["flow", "graph", "create", "graph.yaml"]);
    succeeds(&sandbox, &["flow", "create", "lamp", "--id", "hall"]);
    fails(&sandbox, &["task", "add", "x", "--id", "hall"], "`flows/hall/flow.md` has its id already");
    succeeds(&sandbox, &["task", "add", "x", "--id", "stairs"]);
    fails(
        &sandbox,
        &["flow", "create", "lamp", "--id", "stairs"],
        "`.coordination/tasks/stairs.md` has its id",
    );
    succeeds(&sandbox, &["--actor", "human:Ada", "flow", "start", "hall"]);
}

#[test]
fn a_merge_is_prepared_approved_by_a_person_and_applied() {
    let Some(repository) = project("merge of a flow") else { return };
    for task in ["a", "b"] {
        repository.sandbox.write(&format!("src/{task}/new.rs"), task);
        done(&repository, &["flow", "checkpoint", "r1", task]);
        done(&repository, &["flow", "attempt", "end", "r1", task]);
        refused(&repository, &["flow", "merge", "prepare", "r1"], 1, "is `RUNNING`");
        done(&repository, &["flow", "verify", "r1", task, "--decision", "pass"]);
    }
    done(&repository, &["flow", "merge", "prepare", "r1"]);
    fails(
        &repository.sandbox,
        &["--actor", "agent:w1", "flow", "merge", "approve", "r1"],
        "only a person may approve a merge",
    );
    refused(&repository, &["flow", "merge", "apply", "r1"], 1, "was not approved");
    done(&repository, &["--actor", "human:Ada", "flow", "merge", "reject", "r1"]);
    done(&repository, &["flow", "merge", "prepare", "r1"]);
    done(&repository, &["--actor", "human:Ada", "flow", "merge", "approve", "r1"]);
    let before = repository.git(&["rev-parse", "main"]);
    refused(&repository, &["flow", "merge", "apply", "r1"], 1, "`main` is checked out");
    repository.git(&["switch", "--quiet", "--detach"]);
    done(&repository, &["flow", "merge", "apply", "r1"]);
    assert_eq!(repository.git(&["log", "--format=%s %P", "main", "-1", "--skip=1"]), format!("a {before}"));
    assert_eq!(repository.git(&["show", "main:src/b/new.rs"]), "b");
    let shown = repository.stepmark(&["flow", "show", "r1", "--json"]).json("stepmark.flow/1");
    assert_eq!(
        (&shown["flow"]["status"], shown["flow"]["merge"]["commits"].as_array().unwrap().len()),
        (&"MERGED".into(), 2)
    );
    done(&repository, &["flow", "replay", "r1"]);
}

#[test]
fn no_work_is_left_out_of_a_merge_unsaid() {
    let Some(repository) = project("a merge without a checkpoint") else { return };
    repository.sandbox.write("src/a/new.rs", "a");
    let ended = done(&repository, &["flow", "attempt", "end", "r1", "a"]);
    assert!(ended.stderr.contains("`stepmark flow checkpoint r1.a`"), "{ended}");
    done(&repository, &["flow", "checkpoint", "r1.a"]);
    let judged = done(&repository, &["flow", "verify", "r1", "a", "--decision", "pass"]);
    assert!(!judged.stderr.contains("no checkpoint"), "{judged}");
    // The first attempt of `b` fails with its checkpoint, the second has none.
    repository.sandbox.write("src/b/new.rs", "b");
    done(&repository, &["flow", "checkpoint", "r1.b"]);
    done(&repository, &["flow", "attempt", "end", "r1", "b"]);
    let failed = repository.stepmark(&["flow", "verify", "r1", "b", "--decision", "soft-fail"]);
    assert_eq!(failed.code, 1, "{failed}");
    done(&repository, &["--actor", "human:Ada", "flow", "retry", "r1.b", "--max-attempts", "9"]);
    done(&repository, &["flow", "next", "r1", "--claim", "--agent", "w3"]);
    done(&repository, &["flow", "attempt", "end", "r1", "b"]);
    repository.sandbox.write("src/b/newer.rs", "b");
    let judged = done(&repository, &["flow", "verify", "r1", "b", "--decision", "pass"]);
    assert!(judged.stderr.contains("no checkpoint"), "{judged}");
    refused(&repository, &["flow", "merge", "prepare", "r1"], 1, "no checkpoint: `b`");
    let prepared = done(&repository, &["flow", "merge", "prepare", "r1", "--without-checkpoint"]);
    assert!(prepared.stderr.contains("leaves out what `b` did"), "{prepared}");
    let shown = repository.stepmark(&["flow", "show", "r1", "--json"]).json("stepmark.flow/1");
    assert_eq!(shown["flow"]["merge"]["commits"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_changed_after_the_last_checkpoint_is_said() {
    let Some(repository) = project("changes after a checkpoint") else { return };
    repository.sandbox.write("src/a/new.rs", "a");
    done(&repository, &["flow", "checkpoint", "r1.a"]);
    repository.sandbox.write("src/a/newer.rs", "a");
    repository.sandbox.write("src/b/new.rs", "of another");
    let ended = done(&repository, &["flow", "attempt", "end", "r1", "a"]);
    let said = "changed after the last checkpoint, so that a merge of the flow leaves out `src/a/newer.rs`: ";
    assert!(ended.stderr.contains(said), "{ended}");
    done(&repository, &["flow", "checkpoint", "r1.a"]);
    let judged = done(&repository, &["flow", "verify", "r1", "a", "--decision", "pass"]);
    assert!(!judged.stderr.contains("leaves out"), "{judged}");
}

#[test]
fn a_flow_is_merged_onto_branches_alone() {
    let Some(repository) = project("odd branches") else { return };
    for task in ["a", "b"] {
        repository.sandbox.write(&format!("src/{task}/new.rs"), task);
        done(&repository, &["flow", "checkpoint", "r1", task]);
        done(&repository, &["flow", "attempt", "end", "r1", task]);
        done(&repository, &["flow", "verify", "r1", task, "--decision", "pass"]);
    }
    repository.git(&["symbolic-ref", "refs/heads/other", "refs/heads/main"]);
    for odd in ["other", "a..b", "--all", "a b", "main^{commit}"] {
        let into = format!("--into={odd}");
        refused(&repository, &["flow", "merge", "prepare", "r1", &into], 1, "is no branch that a flow");
    }
}

#[test]
fn what_git_cannot_do_changes_nothing() {
    let Some(repository) = project("git that refuses a flow") else { return };
    let sandbox = &repository.sandbox;
    sandbox.write("src/a/one.rs", "2\n");
    // Detached and dirty is fine; a lock of somebody else is not.
    repository.git(&["switch", "--quiet", "--detach"]);
    sandbox.write(".git/refs/heads/exec/r1/a.lock", "");
    let task = sandbox.read("flows/r1/tasks/a.md");
    refused(&repository, &["flow", "checkpoint", "r1", "a"], 4, "failed");
    assert_eq!(sandbox.read("flows/r1/tasks/a.md"), task);
    std::fs::remove_file(sandbox.place(".git/refs/heads/exec/r1/a.lock")).unwrap();
    done(&repository, &["flow", "checkpoint", "r1", "a"]);
}
