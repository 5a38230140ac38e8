//! Which checkout tickets follow.

use std::fs;

use insta::assert_snapshot;

use crate::harness::Repository;

const TICKETS: &str = "out/tickets.jsonl";

fn project(test: &str) -> Option<Repository> {
    let repository = Repository::empty(test)?;
    let keys = "project_id: demo\ntrackers:\n  file: {path: out/tickets.jsonl, branches: [feature/*]}\n";
    repository.sandbox.write(".stepmark/config.yaml", keys);
    repository.sandbox.write(".gitignore", "out/\n");
    for status in ["draft", "done"] {
        repository.sandbox.write("docs/a.md", format!("---\nid: A\nstatus: {status}\n---\n\n# Alpha\n"));
        repository.commit(status);
        assert_eq!(repository.stepmark(&["sync", "apply"]).code, 0);
    }
    Some(repository)
}

#[test]
fn an_older_checkout_takes_no_ticket_back() {
    let Some(repository) = project("an_older_checkout_takes_no_ticket_back") else { return };
    let before = repository.sandbox.read(TICKETS);
    let apply = || repository.stepmark(&["sync", "apply"]);
    let alone = "warning: #1 of docs/a.md is left alone: it was written from commit";
    for switch in [
        &["switch", "--create", "other", "main~1"][..],
        &["switch", "--create", "feature/x"],
        &["checkout", "--detach", "main~1"],
    ] {
        repository.git(&[switch, &["--quiet"]].concat());
        let run = apply();
        assert!(run.code == 0 && run.stderr.contains(alone), "{switch:?}: {run}");
    }
    // A fresh clone has no ledger.
    fs::remove_dir_all(repository.sandbox.place(".git/stepmark")).unwrap();
    let run = apply();
    assert!(run.code == 1 && run.stdout.contains("this checkout does not contain; pull, so that"), "{run}");
    repository.git(&["switch", "--quiet", "main"]);
    assert_eq!(apply().code, 0);
    assert_eq!(repository.sandbox.read(TICKETS), before);
    repository.git(&["switch", "--quiet", "feature/x"]);
    assert_eq!(repository.stepmark(&["sync", "adopt", "docs/a.md"]).code, 0);
    assert_ne!(repository.sandbox.read(TICKETS), before, "a person wants that");
}

#[test]
fn tickets_follow_the_default_branch_and_those_that_are_named() {
    let Some(repository) = project("tickets_follow_the_default_branch_and_those_that_are_named") else {
        return;
    };
    let before = repository.sandbox.read(TICKETS);
    repository.git(&["switch", "--quiet", "--create", "other"]);
    repository.sandbox.write("docs/a.md", "---\nid: A\nstatus: review\n---\n\n# Alpha\n");
    repository.commit("again");
    assert_snapshot!(repository.stepmark(&["sync", "apply"]), @r"
    exit 0
    ── stdout
    0 actions, 0 requests
    ── stderr
    warning: `other` is checked out, and tickets follow `main`, so nothing is done; `branches: ['other']` of the tracker lets them follow it, too
    ");
    assert_eq!(repository.sandbox.read(TICKETS), before);
    repository.git(&["switch", "--quiet", "--create", "feature/x"]);
    assert_snapshot!(repository.stepmark(&["sync", "apply"]), @r"
    exit 0
    ── stdout
    update          done      docs/a.md #1
    1 action, 1 request
    ");
}

#[test]
fn a_secret_is_not_told_and_its_file_is_named() {
    let Some(repository) = project("a_secret_is_not_told_and_its_file_is_named") else { return };
    let key = format!("{}{}", "AKIA", "IOSFODNN7EXAMPLE");
    let text = format!("---\nid: A\nstatus: done\n---\n\n# Al\u{200B}pha\n\n## Story\n\nWith {key}.\n");
    repository.sandbox.write("docs/a.md", text);
    let told = "docs/a.md has a secret that its ticket does not show (aws_access_key): take it out of the file, and make it invalid";
    let plan = repository.stepmark(&["sync", "plan", "--json"]);
    assert!(!plan.stdout.contains(&key) && plan.stdout.contains("aws_access_key"), "{plan}");
    let run = repository.stepmark(&["sync", "apply"]);
    assert!(run.code == 0 && run.stderr.contains(told), "{run}");
    assert!(!String::from_utf8(repository.sandbox.read(TICKETS)).unwrap().contains(&key));
}
