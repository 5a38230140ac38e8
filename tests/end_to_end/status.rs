//! `stepmark status`

use insta::assert_snapshot;

use crate::harness::{
    Sandbox,
    demo::PRD,
    sprint::{LEDGER, ledger, path, story},
};

#[test]
fn shows_every_artifact_and_writes_nothing() {
    assert_snapshot!(Sandbox::demo().reads_only(&["status"]), @r"
    exit 0
    ── stdout
    ARTIFACT                                                              WORKFLOW              DONE             NEXT                         STATUS       PROBLEMS
    _bmad-output/brainstorming/brainstorming-session-2026-01-12.md        brainstorming         █████░░░░░ 2/4   step-03-technique-execution  -            -
    _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md            -                     -                -                            in-progress  1 warning
    _bmad-output/planning-artifacts/architecture.md                       create-architecture   ███████░░░ 5/8   step-06-structure            -            -
    _bmad-output/planning-artifacts/epics.md                              -                     2/?              -                            draft        1 error
    _bmad-output/planning-artifacts/market-research-2026-01-13.md         -                     -                -                            -            1 error
    _bmad-output/planning-artifacts/prd.md                                create-prd            ████░░░░░░ 5/14  step-04-journeys             draft        -
    _bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md  create-product-brief  ██████████ 6/6   finished                     -            -
    ");
}

#[test]
fn answers_in_json() {
    let run = Sandbox::demo().reads_only(&["status", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let answer = run.json("stepmark.status/1");
    let artifacts = answer["artifacts"].as_array().unwrap();
    assert_eq!((&answer["root"], &answer["files"], artifacts.len()), (&"[ROOT]".into(), &7.into(), 7));
    let prd = artifacts.iter().find(|artifact| artifact["path"] == PRD).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(prd).unwrap(), @r#"
    {
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
      "standing": "underway",
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
      }
    }
    "#);
}

#[test]
fn quiet_leaves_out_remarks_alone() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["status", "-q"]), demo.stepmark(&["status"]));
    let empty = Sandbox::empty();
    assert_snapshot!(empty.reads_only(&["status"]), @r"
    exit 0
    ── stdout
    no artifact with workflow state among 0 Markdown files of [ROOT]
    ");
    assert_snapshot!(empty.reads_only(&["status", "--quiet"]), @"exit 0");
}

#[test]
fn finds_the_project_from_a_folder_inside_and_from_outside() {
    let demo = Sandbox::demo();
    let here = demo.stepmark(&["status"]);
    let inside =
        demo.run(demo.command(&["status"]).current_dir(demo.place("_bmad-output/planning-artifacts")));
    assert_eq!(inside, here);
    let root = demo.root().to_str().unwrap();
    let outside = demo.run(demo.command(&["status", "--root", root]).current_dir(demo.outside()));
    assert_eq!(outside, here);
}

#[test]
fn shows_the_readable_artifacts_beside_those_that_are_not() {
    let demo = Sandbox::demo();
    let large = std::fs::File::create(demo.place("large.md")).unwrap();
    large.set_len(64 * 1024 * 1024 + 1).unwrap();
    let run = demo.reads_only(&["status"]);
    assert_eq!(run.code, 4, "{run}");
    assert_eq!(run.stdout, Sandbox::demo().stepmark(&["status"]).stdout);
    assert_snapshot!(run.stderr, @"warning: cannot read `large.md`: it has more than the 67108864 bytes that stepmark reads");
    let answer = demo.reads_only(&["status", "--json"]).json("stepmark.status/1");
    assert_eq!(answer["unreadable"].as_array().unwrap().len(), 1, "{answer}");
}

/// A story that its lifecycle does not know the status of, one that its ledger contradicts, one that waits for its import.
fn sprint() -> Sandbox {
    let sandbox = Sandbox::empty();
    for (name, status) in [("1-1-lend", "blocked"), ("1-2-mend", "review"), ("1-3-count", "done")] {
        sandbox.write(&path(name), story(name, Some(status), None));
    }
    sandbox.write(&path("1-4-label"), story("1-4-label", None, Some("done")));
    let said =
        [("epic-1", "in-progress"), ("1-1-lend", "blocked"), ("1-2-mend", "done"), ("1-3-count", "done")];
    sandbox.write(LEDGER, ledger(&said));
    sandbox
}

#[test]
fn counts_what_check_finds() {
    let sandbox = sprint();
    assert_snapshot!(sandbox.reads_only(&["status"]), @r"
    exit 0
    ── stdout
    ARTIFACT                                            WORKFLOW  DONE  NEXT  STATUS   PROBLEMS
    _bmad-output/implementation-artifacts/1-1-lend.md   -         -     -     blocked  1 warning
    _bmad-output/implementation-artifacts/1-2-mend.md   -         -     -     review   1 warning
    _bmad-output/implementation-artifacts/1-3-count.md  -         -     -     done     -
    _bmad-output/implementation-artifacts/1-4-label.md  -         -     -     -        -
    ── stderr
    warning: 1 story has no status in its frontmatter and waits for `stepmark import stories`
    ");
    let checked = sandbox.reads_only(&["check", "--format", "json"]).json("stepmark.check/1");
    let counted = sandbox.reads_only(&["status", "--json"]).json("stepmark.status/1");
    let counts = counted["artifacts"].as_array().unwrap().iter().map(|artifact| &artifact["problems"]);
    let sum = |kind: &str| counts.clone().map(|counts| counts[kind].as_u64().unwrap()).sum::<u64>();
    let found = |severity: &str| {
        let all = checked["findings"].as_array().unwrap().iter();
        all.filter(|finding| finding["severity"] == severity).count() as u64
    };
    assert_eq!((sum("errors"), sum("warnings")), (found("error"), found("warning")));
    let listed = sandbox.reads_only(&["list", "--where", "problems>0", "--columns", "path"]);
    assert!(listed.stdout.contains("1-1-lend") && listed.stdout.contains("1-2-mend"), "{listed}");
    assert!(!listed.stdout.contains("1-3-count"), "{listed}");
    let all = sandbox.reads_only(&["list", "--sort", "-problems,path", "--columns", "problems,path"]);
    assert!(all.stdout.lines().nth(3).is_some_and(|line| line.starts_with('0')), "{all}");
}

#[test]
fn tells_of_a_ledger_that_cannot_be_read() {
    let sandbox = sprint();
    sandbox.write(LEDGER, "development_status: [unclosed\n");
    let run = sandbox.reads_only(&["status"]);
    let warning = format!("{LEDGER}: 1 error; `stepmark check` says what");
    assert!(run.stderr.contains(&warning), "{run}");
    let json = sandbox.reads_only(&["status", "--json"]).json("stepmark.status/1");
    assert_eq!(
        (&json["beside"][0]["path"], &json["beside"][0]["problems"]["errors"]),
        (&LEDGER.into(), &1.into())
    );
}

#[test]
fn counts_what_it_can_where_no_check_is_possible() {
    let sandbox = sprint();
    sandbox.write(".stepmark/baseline.json", "nonsense");
    let run = sandbox.reads_only(&["status"]);
    assert_eq!(run.code, 4, "{run}");
    assert!(run.stdout.contains("1-1-lend") && run.stderr.contains("baseline"), "{run}");
}
