//! A project of BMAD, autodev and coordination: each view shows the work of all three, and nothing else.

use insta::assert_snapshot;

use super::coordination::{fails, succeeds};
use crate::harness::{Run, Sandbox};

const PARSER: &str = ".coordination/tasks/parser.md";
const TESTS: &str = ".coordination/tasks/tests.md";
const AUTODEV: &str = "_docs/_autodev_state.md";

/// The demo of BMAD, in its third step of autodev, with two tasks, the second of which is a part of the first
/// and waits for it, an agent and a discovery.
fn project() -> Sandbox {
    let sandbox = Sandbox::demo();
    let keys = "project_id: demo\nautodev: {}\ntrackers: {file: {path: out/tickets.jsonl}}\n";
    sandbox.write(".stepmark/config.yaml", keys);
    sandbox.write(AUTODEV, include_str!("../../../fixtures/autodev/plan.md"));
    for path in [
        "00_problem/problem.md",
        "00_problem/restrictions.md",
        "00_problem/acceptance_criteria.md",
        "00_problem/input_data/a.csv",
        "01_solution/solution_draft01.md",
    ] {
        sandbox.write(&format!("_docs/{path}"), "text\n");
    }
    succeeds(&sandbox, &["coordination", "init", "--goal", "Ship the tool library"]);
    succeeds(&sandbox, &["task", "add", "Write the parser\nwith care", "--id", "parser"]);
    succeeds(&sandbox, &["task", "add", "Test the parser", "--id", "tests", "--after", "parser"]);
    succeeds(&sandbox, &["coordination", "discover", "Titles repeat", "--agent", "w1", "--tag", "data"]);
    succeeds(&sandbox, &["set", TESTS, "parent_id=parser"]);
    succeeds(&sandbox, &["task", "claim", "--agent", "w1"]);
    // A program may give its agents a status, which is none of work.
    edit(&sandbox, ".coordination/agents/w1.md", "role: worker", "role: worker\nstatus: active");
    succeeds(&sandbox, &["coordination", "project"]);
    sandbox
}

fn edit(sandbox: &Sandbox, path: &str, from: &str, to: &str) {
    let text = String::from_utf8(sandbox.read(path)).unwrap();
    assert!(text.contains(from), "{text}");
    sandbox.write(path, text.replace(from, to));
}

fn reads(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let run = sandbox.stepmark(arguments);
    assert!(!run.stdout.contains("agents/w1") && !run.stdout.contains("discoveries/"), "{run}");
    run
}

#[test]
fn status_and_tree_show_the_work_of_each_system() {
    let sandbox = project();
    assert_snapshot!(reads(&sandbox, &["status"]), @r"
    exit 0
    ── stdout
    ARTIFACT                        DONE  STATUS       NEXT                PROBLEMS
    brainstorming-session-2026-01…  2/4   -            step-03-technique…  -
    architecture  Architecture de…  5/8   -            step-06-structure   -
    epics                           2/?   draft        -                   1 error
    market-research-2026-01-13      -     -            -                   1 error
    prd  Requirements: Toolshed     5/14  draft        step-04-journeys    -
    product-brief-toolshed-2026-0…  6/6   -            finished            -
    _autodev_state  Plan            2/11  in_progress  step-03-plan        -
    tasks (0 of 2 done)
      parser  Write the parser      -     claimed      task start parser   -
      tests  Test the parser        -     available    task claim tests    -
    Epic 1 (0 of 1 done)
      1-1-borrow-a-tool             -     in-progress  status → review     1 warning
    ");
    assert_snapshot!(reads(&sandbox, &["tree"]), @r"
    exit 0
    ── stdout
    ARTIFACT                                          AGENT  DONE  STATUS
    .coordination/tasks/parser.md  Write the parser   w1     -     claimed
    └─ .coordination/tasks/tests.md  Test the parser  -      -     available
    ");
    let status = reads(&sandbox, &["status", "--json"]).json("stepmark.status/2");
    assert_eq!((&status["total"], &status["status_only"]), (&10.into(), &0.into()), "{status}");
    let kinds: Vec<&str> =
        status["artifacts"].as_array().unwrap().iter().filter_map(|one| one["kind"].as_str()).collect();
    assert_eq!(kinds, ["task", "task", "autodev"]);
    for _ in 0..2 {
        let again = reads(&sandbox, &["status", "--json"]).json("stepmark.status/2");
        assert_eq!(again, status, "what is kept says the same");
    }
}

#[test]
fn each_record_names_the_command_of_its_system() {
    let sandbox = project();
    assert_snapshot!(reads(&sandbox, &["next", PARSER]), @r"
    exit 0
    ── stdout
    stepmark task start parser
      or to available, done, failed, cancelled
    ");
    assert_snapshot!(reads(&sandbox, &["show", PARSER]), @r"
    exit 0
    ── stdout
    artifact   .coordination/tasks/parser.md
    kind       task
    title      Write the parser
    id         parser
    workflow   -
    status     claimed
    lifecycle  cc-task, state `claimed`; its type is known: it has the key `status`, its `stepmark_kind` is `task`
    agent      w1
    command    stepmark task start parser
    ");
    let next = |path: &str| reads(&sandbox, &["next", path, "--json"]).json("stepmark.next/3");
    assert_eq!(next(TESTS)["command"], "stepmark task claim tests");
    assert_eq!(next(AUTODEV)["command"], "stepmark autodev complete");
    assert_eq!(next("_bmad-output/planning-artifacts/prd.md")["command"], serde_json::Value::Null);
    for (path, state, command) in [
        (PARSER, "pending", "task free parser"),
        (PARSER, "blocked", "task free parser"),
        (PARSER, "in_progress", "task done parser"),
        (PARSER, "failed", "task retry parser"),
        (AUTODEV, "not_started", "autodev start"),
    ] {
        let text = String::from_utf8(sandbox.read(path)).unwrap();
        let status = text.lines().find(|line| line.starts_with("status:")).unwrap();
        edit(&sandbox, path, status, &format!("status: {state}"));
        assert_eq!(next(path)["command"], format!("stepmark {command}"), "{state}");
    }
    assert_snapshot!(sandbox.reads_only(&["complete", TESTS, "one"]), @r"
    exit 1
    ── stderr
    error: `.coordination/tasks/tests.md` is left as it is
      cause: it has no list of steps: `stepmark task` moves it on
      help: `stepmark next .coordination/tasks/tests.md` says which command comes next
    ");
}

#[test]
fn the_page_and_the_tickets_call_tasks_by_their_description() {
    let sandbox = project();
    assert_eq!(sandbox.stepmark(&["track", AUTODEV]).code, 0);
    succeeds(&sandbox, &["report", "state.html"]);
    let page = String::from_utf8(sandbox.read("state.html")).unwrap();
    for part in [
        "Write the parser",
        "stepmark task start parser",
        "Story 1.1: Borrow a tool",
        "stepmark autodev complete",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // History tells of all that happened; work is what stands above it.
    let (work, _) = page.split_once("id=\"timeline\"").unwrap();
    assert!(!work.contains("agents/w1.md") && !work.contains("discoveries/") && !work.contains("with care"));
    assert_snapshot!(reads(&sandbox, &["sync", "plan", "--quiet"]), @r"
    exit 0
    ── stdout
    create          .coordination/tasks/parser.md
    create          _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md
    create          _docs/_autodev_state.md
    create          .coordination/tasks/tests.md
    ── stderr
    warning: 5 artifacts get no ticket: without an id a ticket is lost when the file moves: run `stepmark track --all` once (_bmad-output/brainstorming/brainstorming-session-2026-01-12.md, _bmad-output/planning-artifacts/architecture.md, _bmad-output/planning-artifacts/epics.md and 2 more)
    warning: _bmad-output/planning-artifacts/market-research-2026-01-13.md gets no ticket: its frontmatter cannot be read: `stepmark check` says why; until then its ticket stays as it is, and none is pruned
    ");
    // One file of the demo cannot be read, which is told.
    assert_eq!(sandbox.stepmark(&["sync", "apply"]).code, 1);
    let tickets = String::from_utf8(sandbox.read("out/tickets.jsonl")).unwrap();
    let titles: Vec<String> = tickets
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|line| line["done"] == "created")
        .map(|line| line["ticket"]["title"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(titles, ["Write the parser", "Story 1.1: Borrow a tool", "Plan", "Test the parser"]);
    succeeds(&sandbox, &["autodev", "complete"]);
    let plan = reads(&sandbox, &["sync", "plan", "--quiet"]);
    let changes: Vec<&str> = plan.stdout.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(changes, ["update          _docs/_autodev_state.md #3"], "{plan}");
}

#[test]
fn a_query_and_a_list_have_titles_and_agents_of_all() {
    let sandbox = project();
    let query = "SELECT path, title, status, agent FROM artifacts WHERE title IS NOT NULL ORDER BY path";
    assert_snapshot!(sandbox.stepmark(&["query", query]), @r"
    exit 0
    ── stdout
    PATH                           TITLE                  STATUS       AGENT
    .coordination/coordination.md  Ship the tool library  -            -
    .coordination/tasks/parser.md  Write the parser       claimed      w1
    .coordination/tasks/tests.md   Test the parser        available    -
    _docs/_autodev_state.md        Plan                   in_progress  -
    4 rows
    ── stderr
    warning: 1 file could not be asked: `stepmark check` shows what is wrong
    ");
    let list = [
        "list",
        "--where",
        "agent=w1 and status is not empty and path~tasks",
        "--columns",
        "path,title,parent",
    ];
    assert_snapshot!(sandbox.stepmark(&list), @r"
    exit 0
    ── stdout
    PATH                           TITLE             PARENT
    .coordination/tasks/parser.md  Write the parser  -
    ── stderr
    warning: 1 file could not be asked: `stepmark check` shows what is wrong
    ");
    // Two records were edited by hand: a person accepts that.
    for (path, pair) in [(TESTS, "parent_id=parser"), (".coordination/agents/w1.md", "status=active")] {
        succeeds(&sandbox, &["set", path, pair, "--force", "--reason", "agreed"]);
    }
    let check = sandbox.stepmark(&["check", ".coordination", "_docs"]);
    assert_eq!(check.code, 0, "{check}");
}

#[test]
fn a_task_is_done_after_its_parts() {
    let sandbox = project();
    succeeds(&sandbox, &["set", TESTS, "dependencies=[]"]);
    fails(
        &sandbox,
        &["task", "done", "parser", "--agent", "w1"],
        "help: its parts come first: `stepmark tree`",
    );
    succeeds(&sandbox, &["task", "claim", "tests", "--agent", "w2"]);
    succeeds(&sandbox, &["task", "done", "tests", "--agent", "w2"]);
    succeeds(&sandbox, &["task", "done", "parser", "--agent", "w1"]);
    let status = reads(&sandbox, &["status"]);
    assert!(status.stdout.contains("tasks (2 of 2 done)"), "{status}");
}
