//! `stepmark sync` with a tracker that is a file.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::harness::{Repository, Run, Sandbox};

const NOON: &str = "2026-11-22T12:00:00Z";
const TICKETS: &str = "out/tickets.jsonl";

fn project(keys: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    let configuration = format!("project_id: demo\ntrackers:\n  file:\n    path: {TICKETS}\n{keys}");
    sandbox.write(".stepmark/config.yaml", configuration);
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
    sandbox.write("docs/b.md", "---\nid: B\nstatus: draft\n---\n\n# Beta\n");
    sandbox
}

fn sync(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let arguments: Vec<&str> = ["sync"].iter().chain(arguments).copied().collect();
    sandbox.run(sandbox.command(&arguments).env("STEPMARK_TEST_TIME", NOON))
}

fn created(sandbox: &Sandbox) -> usize {
    let lines = String::from_utf8(sandbox.read(TICKETS)).unwrap();
    let done = lines.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()["done"].clone());
    done.filter(|done| done == "created").count()
}

#[test]
fn tickets_follow_artifacts() {
    let sandbox = project("    prune: close\n");
    let plan = sandbox.reads_only(&["sync", "plan", "--quiet"]);
    assert_snapshot!(plan, @r"
    exit 0
    ── stdout
    create          docs/a.md
    create          docs/b.md
    ");
    assert_snapshot!(sync(&sandbox, &["apply"]), @r"
    exit 0
    ── stdout
    create          done      docs/a.md #1
    create          done      docs/b.md #2
    2 actions, 4 requests
    ");
    let before = sandbox.read(TICKETS);
    assert_snapshot!(sync(&sandbox, &["apply"]), @r"
    exit 0
    ── stdout
    0 actions, 0 requests
    ");
    assert_eq!(sandbox.read(TICKETS), before, "nothing was written");
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=done"]).code, 0);
    fs::remove_file(sandbox.place("docs/b.md")).unwrap();
    assert_snapshot!(sync(&sandbox, &["apply"]), @r#"
    exit 0
    ── stdout
    close           done      docs/a.md #1
    prune           done      "Beta" #2
    2 actions, 1 request
    "#);
    let status = sync(&sandbox, &["status", "--json"]);
    let status: Json = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!((&status["tickets"], &status["schema"]), (&2.into(), &"stepmark.sync-status/2".into()));
    assert_eq!(status["to_do"], serde_json::json!({}));
    assert_eq!(created(&sandbox), 2);
}

#[test]
fn a_plan_that_was_kept_is_done_exactly_or_not_at_all() {
    let sandbox = project("");
    assert_eq!(sync(&sandbox, &["plan", "--out", "plan.json"]).code, 0);
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=review"]).code, 0);
    assert_snapshot!(sync(&sandbox, &["apply", "plan.json"]), @r"
    exit 3
    ── stderr
    error: the plan does not hold any more; nothing was done
      cause: docs/a.md: planned create, now create
      help: make a new one: `stepmark sync plan --out FILE`
    ");
    assert_eq!(sync(&sandbox, &["plan", "--out", "plan.json"]).code, 0);
    let applied = sync(&sandbox, &["apply", "plan.json", "--json"]);
    let applied: Json = serde_json::from_str(&applied.stdout).unwrap();
    let outcomes: Vec<_> = applied["entries"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["done", "done"]);
    assert_eq!(sync(&sandbox, &["apply", "plan.json"]).code, 3, "it is done already");
    assert_eq!(created(&sandbox), 2);
}

#[test]
fn a_lost_ledger_is_found_again() {
    let sandbox = project("");
    sync(&sandbox, &["apply"]);
    for adopts_first in [true, false] {
        fs::remove_dir_all(sandbox.place(".stepmark/local")).unwrap();
        if adopts_first {
            assert_snapshot!(sync(&sandbox, &["adopt"]), @r"
            exit 0
            ── stdout
            adopt           found     docs/a.md #1
            adopt           found     docs/b.md #2
            2 actions, 1 request
            ");
        }
        assert_eq!(sync(&sandbox, &["apply"]).code, 0);
        assert_eq!(sync(&sandbox, &["apply", "--json"]).stdout.matches("outcome").count(), 0);
    }
    assert_eq!(created(&sandbox), 2, "no second ticket");
}

#[test]
fn a_tracker_that_cannot_be_used_is_told_and_left_alone() {
    let sandbox = project("    breaker: {failures: 1}\n");
    sandbox.write(TICKETS, "# Notes\n");
    let failed = sync(&sandbox, &["apply"]);
    assert_eq!(failed.code, 5, "{failed}");
    let status = sync(&sandbox, &["status"]);
    assert!(status.stdout.contains("open       `host:file/file` since 2026-11-22T12:00:00Z"), "{status}");
    fs::remove_file(sandbox.place(TICKETS)).unwrap();
    let refused = sync(&sandbox, &["apply"]);
    assert!(
        refused.code == 5 && refused.stdout.ends_with("2 tickets wait until 2026-11-22T12:00:30Z\n"),
        "{refused}"
    );
    assert_eq!(
        sync(&sandbox, &["reset"]).stdout,
        "host:file/file\n1 breaker and all limits reset, 0 tickets waited\n"
    );
    let applied = sync(&sandbox, &["apply"]);
    assert_eq!((applied.code, created(&sandbox)), (0, 2), "{applied}");
}

#[test]
fn a_clock_that_is_set_back_is_told_and_makes_nobody_wait() {
    let sandbox = project("    breaker: {failures: 1}\n");
    sandbox.write(TICKETS, "# Notes\n");
    let ahead =
        sandbox.run(sandbox.command(&["sync", "apply"]).env("STEPMARK_TEST_TIME", "2027-03-01T12:00:00Z"));
    assert_eq!(ahead.code, 5, "{ahead}");
    fs::remove_file(sandbox.place(TICKETS)).unwrap();
    let status = sync(&sandbox, &["status"]);
    assert!(
        status.stderr.contains("set back: the ledger holds what happened at 2027-03-01T12:00:00Z"),
        "{status}"
    );
    let applied = sync(&sandbox, &["apply"]);
    assert_eq!((applied.code, created(&sandbox)), (0, 2), "{applied}");
    assert_eq!(sync(&sandbox, &["status"]).stderr, "", "nothing of it is left");
}

#[test]
fn a_ticket_that_was_lost_is_made_anew_when_a_person_asks() {
    let sandbox = project("");
    sync(&sandbox, &["apply"]);
    let first = String::from_utf8(sandbox.read(TICKETS)).unwrap();
    sandbox.write(TICKETS, first.lines().take(1).map(|line| format!("{line}\n")).collect::<String>());
    assert_eq!(sandbox.stepmark(&["set", "docs/b.md", "status=review"]).code, 0);
    assert_eq!(sync(&sandbox, &["apply"]).code, 1);
    let status = sync(&sandbox, &["status"]);
    assert!(status.stdout.contains("parked     docs/b.md, after 1 try"), "{status}");
    assert_eq!(sync(&sandbox, &["apply"]).code, 1, "it stays parked");
    assert_eq!(sync(&sandbox, &["retry", "docs/b.md"]).code, 0);
    let applied = sync(&sandbox, &["apply"]);
    assert_snapshot!(applied, @r"
    exit 0
    ── stdout
    look-up         not-there docs/b.md
    create          done      docs/b.md #2
    2 actions, 4 requests
    ");
}

#[test]
fn several_artifacts_and_folders_are_tried_again() {
    let sandbox = project("");
    for name in ["docs/sub/c", "docs/sub/d", "docs/subject"] {
        let id = name.rsplit('/').next().unwrap();
        sandbox.write(&format!("{name}.md"), format!("---\nid: {id}\nstatus: draft\n---\n\n# {id}\n"));
    }
    assert_eq!(sync(&sandbox, &["apply"]).code, 0);
    sandbox.write(TICKETS, "");
    for path in ["docs/a.md", "docs/b.md", "docs/sub/c.md", "docs/subject.md"] {
        assert_eq!(sandbox.stepmark(&["set", path, "status=review"]).code, 0);
    }
    assert_eq!(sync(&sandbox, &["apply"]).code, 1);
    assert_snapshot!(sync(&sandbox, &["retry", "docs/a.md", "docs/b.md"]), @r"
    exit 0
    ── stdout
    docs/a.md: `stepmark sync apply` tries it again
    docs/b.md: `stepmark sync apply` tries it again
    ");
    assert_snapshot!(sync(&sandbox, &["retry", "docs/sub", "docs/a.md"]), @r"
    exit 0
    ── stdout
    docs/a.md: nothing was in its way
    docs/sub/c.md: `stepmark sync apply` tries it again
    ");
    assert_snapshot!(sync(&sandbox, &["retry", "."]), @r"
    exit 0
    ── stdout
    docs/subject.md: `stepmark sync apply` tries it again
    ");
}

#[test]
fn a_breaker_that_is_closed_says_what_failed_last() {
    let sandbox = project("");
    sandbox.write(TICKETS, "# Notes\n");
    assert_eq!(sync(&sandbox, &["apply"]).code, 5);
    let status = sync(&sandbox, &["status"]);
    let told = "closed     `host:file/file`, with failures, the last one: ";
    assert!(status.stdout.contains(told), "{status}");
}

#[test]
fn without_a_tracker_or_with_several_it_is_told() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "project_id: demo\n");
    let run = sandbox.reads_only(&["sync", "plan"]);
    assert!(run.code == 2 && run.stderr.contains("names no tracker"), "{run}");
    sandbox.write(".stepmark/config.yaml", "project_id: demo\ntrackers:\n  dry:\n  other: {kind: dry}\n");
    let run = sandbox.reads_only(&["sync", "plan"]);
    assert!(run.code == 2 && run.stderr.contains("`dry`, `other`"), "{run}");
    assert_eq!(sandbox.reads_only(&["sync", "plan", "--tracker", "dry"]).code, 0);
    assert_eq!(sandbox.reads_only(&["sync", "plan", "--tracker", "nobody"]).code, 2);
}

/// An artifact that was never given an id is nothing wrong, but whoever waits for its ticket is told.
#[test]
fn artifacts_without_an_id_are_told_by_apply_and_status() {
    let sandbox = project("");
    sandbox.write("docs/c.md", "---\nstatus: draft\n---\n\n# Gamma\n");
    for command in ["apply", "apply", "status"] {
        let run = sync(&sandbox, &[command]);
        assert!(run.code == 0 && run.stderr.contains("docs/c.md gets no ticket"), "{command}: {run}");
    }
}

#[test]
fn artifacts_that_no_ticket_can_follow_are_named() {
    let sandbox = project("");
    assert_eq!(sync(&sandbox, &["apply"]).code, 0);
    sandbox.write("docs/copy.md", sandbox.read("docs/a.md"));
    sandbox.write("docs/broken.md", "---\nstepsCompleted: [a\n---\n\n# Broken\n");
    assert_eq!(sandbox.stepmark(&["set", "docs/a.md", "status=review"]).code, 0);
    assert_eq!(sandbox.stepmark(&["set", "docs/b.md", "status=review"]).code, 0);
    assert_snapshot!(sync(&sandbox, &["apply"]), @r"
    exit 1
    ── stdout
    update          done      docs/b.md #2
    1 action, 1 request
    ── stderr
    warning: 2 artifacts get no ticket: `docs/a.md` and `docs/copy.md` have the same id (`id:A`), and no ticket follows them until each has its own: in the copy give `id` another value, or take `id` and `stepmark_id` out and run `stepmark track` (docs/a.md, docs/copy.md)
    warning: docs/broken.md gets no ticket: its frontmatter cannot be read: `stepmark check` says why; until then its ticket stays as it is, and none is pruned
    ");
    let told: Json = serde_json::from_str(&sync(&sandbox, &["apply", "--json"]).stdout).unwrap();
    assert_eq!((told["remarks"].as_array().unwrap().len(), &told["entries"]), (3, &serde_json::json!([])));
    let status = sync(&sandbox, &["status"]);
    assert!(
        status.code == 0 && status.stderr.contains("docs/a.md` and `docs/copy.md` have the same id"),
        "{status}"
    );
    assert!(status.stderr.contains("docs/broken.md gets no ticket"), "{status}");
    sandbox.write("docs/copy.md", "---\nid: C\nstatus: draft\n---\n\n# Copy\n");
    fs::remove_file(sandbox.place("docs/broken.md")).unwrap();
    assert_snapshot!(sync(&sandbox, &["apply"]), @r"
    exit 0
    ── stdout
    create          done      docs/copy.md #3
    update          done      docs/a.md #1
    2 actions, 4 requests
    ");
}

#[test]
fn a_ticket_whose_artifact_lost_its_frontmatter_does_not_stand_still_unseen() {
    for keys in ["", "    prune: close\n"] {
        let Some(repository) =
            Repository::empty("a_ticket_whose_artifact_lost_its_frontmatter_does_not_stand_still_unseen")
        else {
            return;
        };
        let sandbox = &repository.sandbox;
        sandbox.write(
            ".stepmark/config.yaml",
            format!("project_id: demo\ntrackers:\n  file:\n    path: {TICKETS}\n{keys}"),
        );
        sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
        repository.commit("begun");
        assert_eq!(repository.stepmark(&["sync", "apply"]).code, 0);
        sandbox.write("docs/a.md", "# Alpha\n");
        for (task, code) in [("apply", 1), ("plan", 0), ("status", 0)] {
            let run = repository.stepmark(&["sync", task]);
            let told = "docs/a.md gets no ticket: its frontmatter is gone";
            assert!(run.code == code && run.stderr.contains(told), "{keys}{task}: {run}");
        }
        sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
        assert_eq!(repository.stepmark(&["sync", "apply"]).code, 0);
    }
}

/// A cause is told once, however many tickets it keeps from being made; and nobody is shown an id.
#[test]
fn one_cause_is_one_line() {
    let sandbox = project("");
    for number in 0..5 {
        let id = "0198f6a2-1c2d-7e3f-8a4b-00000000000";
        sandbox.write(
            &format!("docs/{number}.md"),
            format!("---\nid: {id}{number}\nstatus: draft\n---\n\n# Story {number}\n"),
        );
    }
    assert_eq!(sync(&sandbox, &["apply"]).code, 0);
    sandbox.write(TICKETS, "");
    for number in 0..5 {
        assert_eq!(sandbox.stepmark(&["set", &format!("docs/{number}.md"), "status=review"]).code, 0);
    }
    let lines = |run: &Run, word: &str| run.stdout.lines().filter(|line| line.contains(word)).count();
    let applied = sync(&sandbox, &["apply"]);
    assert!(
        lines(&applied, "failed") == 1 && applied.stdout.contains("5 tickets: the ticket is not"),
        "{applied}"
    );
    assert!(applied.stdout.contains("(docs/0.md, docs/1.md, docs/2.md and 2 more)"), "{applied}");
    let again = sync(&sandbox, &["apply"]);
    assert!(
        lines(&again, "deferred") == 1 && again.stdout.contains("5 tickets: it is parked after 1 try"),
        "{again}"
    );
    let status = sync(&sandbox, &["status"]);
    assert!(
        lines(&status, "parked") == 1 && status.stdout.contains("parked     5 tickets, after 1 try"),
        "{status}"
    );
    let told: Json = serde_json::from_str(&sync(&sandbox, &["status", "--json"]).stdout).unwrap();
    assert_eq!(told["deliveries"].as_array().unwrap().len(), 5, "programs hear of each");
    sandbox.write(
        ".stepmark/config.yaml",
        format!("project_id: demo\ntrackers:\n  file:\n    path: {TICKETS}\n    artifacts: ['dosc/**']\n"),
    );
    let plan = sync(&sandbox, &["plan"]);
    assert!(
        plan.stderr.contains("7 tickets stay as they are") && plan.stderr.contains("and 4 more)"),
        "{plan}"
    );
    sandbox.write(
        ".stepmark/config.yaml",
        format!("project_id: demo\ntrackers:\n  file:\n    path: {TICKETS}\n"),
    );
    fs::remove_file(sandbox.place("docs/4.md")).unwrap();
    let orphaned = sync(&sandbox, &["plan"]);
    assert!(orphaned.stderr.contains("#5 of \"Story 4\": the artifact is gone"), "{orphaned}");
    let status = sync(&sandbox, &["status"]);
    assert!(!format!("{applied}{again}{status}{plan}{orphaned}").contains("0198f6a2"), "{status}{orphaned}");
}

#[test]
fn files_are_linked_at_the_commit_that_holds_them() {
    let Some(repository) = Repository::empty("files_are_linked_at_the_commit_that_holds_them") else {
        return;
    };
    let sandbox = &repository.sandbox;
    sandbox.write(".stepmark/config.yaml", "project_id: demo\ntrackers:\n  github: {repository: o/r}\n");
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
    repository.git(&["remote", "add", "origin", "https://me:secret@github.com/o/r.git"]);
    let linked = || {
        let plan = repository.stepmark(&["sync", "plan", "--json"]);
        let plan: Json = serde_json::from_str(&plan.stdout).unwrap();
        plan["actions"][0]["ticket"]["file_at_commit"].clone()
    };
    assert_eq!(linked(), Json::Null, "nothing is committed");
    let commit = repository.commit("first");
    assert_eq!(linked(), format!("https://github.com/o/r/blob/{commit}/docs/a.md"));
    sandbox.write("docs/a.md", "---\nid: A\nstatus: done\n---\n\n# Alpha\n");
    assert_eq!(linked(), Json::Null, "the commit holds something else");
    repository.git(&["remote", "set-url", "origin", "https://gitlab.example/o/r.git"]);
    repository.commit("second");
    assert_eq!(linked(), Json::Null, "another host");
}

#[cfg(unix)]
#[test]
fn a_token_that_others_may_read_is_not_used() {
    let sandbox = Sandbox::empty();
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# Alpha\n");
    let keys = "    repository: o/r\n    base_url: http://127.0.0.1:9\n";
    sandbox.write_user_configuration(
        "credentials: {http://127.0.0.1:9: {token_file: ~/token, targets: [o/r]}}\n",
    );
    sandbox.write(".stepmark/config.yaml", format!("project_id: demo\ntrackers:\n  github:\n{keys}"));
    let file = sandbox.root().with_file_name("home").join("token");
    fs::write(&file, "ghp_SECRET\n").unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let refused = sync(&sandbox, &["apply"]);
    assert!(refused.code == 5 && refused.stderr.contains("chmod 600"), "{refused}");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    // Nobody listens there: the token is used, and told to nobody.
    let tried = sync(&sandbox, &["apply"]);
    assert!(tried.code == 5 && tried.stdout.contains("it cannot be reached"), "{tried}");
    assert!(!format!("{refused}{tried}").contains("SECRET"));
}

#[test]
fn tickets_are_closed_for_what_is_gone_and_for_nothing_else() {
    let Some(repository) = Repository::empty("tickets_are_closed_for_what_is_gone_and_for_nothing_else")
    else {
        return;
    };
    let sandbox = &repository.sandbox;
    let configure = |keys: &str| {
        sandbox.write(
            ".stepmark/config.yaml",
            format!("project_id: demo\ntrackers:\n  file: {{path: out/tickets.jsonl, prune: close{keys}}}\n"),
        );
    };
    configure("");
    repository.commit("begun");
    repository.git(&["switch", "--quiet", "--create", "before"]);
    repository.git(&["switch", "--quiet", "main"]);
    for number in 0..4 {
        sandbox.write(
            &format!("docs/{number}.md"),
            format!("---\nid: 'A {number}' # own\nstatus: draft\n---\n\n# A\n"),
        );
    }
    repository.commit("artifacts");
    let apply = |more: &[&str]| repository.stepmark(&[&["sync", "apply"], more].concat());
    assert_eq!(apply(&[]).code, 0);
    let closed =
        || String::from_utf8(sandbox.read("out/tickets.jsonl")).unwrap().matches("not_planned").count();
    // Another branch is checked out.
    repository.git(&["switch", "--quiet", "before"]);
    apply(&[]);
    assert_eq!(closed(), 0);
    repository.git(&["switch", "--quiet", "main"]);
    // A pattern leaves all of them out.
    configure(", artifacts: ['dosc/**']");
    apply(&[]);
    let run = repository.stepmark(&["sync", "plan"]);
    assert!(
        closed() == 0
            && run.stderr.contains(
                "4 tickets stay as they are, since `artifacts` of the tracker leaves their artifacts out"
            ),
        "{run}"
    );
    configure("");
    // Removed, but not committed; removed through stepmark; and committed.
    fs::remove_file(sandbox.place("docs/0.md")).unwrap();
    apply(&[]);
    assert_eq!(closed(), 0);
    assert_eq!(repository.stepmark(&["remove", "docs/1.md"]).code, 0);
    apply(&[]);
    assert_eq!(closed(), 1);
    repository.commit("gone");
    apply(&[]);
    assert_eq!(closed(), 2);
    // Closed tickets count, and so not all are gone: they are few.
    for number in 2..4 {
        fs::remove_file(sandbox.place(&format!("docs/{number}.md"))).unwrap();
    }
    repository.commit("all gone");
    apply(&[]);
    assert_eq!(closed(), 4);
}

/// The removal stays in history when it is given up; it says nothing of a deletion that comes later by other
/// means.
#[test]
fn a_removal_that_was_given_up_closes_nothing() {
    let Some(repository) = Repository::empty("a_removal_that_was_given_up_closes_nothing") else { return };
    let sandbox = &repository.sandbox;
    let keys = "project_id: demo\ntrackers:\n  file: {path: out/tickets.jsonl, prune: close}\n";
    sandbox.write(".stepmark/config.yaml", keys);
    for name in ["deleted", "nameless"] {
        let text = format!("---\nstepmark_id: {name}\nstatus: draft\n---\n\n# A\n");
        sandbox.write(&format!("docs/{name}.md"), text);
    }
    repository.commit("begun");
    assert_eq!(repository.stepmark(&["sync", "apply"]).code, 0);
    for file in ["docs/deleted.md", "docs/nameless.md"] {
        assert_eq!(repository.stepmark(&["remove", file]).code, 0);
        repository.git(&["checkout", "--quiet", "HEAD", "--", file]);
    }
    repository.git(&["switch", "--quiet", "--create", "feature"]);
    fs::remove_file(sandbox.place("docs/deleted.md")).unwrap();
    repository.commit("without the hook");
    sandbox.write("docs/nameless.md", "---\nstatus: draft\n---\n\n# A\n");
    let run = repository.stepmark(&["sync", "apply"]);
    assert!(!String::from_utf8(sandbox.read("out/tickets.jsonl")).unwrap().contains("not_planned"), "{run}");
}

#[test]
fn many_tickets_are_closed_only_when_a_person_says_so() {
    let sandbox = Sandbox::empty();
    sandbox.write(
        ".stepmark/config.yaml",
        "project_id: demo\ntrackers:\n  file: {path: out/tickets.jsonl, prune: close}\n",
    );
    for number in 0..3 {
        sandbox
            .write(&format!("docs/{number}.md"), format!("---\nid: A-{number}\nstatus: draft\n---\n\n# A\n"));
    }
    assert_eq!(sync(&sandbox, &["apply"]).code, 0);
    fs::remove_dir_all(sandbox.place("docs")).unwrap();
    let run = sync(&sandbox, &["plan"]);
    assert!(run.stderr.contains("the artifacts of 3 of 3 tickets are gone"), "{run}");
    let closed = || String::from_utf8(sandbox.read(TICKETS)).unwrap().matches("not_planned").count();
    let run = sync(&sandbox, &["apply"]);
    assert!(run.code == 1 && run.stderr.contains("`stepmark sync apply --yes` closes them"), "{run}");
    assert_eq!(closed(), 0);
    assert_eq!(sync(&sandbox, &["apply", "--yes"]).code, 0);
    assert_eq!(closed(), 3);
}

#[test]
fn what_a_person_configured_for_git_grep_changes_nothing() {
    let Some(repository) = Repository::empty("what_a_person_configured_for_git_grep_changes_nothing") else {
        return;
    };
    let sandbox = &repository.sandbox;
    let keys = "project_id: demo\ntrackers:\n  file: {path: out/tickets.jsonl, prune: close}\n";
    sandbox.write(".stepmark/config.yaml", keys);
    repository.commit("begun");
    repository.git(&["branch", "before"]);
    sandbox.write("docs/a.md", "---\nid: A\nstatus: draft\n---\n\n# A\n");
    repository.commit("an artifact");
    for (key, value) in [("grep.lineNumber", "true"), ("grep.column", "true"), ("color.ui", "always")] {
        repository.git(&["config", key, value]);
    }
    assert_eq!(repository.stepmark(&["sync", "apply"]).code, 0);
    repository.git(&["switch", "--quiet", "before"]);
    repository.stepmark(&["sync", "apply"]);
    assert!(!String::from_utf8(sandbox.read("out/tickets.jsonl")).unwrap().contains("not_planned"));
    // Nobody knows which branch is the default: nothing is gone.
    repository.git(&["branch", "--move", "main", "trunk"]);
    repository.stepmark(&["sync", "apply"]);
    assert!(!String::from_utf8(sandbox.read("out/tickets.jsonl")).unwrap().contains("not_planned"));
}
