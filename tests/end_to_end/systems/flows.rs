//! `stepmark flow`: graphs of tasks are run.

use serde_json::Value;

use super::coordination::{ends, fails, succeeds};
use crate::harness::{Repository, Sandbox};

/// Six tasks: `a`, then `b` to `e`, of which two write the same, then `f`.
const GRAPH: &str = "
id: release
title: Release
tasks:
  - {id: a, title: Parse, checks: [{name: tests, command: test -f ok}], retry: {max_attempts: 3}}
  - {id: b, depends_on: [a], required_scopes: {write: [src]}, retry: {max_attempts: 2, escalate: true}}
  - {id: c, depends_on: [a], required_scopes: {write: [src/c.rs]}}
  - {id: d, depends_on: [a], required_scopes: {write: [docs]}}
  - {id: e, depends_on: [d]}
  - {id: f, depends_on: [b, c, e]}
";

/// A project with the running flow `r1`.
fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "flows: {}\n");
    begin(&sandbox);
    sandbox
}

fn begin(sandbox: &Sandbox) {
    sandbox.write("graph.yaml", GRAPH);
    succeeds(sandbox, &["flow", "graph", "create", "graph.yaml"]);
    by_person(sandbox, &["flow", "create", "release", "--id", "r1"]);
    by_person(sandbox, &["flow", "start", "r1"]);
}

fn by_person(sandbox: &Sandbox, arguments: &[&str]) {
    succeeds(sandbox, &[&["--actor", "human:Ada"], arguments].concat());
}

/// Claims the next task for `agent`, and returns its name.
fn claim(sandbox: &Sandbox, agent: &str) -> String {
    let run = succeeds(sandbox, &["flow", "next", "r1", "--claim", "--agent", agent, "--json"]);
    run.json("stepmark.flow-task/1")["task"]["task"].as_str().unwrap().to_owned()
}

fn passes(sandbox: &Sandbox, task: &str, agent: &str) {
    succeeds(sandbox, &["flow", "attempt", "end", "r1", task, "--agent", agent]);
    succeeds(sandbox, &["flow", "verify", "r1", task, "--decision", "pass"]);
}

/// The flow and its tasks.
fn shown(sandbox: &Sandbox) -> Value {
    sandbox.reads_only(&["flow", "show", "r1", "--json"]).json("stepmark.flow/1")
}

fn status_of(sandbox: &Sandbox, task: &str) -> String {
    let shown = shown(sandbox);
    let tasks = shown["tasks"].as_array().unwrap();
    tasks.iter().find(|own| own["task"] == task).unwrap()["status"].as_str().unwrap().to_owned()
}

/// A clone has the graph, and not the permission of whoever made it.
#[test]
fn checks_that_came_with_a_repository_wait_for_a_person() {
    let sandbox = project();
    // What an archive brings along allows nothing.
    let permission = sandbox.root().with_file_name("home").join(".config/stepmark/flow-checks.json");
    sandbox.write(".stepmark/local/permissions/flow-checks.json", std::fs::read(&permission).unwrap());
    std::fs::remove_file(&permission).unwrap();
    let unchanged = ["--actor", "agent:w1", "flow", "graph", "revise", "graph.yaml"];
    succeeds(&sandbox, &unchanged);
    claim(&sandbox, "w1");
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1"]);
    sandbox.write("ok", "");
    let verify = ["flow", "verify", "r1", "a", "--run"];
    fails(&sandbox, &verify, "nobody allowed them here");
    assert_eq!(status_of(&sandbox, "a"), "VERIFYING", "nothing was run or judged");
    fails(
        &sandbox,
        &["--actor", "agent:w1", "flow", "graph", "allow", "release"],
        "allow the checks of a graph",
    );
    by_person(&sandbox, &["flow", "graph", "allow", "release"]);
    succeeds(&sandbox, &verify);
    assert_eq!(status_of(&sandbox, "a"), "SUCCESS");
}

#[test]
fn a_flow_of_six_tasks_with_two_retries_a_pause_and_an_abort() {
    let sandbox = project();
    assert_eq!(claim(&sandbox, "w1"), "a");
    let next = ["flow", "next", "r1", "--claim", "--agent", "w2"];
    ends(&sandbox, &next, 7, "no task of `r1` can be claimed");
    fails(
        &sandbox,
        &["flow", "attempt", "end", "r1", "a", "--attempt", "r1.a.9"],
        "`r1.a.9` is not the one that counts: that is `r1.a.1`",
    );
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1", "--result", "parsed"]);
    let failed = sandbox.stepmark(&["flow", "verify", "r1", "a", "--run"]);
    assert_eq!(failed.code, 1, "{failed}");
    let why = sandbox.reads_only(&["flow", "why", "r1", "a", "--json"]).json("stepmark.flow-why/1");
    assert_eq!(why["reasons"][1], "the check `tests` failed, exit status 1");
    assert_eq!(claim(&sandbox, "w2"), "a", "the first retry");
    fails(
        &sandbox,
        &["flow", "attempt", "end", "r1", "a", "--agent", "w2", "--notes", &"x".repeat(17_000)],
        "16384",
    );
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w2", "--exit-status", "7"]);
    assert_eq!(status_of(&sandbox, "a"), "RETRY", "a crash needs no judgement");
    assert_eq!(claim(&sandbox, "w1"), "a", "the second retry");
    sandbox.write("ok", "");
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1"]);
    succeeds(&sandbox, &["flow", "verify", "r1", "a", "--run"]);

    assert_eq!((claim(&sandbox, "w1"), claim(&sandbox, "w2")), ("b".to_owned(), "d".to_owned()));
    fails(
        &sandbox,
        &["flow", "next", "r1", "c", "--claim", "--agent", "w3"],
        "`b`, which is running, wants `src`",
    );
    for command in
        [&["flow", "pause", "r1"][..], &["flow", "abort", "r1"], &["flow", "abort-task", "r1", "b"]]
    {
        fails(&sandbox, &[&["--actor", "agent:w1"], command].concat(), "only a person may");
    }
    by_person(&sandbox, &["flow", "pause", "r1", "--reason", "lunch"]);
    passes(&sandbox, "d", "w2");
    fails(&sandbox, &["flow", "next", "r1", "--claim", "--agent", "w2"], "`r1` is `PAUSED`");
    fails(&sandbox, &["--actor", "agent:w2", "flow", "resume", "r1"], "only a person may resume a flow");
    by_person(&sandbox, &["flow", "resume", "r1"]);
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "b", "--agent", "w1"]);
    let hard =
        sandbox.stepmark(&["flow", "verify", "r1.b", "--decision", "hard-fail", "--because", "wrong idea"]);
    assert!(hard.stdout.contains("r1.b  ESCALATED"), "{hard}");
    let waits = sandbox.reads_only(&["flow", "why", "r1", "f"]);
    assert!(waits.stdout.contains("it waits for `r1.b`, which is `ESCALATED`: wrong idea"), "{waits}");
    by_person(&sandbox, &["flow", "abort", "r1", "--reason", "another way"]);
    let statuses: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(|task| status_of(&sandbox, task)).into();
    assert_eq!(statuses, ["SUCCESS", "ESCALATED", "FAILED", "SUCCESS", "FAILED", "FAILED"]);
    let replay =
        succeeds(&sandbox, &["flow", "replay", "r1", "--verify", "--json"]).json("stepmark.flow-replay/1");
    assert_eq!((&replay["is_equal"], replay["records"].as_array().unwrap().len()), (&true.into(), 8));
    let check = sandbox.stepmark(&["check"]);
    assert_eq!(check.code, 0, "{check}");
}

#[test]
fn a_flow_is_complete_with_its_last_task() {
    let sandbox = project();
    sandbox.write("ok", "");
    let mut order = String::new();
    for _ in 0..6 {
        let task = claim(&sandbox, "w1");
        succeeds(&sandbox, &["flow", "attempt", "end", "r1", &task, "--agent", "w1"]);
        let judged = if task == "a" { "--run" } else { "--decision=pass" };
        succeeds(&sandbox, &["--actor", "agent:v", "flow", "verify", "r1", &task, judged]);
        order.push_str(&task);
    }
    assert_eq!((order.as_str(), &shown(&sandbox)["flow"]["status"]), ("abcdef", &"COMPLETED".into()));
    let events = succeeds(&sandbox, &["flow", "events", "r1", "--json"]).json("stepmark.flow-events/1");
    let events = events["events"].as_array().unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[..3], ["graph-created", "graph-frozen", "flow-created"]);
    assert_eq!(kinds.last(), Some(&"flow-completed"));
    assert_eq!(kinds.iter().filter(|kind| **kind == "verification-passed").count(), 6);
    let started = events.iter().find(|event| event["kind"] == "attempt-started").unwrap();
    assert_eq!(started["data"]["correlation"]["attempt"], "r1.a.1");
    let then = succeeds(&sandbox, &["flow", "show", "r", "--at", started["id"].as_str().unwrap(), "--json"]);
    let then = then.json("stepmark.flow/1");
    assert_eq!(
        (&then["flow"]["status"], &then["tasks"][0]["status"]),
        (&"RUNNING".into(), &"RUNNING".into())
    );
    assert_eq!(then["tasks"][5]["status"], "PENDING");
}

#[test]
fn a_graph_is_imported_and_its_attempts_are_asked_for() {
    let sandbox = Sandbox::empty();
    sandbox.write("graph.yaml", GRAPH);
    succeeds(&sandbox, &["import", "flow", "graph.yaml", "--dry-run"]);
    let run = succeeds(&sandbox, &["import", "flow", "graph.yaml", "--json"]).json("stepmark.import-flow/1");
    assert_eq!((&run["graph"], &run["tasks"]), (&"release".into(), &6.into()));
    succeeds(&sandbox, &["flow", "create", "release", "--id", "r1"]);
    succeeds(&sandbox, &["flow", "start", "r1"]);
    assert_eq!(claim(&sandbox, "w1"), "a");
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--exit-status", "3"]);
    let asked = "SELECT a.attempt, a.exit_status, v.reasons, x.system FROM attempts a JOIN verifications v USING (attempt)
        JOIN artifacts x ON x.path = a.artifact";
    let answer = succeeds(&sandbox, &["query", asked, "--json"]).json("stepmark.query/1");
    assert_eq!(
        answer["rows"],
        serde_json::json!([["r1.a.1", 3, "the agent ended with exit status 3", "flows"]]),
        "{answer}"
    );
}

#[test]
fn a_silent_agent_has_crashed() {
    let sandbox = project();
    sandbox.write(".stepmark/config.yaml", "flows: {stale_seconds: 1}\n");
    assert_eq!(claim(&sandbox, "w1"), "a");
    succeeds(&sandbox, &["flow", "attempt", "beat", "r1", "a", "--agent", "w1"]);
    fails(&sandbox, &["flow", "attempt", "beat", "r1", "a", "--agent", "w2"], "is not the one that counts");
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert_eq!(claim(&sandbox, "w2"), "a");
    let attempts = sandbox.reads_only(&["flow", "attempt", "list", "r1", "a"]);
    assert!(attempts.stdout.contains("r1.a.1  w1") && attempts.stdout.contains("interrupted"), "{attempts}");
    fails(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1"], "of `w2`");
}

/// A clock that was wrong holds nothing for ever.
#[test]
fn an_attempt_that_began_in_the_far_future_is_taken_over() {
    let sandbox = project();
    let mut command = sandbox.command(&["flow", "next", "r1", "--claim", "--agent", "w1"]);
    assert_eq!(sandbox.run(command.env("STEPMARK_TEST_TIME", "2100-01-01T00:00:00Z")).code, 0);
    assert_eq!(claim(&sandbox, "w2"), "a");
}

#[test]
fn a_graph_is_frozen_with_its_first_flow() {
    let sandbox = project();
    fails(&sandbox, &["flow", "graph", "create", "graph.yaml"], "is there already");
    fails(&sandbox, &["set", "flows/graphs/release.v1.md", "title=Other"], "leaves as it is");
    sandbox.write("graph.yaml", GRAPH.replace("[b, c, e]", "[b, c, f]"));
    fails(&sandbox, &["flow", "graph", "check", "graph.yaml"], "cannot be run");
    sandbox.write("graph.yaml", GRAPH.replace("title: Parse", "title: Parse, context: all"));
    fails(&sandbox, &["flow", "graph", "revise", "graph.yaml"], "cannot be run");
    sandbox.write("graph.yaml", GRAPH.replace("[b, c, e]", "[b, c]"));
    let revised = succeeds(&sandbox, &["flow", "graph", "revise", "graph.yaml", "--json"]);
    assert_eq!(revised.json("stepmark.flow-graph/1")["graph"]["version"], 2);
    succeeds(&sandbox, &["flow", "create", "release", "--id", "r2"]);
    fails(&sandbox, &["flow", "create", "release", "--id", "r2"], "`r2` is there already");
    let file = String::from_utf8(sandbox.read("flows/r2/flow.md")).unwrap();
    assert!(file.contains("graph_version: 2\n"), "{file}");
}

#[test]
fn a_version_of_a_graph_is_a_record_of_its_own() {
    let sandbox = Sandbox::empty();
    sandbox.write("graph.yaml", GRAPH);
    succeeds(&sandbox, &["import", "flow", "graph.yaml"]);
    succeeds(&sandbox, &["flow", "create", "release"]);
    let check = sandbox.stepmark(&["check"]);
    assert_eq!(check.code, 0, "a flow may have the name of its graph: {check}");
    assert!(!check.stdout.contains("SM5"), "{check}");
    succeeds(&sandbox, &["flow", "start", "release"]);
    let frozen = sandbox.read("flows/graphs/release.v1.md");
    succeeds(&sandbox, &["flow", "graph", "revise", "graph.yaml"]);
    succeeds(&sandbox, &["flow", "replay", "release"]);
    by_person(&sandbox, &["flow", "restore", "release"]);
    assert_eq!(sandbox.read("flows/graphs/release.v1.md"), frozen);
    let next = sandbox.reads_only(&["next", "flows/graphs/release.v2.md"]);
    assert!(next.stdout.contains("stepmark flow create release@v2"), "{next}");
    succeeds(&sandbox, &["flow", "create", "release@v2", "--id", "r2"]);
    for (task, code, told) in
        [("a", 0, "--claim --agent ID` takes it"), ("b", 1, "`stepmark flow why release.b`")]
    {
        let next = sandbox.reads_only(&["flow", "next", &format!("release.{task}")]);
        assert!(next.code == code && next.stdout.contains(told), "{next}");
    }
    for flow in ["release", "r2"] {
        let events = succeeds(&sandbox, &["flow", "events", flow, "--json"]).json("stepmark.flow-events/1");
        let told = events["events"].as_array().unwrap().iter();
        let of_graphs: Vec<&str> = told
            .filter_map(|event| event["kind"].as_str())
            .filter(|kind| kind.starts_with("graph-"))
            .collect();
        assert_eq!(of_graphs, ["graph-created", "graph-frozen"], "{flow}");
    }
}

#[test]
fn other_commands_leave_records_of_flows_alone() {
    let sandbox = project();
    let path = "flows/r1/tasks/a.md";
    let before = sandbox.read(path);
    let forged = String::from_utf8(before.clone()).unwrap().replace("status: PENDING", "status: FAILED");
    sandbox.write(path, &forged);
    let found = sandbox.stepmark(&["check"]);
    assert!(found.stdout.contains("SMP11") && found.stdout.contains("flow restore r1"), "{found}");
    by_person(&sandbox, &["flow", "restore", "r1"]);
    let flow = sandbox.read("flows/r1/flow.md");
    std::fs::remove_file(sandbox.place("flows/r1/flow.md")).unwrap();
    let found = sandbox.stepmark(&["check"]);
    assert!(
        found.stdout.contains("SMP09") && found.stdout.contains("`git restore flows/r1/flow.md`"),
        "{found}"
    );
    sandbox.write("flows/r1/flow.md", flow);
    let events = succeeds(&sandbox, &["flow", "events", "r1", "--json"]).json("stepmark.flow-events/1");
    let events = events["events"].as_array().unwrap();
    let restored = events.iter().rfind(|event| event["path"] == path).unwrap();
    assert_eq!(restored["kind"], "restore");
    for arguments in [
        &["undo", restored["id"].as_str().unwrap()][..],
        &["set", path, "title=Other"],
        &["set", path, "status=RUNNING", "--force", "--reason", "why not"],
    ] {
        fails(&sandbox, &[&["--actor", "human:Ada"], arguments].concat(), "`stepmark flow`");
    }
    assert_eq!(sandbox.read(path), before);
    succeeds(&sandbox, &["flow", "replay", "r1"]);
}

#[test]
fn a_flow_whose_last_task_passed_in_a_pause_is_complete_with_its_resumption() {
    let sandbox = Sandbox::empty();
    sandbox.write("graph.yaml", "{id: g, tasks: [{id: a}]}");
    succeeds(&sandbox, &["import", "flow", "graph.yaml"]);
    succeeds(&sandbox, &["flow", "create", "g", "--id", "r1"]);
    succeeds(&sandbox, &["flow", "start", "r1"]);
    assert_eq!(claim(&sandbox, "w1"), "a");
    by_person(&sandbox, &["flow", "pause", "r1"]);
    passes(&sandbox, "a", "w1");
    assert_eq!(shown(&sandbox)["flow"]["status"], "PAUSED");
    by_person(&sandbox, &["flow", "resume", "r1"]);
    assert_eq!(shown(&sandbox)["flow"]["status"], "COMPLETED");
}

#[test]
fn an_edit_by_other_means_waits_for_a_person() {
    let sandbox = project();
    let path = "flows/r1/tasks/a.md";
    let before = sandbox.read(path);
    let forged = String::from_utf8(before.clone()).unwrap().replace("status: PENDING", "status: SUCCESS");
    sandbox.write(path, &forged);
    let check = sandbox.stepmark(&["check"]);
    assert!(check.stdout.contains("SMF04"), "{check}");
    let replay = sandbox.stepmark(&["flow", "replay", "r1"]);
    assert!(
        replay.code == 1 && replay.stdout.contains("SMF07") && replay.stdout.contains("PENDING → SUCCESS"),
        "{replay}"
    );
    let claim = ["flow", "next", "r1", "b", "--claim", "--agent", "w1"];
    fails(&sandbox, &claim, "`flows/r1/tasks/a.md` was edited by other means");
    fails(&sandbox, &["--actor", "agent:w1", "flow", "restore", "r1"], "only a person may");
    by_person(&sandbox, &["flow", "restore", "r1"]);
    assert_eq!(sandbox.read(path), before);
    succeeds(&sandbox, &["flow", "replay", "r1"]);
    sandbox.write(path, &forged);
    by_person(&sandbox, &["flow", "accept", "r1", "--reason", "done by hand"]);
    succeeds(&sandbox, &claim);
    succeeds(&sandbox, &["flow", "replay", "r1"]);
    let (path, before) = ("flows/r1/tasks/b.md", sandbox.read("flows/r1/tasks/b.md"));
    sandbox.write(path, "---\nstatus: [\n---\n");
    fails(&sandbox, &claim, "`flows/r1/tasks/b.md` was edited by other means");
    by_person(&sandbox, &["flow", "restore", "r1"]);
    assert_eq!(sandbox.read(path), before);
    std::fs::remove_file(sandbox.place("flows/r1/tasks/c.md")).unwrap();
    assert!(sandbox.stepmark(&["check"]).stdout.contains("SMF03"));
    assert_eq!(sandbox.stepmark(&["flow", "replay", "r1"]).code, 1);
    let claim = ["flow", "next", "r1", "--claim", "--agent", "w2"];
    fails(&sandbox, &claim, "`flows/r1/tasks/c.md` was edited by other means");
    by_person(&sandbox, &["flow", "restore", "r1"]);
    succeeds(&sandbox, &claim);
}

#[test]
fn a_fresh_clone_replays_equal() {
    let Some(repository) = Repository::empty("a fresh clone replays a flow") else { return };
    repository.sandbox.write(".stepmark/config.yaml", "flows: {}\n");
    begin(&repository.sandbox);
    repository.sandbox.write("ok", "");
    assert_eq!(claim(&repository.sandbox, "w1"), "a");
    passes_run(&repository.sandbox);
    assert_eq!(claim(&repository.sandbox, "w1"), "b");
    by_person(&repository.sandbox, &["flow", "pause", "r1"]);
    repository.commit("paused");
    let source = format!("file://{}", repository.sandbox.place("").display());
    for depth in ["--no-local", "--depth=1"] {
        let clone = repository.sandbox.outside().join(format!("clone{depth}"));
        repository.git(&["clone", "--quiet", depth, &source, clone.to_str().unwrap()]);
        let replayed = |more: &[&str]| {
            let mut command = repository.command(&[&["flow", "replay", "r1", "--verify"], more].concat());
            repository.sandbox.run(command.current_dir(&clone))
        };
        let replay = replayed(&["--json"]);
        assert_eq!(replay.json("stepmark.flow-replay/1")["is_equal"], true, "{replay}");
        std::fs::remove_dir_all(clone.join(".stepmark/journal")).unwrap();
        let replay = replayed(&[]);
        assert_eq!(replay.code, 1, "{replay}");
        assert_eq!(replay.stdout.lines().count(), 1, "{replay}");
        assert!(replay.stdout.contains("no event of its 8 records is known here"), "{replay}");
    }
}

fn passes_run(sandbox: &Sandbox) {
    succeeds(sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1"]);
    succeeds(sandbox, &["flow", "verify", "r1", "a", "--run"]);
}

/// What a failed check printed last is shown and kept; what passed is said to have passed.
#[test]
fn a_failed_check_keeps_the_end_of_its_output() {
    let sandbox = Sandbox::empty();
    sandbox.write(".stepmark/config.yaml", "flows: {}\n");
    let check =
        "i=0; while test $i -lt 100; do i=$((i+1)); echo $i; done; echo the parser is missing; test -f ok";
    sandbox.write(
        "graph.yaml",
        format!("id: g\ntasks:\n  - {{id: a, checks: [{{name: tests, command: '{check}'}}], retry: {{max_attempts: 3}}}}\n"),
    );
    by_person(&sandbox, &["flow", "graph", "create", "graph.yaml"]);
    by_person(&sandbox, &["flow", "create", "g", "--id", "r1"]);
    by_person(&sandbox, &["flow", "start", "r1"]);
    claim(&sandbox, "w1");
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1"]);
    let verified = sandbox.stepmark(&["flow", "verify", "r1", "a", "--run"]);
    assert!(verified.code == 1 && verified.stdout.contains("the parser is missing"), "{verified}");
    assert!(
        verified.stdout.contains("\n100\n") && !verified.stdout.contains("\n50\n"),
        "the last lines: {verified}"
    );
    let shown = succeeds(&sandbox, &["flow", "attempt", "show", "r1.a.1"]);
    assert!(shown.stdout.contains("the parser is missing"), "{shown}");
    claim(&sandbox, "w1");
    succeeds(&sandbox, &["flow", "attempt", "end", "r1", "a", "--agent", "w1"]);
    by_person(
        &sandbox,
        &[
            "flow",
            "verify",
            "r1",
            "a",
            "--decision",
            "soft-fail",
            "--check",
            "tests=fail",
            "--override",
            "--reason",
            "looked at it",
        ],
    );
    let why = succeeds(&sandbox, &["flow", "why", "r1", "a"]);
    assert!(why.stdout.contains("r1.a.2` passed at"), "{why}");
}
