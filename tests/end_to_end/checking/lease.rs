//! `stepmark gate lease`: one may, the others may not.

use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::changing::delegate::events;
use crate::harness::{Run, Sandbox, demo::PRD};

const NOON: &str = "2026-11-22T12:00:00Z";

/// `stepmark ARGUMENTS…` as an agent in a session of its own, at a time of a test's choice.
fn by(sandbox: &Sandbox, name: &str, time: &str, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    command
        .env("STEPMARK_ACTOR", format!("agent:{name}"))
        .env("STEPMARK_SESSION", format!("s-{name}"))
        .env("STEPMARK_TEST_TIME", time);
    command
}

fn run(sandbox: &Sandbox, name: &str, time: &str, arguments: &[&str]) -> Run {
    sandbox.run(&mut by(sandbox, name, time, arguments))
}

fn run_with_fence(sandbox: &Sandbox, name: &str, fence: u64, arguments: &[&str]) -> Run {
    sandbox.run(by(sandbox, name, NOON, arguments).env("STEPMARK_FENCE", fence.to_string()))
}

#[test]
fn one_holds_it_and_others_wait() {
    let demo = Sandbox::demo();
    demo.write("docs/a.md", "---\nid: a\nstatus: draft\n---\n");
    assert_snapshot!(demo.reads_only(&["lease", "show", "docs/a.md"]), @r"
    exit 0
    ── stdout
    docs/a.md: free
    ");
    assert_snapshot!(run(&demo, "one", NOON, &["lease", "take", "docs/a.md", "--seconds", "60"]), @r"
    exit 0
    ── stdout
    docs/a.md: held, leased to agent:one in session s-one until 2026-11-22T12:01:00Z, number 1 (STEPMARK_FENCE=1)
    ");
    assert_snapshot!(run(&demo, "two", NOON, &["lease", "take", "docs/a.md"]), @r"
    exit 3
    ── stderr
    error: `docs/a.md` is left as it is
      cause: agent:one in session s-one holds its lease until 2026-11-22T12:01:00Z
      help: wait for it to be released or to run out
    ");
    let refused = run(&demo, "two", NOON, &["set", "docs/a.md", "status=review"]);
    assert_snapshot!(refused, @r"
    exit 3
    ── stderr
    error: `docs/a.md` is left as it is
      cause: agent:one in session s-one holds its lease until 2026-11-22T12:01:00Z
      help: wait for it to be released or to run out
    ");
    assert_eq!(run(&demo, "one", NOON, &["set", "docs/a.md", "status=review"]).code, 0);
    assert_eq!(run(&demo, "two", NOON, &["lease", "release", "docs/a.md"]).code, 3);
    let shown = demo.changes_nothing(&mut by(&demo, "two", NOON, &["lease", "show", "docs/a.md", "--json"]));
    let shown = shown.json("stepmark.gate-lease/1");
    assert_eq!((shown["state"].as_str(), shown["holder"].as_str()), (Some("held"), Some("agent:one")));
    assert_eq!(run(&demo, "one", NOON, &["lease", "release", "docs/a.md"]).code, 0);
    assert_eq!(run(&demo, "two", NOON, &["set", "docs/a.md", "status=draft"]).code, 0);
    assert_eq!(run(&demo, "one", NOON, &["lease", "release", "docs/a.md"]).code, 3, "nobody holds it");
}

#[test]
fn what_has_run_out_is_taken_over_and_the_old_number_is_worth_nothing() {
    let demo = Sandbox::demo();
    demo.write("docs/a.md", "---\nid: a\nstatus: draft\n---\n");
    let later = "2026-11-22T12:01:00Z";
    let first = run(&demo, "one", NOON, &["lease", "take", "docs/a.md", "--seconds", "60", "--json"]);
    assert_eq!(first.json("stepmark.gate-lease/1")["fence"], 1);
    let second = run(&demo, "two", later, &["lease", "take", "docs/a.md", "--seconds", "60", "--json"]);
    let second = second.json("stepmark.gate-lease/1");
    assert_eq!((second["fence"].as_u64(), second["taken_over_from"].as_str()), (Some(2), Some("agent:one")));
    let told = events(&demo);
    let told = told.iter().find(|event| event["kind"] == "lease-taken-over").unwrap();
    assert_eq!((&told["data"]["from"], &told["data"]["fence"]), (&"agent:one".into(), &2.into()));
    assert_eq!(told["actor"]["name"], "two");

    // The clock of the first one is behind: its own session and its number are refused all the same.
    assert_eq!(run(&demo, "one", NOON, &["set", "docs/a.md", "status=x"]).code, 3);
    assert_snapshot!(run_with_fence(&demo, "one", 1, &["set", "docs/a.md", "status=x"]), @r"
    exit 3
    ── stderr
    error: `docs/a.md` is left as it is
      cause: the fencing number 1 is not that of its lease, which is 2: the lease was taken over, or the number is that of another artifact
      help: read the artifact again: somebody else may have changed it; then take its lease and set STEPMARK_FENCE, or unset that
    ");
    assert_eq!(run_with_fence(&demo, "one", 1, &["lease", "renew", "docs/a.md"]).code, 3);
    assert_eq!(run_with_fence(&demo, "two", 2, &["set", "docs/a.md", "status=x"]).code, 0);
    let renewed = run(&demo, "two", "2026-11-22T14:00:00Z", &["lease", "renew", "docs/a.md", "--json"]);
    assert_eq!(renewed.json("stepmark.gate-lease/1")["fence"], 2, "run out, and nobody took it");
    let forced =
        run(&demo, "one", "2026-11-22T14:00:00Z", &["lease", "take", "docs/a.md", "--force", "--json"]);
    assert_eq!(forced.json("stepmark.gate-lease/1")["fence"], 3);
}

#[test]
fn a_lease_outlives_a_new_id_and_damage_is_not_overlooked() {
    let demo = Sandbox::demo();
    assert_eq!(run(&demo, "one", NOON, &["lease", "take", PRD]).code, 0);
    assert_eq!(run(&demo, "one", NOON, &["track", PRD]).code, 0);
    let refused = run(&demo, "two", NOON, &["set", PRD, "status=review"]);
    assert_eq!(refused.code, 3, "taken by its path, before it had an id: {refused}");
    for entry in std::fs::read_dir(demo.place(".stepmark/local/leases")).unwrap() {
        std::fs::write(entry.unwrap().path(), "{}").unwrap();
    }
    let damaged = run(&demo, "one", NOON, &["set", PRD, "status=review"]);
    assert!(damaged.code == 4 && damaged.stderr.contains("is no lease"), "{damaged}");
}

#[test]
fn of_many_who_take_it_one_gets_it() {
    let demo = Sandbox::demo();
    let children: Vec<_> = (0..24)
        .map(|number| {
            let mut command = by(&demo, &format!("a{number}"), NOON, &["lease", "take", PRD]);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    let codes: Vec<_> = children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 3].contains(code)), "{codes:?}");
}

#[test]
fn a_lease_of_a_clock_that_ran_ahead_is_told_and_holds_nobody_up() {
    let demo = Sandbox::empty();
    demo.write("docs/a.md", "---\nstepsCompleted: [1]\n---\n");
    let ahead = run(&demo, "one", "2100-01-01T00:00:00Z", &["lease", "take", "docs/a.md"]);
    assert_eq!(ahead.code, 0, "{ahead}");
    let shown = run(&demo, "two", NOON, &["lease", "show", "docs/a.md"]);
    assert!(
        shown.stdout.contains("docs/a.md: expired") && shown.stderr.contains("the clock was wrong"),
        "{shown}"
    );
    assert_eq!(run(&demo, "two", NOON, &["complete", "docs/a.md", "2"]).code, 0);
    assert_eq!(run(&demo, "two", NOON, &["lease", "take", "docs/a.md"]).code, 0);
    let endless = run(&demo, "two", NOON, &["lease", "take", "docs/a.md", "--seconds", "2592001"]);
    assert_eq!(endless.code, 2, "{endless}");
    let last = run(&demo, "one", "9999-12-30T22:00:00Z", &["lease", "take", "docs/a.md"]);
    assert_eq!(last.code, 0, "{last}");
}
