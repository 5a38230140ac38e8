//! All five systems in one project: each view shows the work of each, with the command that moves it on.

use insta::assert_snapshot;
use serde_json::Value;

use super::coordination::succeeds;
use crate::harness::Sandbox;

const GRAPH: &str = "\
id: release
title: Release
tasks:
  - {id: build, title: Build it}
  - {id: ship, title: Ship it, depends_on: [build]}
";

/// A story of BMAD, the state of autodev, a task of coordination, two slices of ASDD and a running flow.
fn project() -> Sandbox {
    let sandbox = Sandbox::empty();
    let keys =
        "project_id: five\nautodev: {}\nasdd: {}\nflows: {}\ntrackers: {file: {path: out/tickets.jsonl}}\n";
    sandbox.write(".stepmark/config.yaml", keys);
    sandbox.write("stories/1-1-borrow.md", "---\nid: s11\nstatus: in-progress\n---\n# Story 1.1: Borrow\n");
    sandbox.write("_docs/_autodev_state.md", include_str!("../../../fixtures/autodev/plan.md"));
    sandbox.write("graph.yaml", GRAPH);
    for words in [
        &["track", "_docs/_autodev_state.md"][..],
        &["coordination", "init", "--goal", "Ship the tool library"],
        &["task", "add", "Write the parser", "--id", "parser"],
        &["asdd", "init"],
        &["asdd", "add", "Sign in"],
        &["asdd", "quick", "Mend a typo"],
        &["flow", "graph", "create", "graph.yaml"],
        &["--actor", "human:Ada", "flow", "create", "release", "--id", "r1"],
        &["--actor", "human:Ada", "flow", "start", "r1"],
        &["flow", "next", "r1", "--claim", "--agent", "w1"],
    ] {
        succeeds(&sandbox, words);
    }
    sandbox
}

#[test]
fn status_and_query_show_all_five() {
    let sandbox = project();
    assert_snapshot!(sandbox.reads_only(&["status"]), @r"
    exit 0
    ── stdout
    ARTIFACT                  DONE  STATUS       NEXT                      PROBLEMS
    parser  Write the parser  -     available    task claim parser         -
    _autodev_state  Plan      2/11  in_progress  step-03-plan              1 warning
    flow  r1                  -     RUNNING      flow next r1              -
    executions (0 of 2 done)
      build  Build it         -     RUNNING      flow attempt end r1.bui…  -
      ship  Ship it           -     PENDING      flow next r1.ship         -
    slices (0 of 2 done)
      SLICE-001  Sign in      -     DISCOVERY    asdd begin SLICE-001      -
      SLICE-002  Mend a typo  -     QUICK_FIX    asdd begin SLICE-002      -
    Epic 1 (0 of 1 done)
      1-1-borrow              -     in-progress  status → review           -
    ");
    let query =
        "SELECT system, kind, title, status, parent FROM artifacts WHERE status IS NOT NULL ORDER BY path";
    assert_snapshot!(sandbox.stepmark(&["query", query]), @r"
    exit 0
    ── stdout
    SYSTEM        KIND            TITLE             STATUS       PARENT
    asdd          asdd-slice      Sign in           DISCOVERY    -
    asdd          asdd-slice      Mend a typo       QUICK_FIX    -
    coordination  task            Write the parser  available    -
    autodev       -               Plan              in_progress  -
    flows         task-graph      Release           FROZEN       -
    flows         task-flow       r1                RUNNING      -
    flows         task-execution  Build it          RUNNING      r1
    flows         task-execution  Ship it           PENDING      r1
    -             -               -                 in-progress  -
    9 rows
    ");
    assert_snapshot!(sandbox.reads_only(&["tree"]), @r"
    exit 0
    ── stdout
    ARTIFACT                              AGENT  DONE  STATUS
    flows/r1/flow.md  r1                  -      -     RUNNING
    ├─ flows/r1/tasks/build.md  Build it  -      -     RUNNING
    └─ flows/r1/tasks/ship.md  Ship it    -      -     PENDING
    ");
}

#[test]
fn the_page_shows_all_five_and_slices_and_flows_whole() {
    let sandbox = project();
    succeeds(&sandbox, &["report", "state.html"]);
    let page = String::from_utf8(sandbox.read("state.html")).unwrap();
    for part in [
        "Story 1.1: Borrow",
        "stepmark autodev complete",
        "stepmark task claim parser",
        "stepmark asdd begin SLICE-001",
        "stepmark flow attempt end r1.build",
        "href=\"#flows\"",
        "href=\"#slices\"",
        "aria-label=\"Build it: RUNNING, attempt 1 of 1\"",
        "aria-label=\"Ship it: PENDING, attempt 0 of 1\"",
        "<h3>QUICK_FIX <span class=\"quiet\">1</span></h3>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let board = page.split_once("id=\"board\"").unwrap().1.split_once("id=\"progress\"").unwrap().0;
    for name in ["Story 1.1: Borrow", "Plan", "Write the parser", "Sign in", "Build it"] {
        assert!(board.contains(name), "{name}");
    }
}

#[test]
fn all_five_have_tickets_and_tasks_hang_below_their_flow() {
    let sandbox = project();
    succeeds(&sandbox, &["sync", "apply"]);
    let text = String::from_utf8(sandbox.read("out/tickets.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let made: Vec<String> = lines
        .iter()
        .filter(|line| line["done"] == "created")
        .map(|line| format!("{} below {}", line["ticket"]["title"], line["ticket"]["parent"]))
        .collect();
    assert_snapshot!(made.join("\n"), @r#"
    "Sign in" below null
    "Mend a typo" below null
    "Write the parser" below null
    "Plan" below null
    "r1" below null
    "Story 1.1: Borrow" below null
    "Build it" below "five/id:r1"
    "Ship it" below "five/id:r1"
    "#);
}
