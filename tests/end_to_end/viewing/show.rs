//! `stepmark show`

use insta::assert_snapshot;

use crate::harness::{
    Sandbox,
    demo::{BRAINSTORMING, EPICS, PRD, RESEARCH},
};

#[test]
fn shows_state_steps_and_reasons() {
    assert_snapshot!(Sandbox::demo().reads_only(&["show", PRD]), @r"
    exit 0
    ── stdout
    artifact   _bmad-output/planning-artifacts/prd.md
    workflow   create-prd
    because    `workflowType` says `prd`; 5 listed steps are its steps
    status     draft
    lifecycle  bmad-prd, state `draft`; its type is known: its `status` is `draft`, its `workflowType` is `prd`
    work state underway
    done       ████░░░░░░ 5/14
    next       step-04-journeys
    inputs     _bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md
    listed     step-01-init, step-02-discovery, step-02b-vision, step-02c-executive-summary, step-03-success
      [x] step-01-init
      [x] step-02-discovery
      [x] step-02b-vision
      [x] step-02c-executive-summary
      [x] step-03-success
      [ ] step-04-journeys
      [ ] step-05-domain
      [ ] step-06-innovation
      [ ] step-07-project-type
      [ ] step-08-scoping
      [ ] step-09-functional
      [ ] step-10-nonfunctional
      [ ] step-11-polish
      [ ] step-12-complete
    ");
}

#[test]
fn shows_a_choice_as_one_step() {
    assert_snapshot!(Sandbox::demo().reads_only(&["show", BRAINSTORMING]), @r"
    exit 0
    ── stdout
    artifact   _bmad-output/brainstorming/brainstorming-session-2026-01-12.md
    workflow   brainstorming
    because    2 listed steps are its steps
    work state underway
    done       █████░░░░░ 2/4
    next       step-03-technique-execution
    listed     step-01-session-setup, step-02b-ai-recommended
      [x] step-01-session-setup
      [x] step-02a-user-selected | step-02b-ai-recommended | step-02c-random-selection | step-02d-progressive-flow
      [ ] step-03-technique-execution
      [ ] step-04-idea-organization
    ");
}

#[test]
fn shows_what_is_wrong() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["show", EPICS]), @r"
    exit 0
    ── stdout
    artifact   _bmad-output/planning-artifacts/epics.md
    workflow   -
    status     draft
    inputs     prd.md, architecture.md
    listed     step-01-validate-prerequisites, step-02-design-epics
    error[SM106]: the key `status` stands twice, and readers disagree on which one counts
     --> _bmad-output/planning-artifacts/epics.md:5:1
      |
    5 | status: approved
      | ^^^^^^
      |
      = help: keep one of them; stepmark reads the first and edits neither
    ");
    assert_snapshot!(demo.reads_only(&["show", RESEARCH]), @r#"
    exit 0
    ── stdout
    artifact   _bmad-output/planning-artifacts/market-research-2026-01-13.md
    workflow   -
    error[SM103]: not YAML: invalid trailing content after single-quoted scalar
     --> _bmad-output/planning-artifacts/market-research-2026-01-13.md:3:27
      |
    3 | research_topic: 'Lending' in cities
      |                           ^
      |
      = help: put the value in quotes: "'Lending' in cities"
      = fix: put in quotes what is no YAML without them (`stepmark check --fix --unsafe-fixes`)
    "#);
}

#[test]
fn answers_in_json_with_all_keys() {
    let demo = Sandbox::demo();
    let answer = demo.reads_only(&["show", "--json", PRD]).json("stepmark.show/2");
    assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap(), @r#"
    {
      "schema": "stepmark.show/2",
      "path": "_bmad-output/planning-artifacts/prd.md",
      "title": null,
      "id": null,
      "workflow": "create-prd",
      "track": "create",
      "workflow_candidates": [],
      "steps_completed": [
        "step-01-init",
        "step-02-discovery",
        "step-02b-vision",
        "step-02c-executive-summary",
        "step-03-success"
      ],
      "done": 5,
      "total": 14,
      "work_state": "underway",
      "next": [
        {
          "id": "step-04-journeys",
          "file": "_bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-04-journeys.md"
        }
      ],
      "alternatives": [],
      "status": "draft",
      "scope": null,
      "problems": {
        "errors": 0,
        "warnings": 0,
        "notes": 0
      },
      "file_hash": "e00879cffa4298fb6b7e825f7cdc09cb172947341d187d5dd74c3957569bef4d",
      "lifecycle": {
        "name": "bmad-prd",
        "state": "draft",
        "moves": [
          "in-review",
          "final"
        ],
        "because": [
          "its `status` is `draft`",
          "its `workflowType` is `prd`"
        ]
      },
      "frontmatter": {
        "stepsCompleted": [
          "step-01-init",
          "step-02-discovery",
          "step-02b-vision",
          "step-02c-executive-summary",
          "step-03-success"
        ],
        "inputDocuments": [
          "_bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md"
        ],
        "workflowType": "prd",
        "status": "draft",
        "owner": "Mira"
      }
    }
    "#);
    let broken = demo.reads_only(&["show", "--json", RESEARCH]).json("stepmark.show/2");
    assert_eq!(
        (&broken["frontmatter"], &broken["problems"]["errors"]),
        (&serde_json::Value::Null, &1.into())
    );
}

#[test]
fn shows_the_lifecycle_of_a_story() {
    let demo = Sandbox::demo();
    let story = "_bmad-output/implementation-artifacts/1-1-borrow-a-tool.md";
    let run = demo.reads_only(&["show", story]);
    let line = run.stdout.lines().find(|line| line.starts_with("lifecycle")).unwrap();
    assert_snapshot!(line, @"lifecycle  bmad-story, state `in-progress`; its type is known: its path fits `**/[0-9]*-[0-9]*-*.md`, its heading is `Story 1.1: Borrow a tool`");
    let answer = demo.reads_only(&["show", "--json", story]).json("stepmark.show/2");
    assert_eq!(answer["lifecycle"]["state"], "in-progress");
}

#[test]
fn takes_paths_from_where_it_runs() {
    let demo = Sandbox::demo();
    let wanted = demo.stepmark(&["show", PRD]);
    let root = demo.root().to_str().unwrap().to_owned();
    let absolute = demo.place(PRD);
    let planning = demo.place("_bmad-output/planning-artifacts");
    for (folder, arguments) in [
        (&planning, vec!["show", "prd.md"]),
        (&planning, vec!["show", "../planning-artifacts/./prd.md"]),
        (&demo.outside(), vec!["show", absolute.to_str().unwrap(), "--root", &root]),
        (&demo.outside(), vec!["--root", "../project", "show", PRD]),
        (
            &demo.outside(),
            vec!["--root", "../project", "show", "../project/_bmad-output/planning-artifacts/prd.md"],
        ),
    ] {
        let run = demo.run(demo.command(&arguments).current_dir(folder));
        assert_eq!(run, wanted, "{arguments:?} in {}", folder.display());
    }
}
