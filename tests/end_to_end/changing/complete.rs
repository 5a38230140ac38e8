//! `stepmark complete`

use insta::assert_snapshot;

use crate::harness::{
    Run, Sandbox, changed_lines,
    demo::{ARCHITECTURE, BRIEF, EPICS, PRD},
};

/// Runs `stepmark complete PATH ARGUMENTS…` and shows what it did to the file.
fn complete(sandbox: &Sandbox, path: &str, arguments: &[&str]) -> (Run, String) {
    let before = sandbox.read(path);
    let run = sandbox.stepmark(&[&["complete", path], arguments].concat());
    let changed = changed_lines(&before, &sandbox.read(path));
    (run, changed)
}

#[test]
fn adds_a_step_in_the_spelling_of_its_neighbours() {
    let demo = Sandbox::demo();
    let (run, changed) = complete(&demo, PRD, &["4"]);
    assert_snapshot!(run, @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: written, 6/14, next: step-05-domain
    ");
    assert_snapshot!(changed, @"+  - 'step-04-journeys'");
}

#[test]
fn brings_last_step_along() {
    let demo = Sandbox::demo();
    let (run, changed) = complete(&demo, ARCHITECTURE, &["step-06-structure", "step-07-validation"]);
    assert_snapshot!(run, @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/architecture.md: written, 7/8, next: step-08-complete
    ");
    assert_snapshot!(changed, @r"
    -stepsCompleted: [1, 2, 3, 4, 5]
    +stepsCompleted: [1, 2, 3, 4, 5, 6, 7]
    -lastStep: 5
    +lastStep: 7
    ");
}

#[test]
fn walks_to_the_end_by_what_next_says() {
    let demo = Sandbox::demo();
    let mut walked = Vec::new();
    loop {
        let answer = demo.stepmark(&["next", PRD, "--json"]).json("stepmark.next/3");
        let Some(step) = answer["next"][0]["id"].as_str() else { break };
        let run = demo.stepmark(&["complete", PRD, step, "--strict"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
        walked.push(step.to_owned());
    }
    assert_eq!((walked.len(), walked.last().unwrap().as_str()), (9, "step-12-complete"));
    let answer = demo.stepmark(&["show", PRD, "--json"]).json("stepmark.show/2");
    assert_eq!(
        (&answer["done"], &answer["total"], &answer["work_state"]),
        (&14.into(), &14.into(), &"finished".into())
    );
    assert_eq!(answer["status"], "draft", "finishing is a person's decision");
}

#[test]
fn a_step_that_is_there_changes_nothing() {
    let demo = Sandbox::demo();
    demo.stepmark(&["complete", PRD, "4"]);
    for spelling in ["4", "04", "step-04-journeys", "step-04-journeys.md"] {
        let run = demo.reads_only(&["complete", PRD, spelling]);
        assert_eq!(run.code, 0, "{run}");
    }
    assert_snapshot!(demo.reads_only(&["complete", PRD, "4"]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: `4` is completed already
    _bmad-output/planning-artifacts/prd.md: nothing to write
    ");
    assert_eq!(demo.reads_only(&["complete", PRD, "4", "-q"]).to_string(), "exit 0\n");
    let answer = demo.reads_only(&["complete", PRD, "4", "--json"]).json("stepmark.change/2");
    assert_eq!(answer["changed"], false);
}

#[test]
fn answers_in_json() {
    let demo = Sandbox::demo();
    let run = demo.stepmark(&["complete", PRD, "step-06-innovation", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
    let answer = run.json("stepmark.change/2");
    let shown = demo.stepmark(&["show", PRD, "--json"]).json("stepmark.show/2");
    assert_eq!(answer["file_hash"], shown["file_hash"]);
    assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap(), @r#"
    {
      "schema": "stepmark.change/2",
      "path": "_bmad-output/planning-artifacts/prd.md",
      "changed": true,
      "file_hash": "78b31bce8dadeb59231fec423c43d54f915a089271eba872a8488c70edaf1543",
      "remarks": [
        "`step-06-innovation` is out of order: next is step-04-journeys; when they are done, too: `stepmark complete _bmad-output/planning-artifacts/prd.md step-04-journeys step-05-domain`; a step that was skipped is `step-04-journeys-skipped`"
      ],
      "workflow": "create-prd",
      "done": 6,
      "total": 14,
      "work_state": "underway",
      "next": [
        {
          "id": "step-07-project-type",
          "file": "_bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-07-project-type.md"
        }
      ],
      "alternatives": [],
      "status": "draft",
      "moves": [
        "in-review",
        "final"
      ]
    }
    "#);
}

#[test]
fn warns_of_what_is_unknown_or_out_of_order() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.stepmark(&["complete", PRD, "step-09-functional"]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: written, 6/14, next: step-10-nonfunctional
    ── stderr
    warning: _bmad-output/planning-artifacts/prd.md: `step-09-functional` is out of order: next is step-04-journeys; when they are done, too: `stepmark complete _bmad-output/planning-artifacts/prd.md step-04-journeys step-05-domain step-06-innovation step-07-project-type step-08-scoping`; a step that was skipped is `step-04-journeys-skipped`
    ");
    let insists = ["--force", "--reason", "ours"];
    let insist = |path: &str, step: &str| demo.stepmark(&[&["complete", path, step], &insists[..]].concat());
    assert_snapshot!(insist(PRD, "step-99-party"), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: written, 6/14, next: step-10-nonfunctional
    ── stderr
    warning: _bmad-output/planning-artifacts/prd.md: the workflow `create-prd` has no step `step-99-party`
    ");
    assert_snapshot!(insist(BRIEF, "step-07-more"), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md: written, 6/6, next: finished
    ── stderr
    warning: _bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md: the workflow `create-product-brief` has no step `step-07-more`
    ");
    let quiet = demo.stepmark(&["complete", PRD, "step-11-polish", "-q"]);
    assert_eq!((quiet.code, quiet.stdout.as_str()), (0, ""));
    assert!(quiet.stderr.contains("out of order"), "{quiet}");
}

#[test]
fn strict_refuses_them() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["complete", PRD, "step-09-functional", "--strict"]), @r"
    exit 1
    ── stderr
    error: `_bmad-output/planning-artifacts/prd.md` is left as it is
      cause: `step-09-functional` is out of order: next is step-04-journeys
      help: without `--strict` this is only a warning
    ");
    assert_snapshot!(demo.reads_only(&["complete", PRD, "step-99-party", "--strict"]), @r"
    exit 1
    ── stderr
    error: `_bmad-output/planning-artifacts/prd.md` is left as it is
      cause: the workflow `create-prd` has no step `step-99-party`
      help: without `--strict` this is only a warning
    ");
    let partly = demo.reads_only(&["complete", PRD, "step-04-journeys", "step-99-party", "--strict"]);
    assert_eq!(partly.code, 1, "all of it or nothing: {partly}");
}

#[test]
fn steps_that_were_left_out_are_completed_as_the_warning_says() {
    let demo = Sandbox::demo();
    let run = demo.stepmark(&["complete", PRD, "6"]);
    let way = format!("`stepmark complete {PRD} step-04-journeys step-05-domain`");
    assert!(run.code == 0 && run.stderr.contains(&way), "{run}");
    assert!(run.stderr.contains("`step-04-journeys-skipped`"), "{run}");
    let found = demo.stepmark(&["check", PRD]);
    assert!(found.stdout.contains("SM212") && found.stdout.contains(&way), "{found}");
    let (run, changed) = complete(&demo, PRD, &["5-skipped", "4"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
    assert_snapshot!(changed, @r"
    +  - 'step-04-journeys'
    +  - 'step-05-domain-skipped'
    ");
    let found = demo.stepmark(&["check", PRD]);
    assert!(!found.stdout.contains("SM21"), "{found}");
}

#[test]
fn a_list_out_of_order_is_put_in_order_as_its_finding_says() {
    let demo = Sandbox::demo();
    demo.write("prd-odd.md", "---\nworkflowType: prd\nstepsCompleted: [1, 03, 02c, 02b, 2]\n---\n# PRD\n");
    let found = demo.stepmark(&["check", "prd-odd.md"]);
    let way = "`stepmark reopen prd-odd.md 02c 02b 2`, then `stepmark complete prd-odd.md 02c 02b 2`";
    assert!(found.stdout.contains("SM211") && found.stdout.contains(way), "{found}");
    for command in ["reopen", "complete"] {
        let run = demo.stepmark(&[command, "prd-odd.md", "02c", "02b", "2"]);
        assert_eq!(run.code, 0, "{run}");
    }
    let found = demo.stepmark(&["check", "prd-odd.md"]);
    assert!(!found.stdout.contains("SM21"), "{found}");
}

#[test]
fn refuses_the_number_of_one_step_with_the_name_of_another() {
    let demo = Sandbox::demo();
    for (command, step) in [("complete", "step-04-banana"), ("reopen", "step-03-wrong")] {
        let run = demo.reads_only(&[command, PRD, step]);
        assert!(run.code == 1 && run.stderr.contains(&format!("no step is called `{step}`")), "{run}");
    }
    assert_snapshot!(demo.reads_only(&["complete", PRD, "step-09-innovation"]), @r"
    exit 1
    ── stderr
    error: `_bmad-output/planning-artifacts/prd.md` is left as it is
      cause: no step is called `step-09-innovation`; its number is that of `step-09-functional`; its name is that of `step-06-innovation`
      help: `stepmark show _bmad-output/planning-artifacts/prd.md` lists its steps: write the name of one, or its number alone
    ");
}

#[test]
fn starts_a_list_where_there_is_none() {
    let demo = Sandbox::demo();
    let name = || serde_json::json!("step-01-init");
    for (frontmatter, step, item) in [
        ("stepsCompleted: []\n", "1", name()),
        ("stepsCompleted: []\n", "01", name()),
        ("stepsCompleted: []\n", "1.10", "1.10".into()),
        ("stepsCompleted: []\n", "[x]", "[x]".into()),
        ("stepsCompleted: []\n", "true", "true".into()),
        ("stepsCompleted: []\n", "step-01-init", name()),
        ("stepsCompleted:\n", "step-01-init", name()),
        ("stepsCompleted: null # none yet\n", "step-01-init", name()),
        ("title: x\n", "step-01-init", name()),
        ("", "step-01-init", name()),
    ] {
        demo.write("prd-new.md", format!("---\n{frontmatter}---\n"));
        let (run, _) = complete(&demo, "prd-new.md", &[step, "--force", "--reason", "as it is"]);
        assert_eq!(run.code, 0, "{frontmatter:?}: {run}");
        let shown = demo.stepmark(&["show", "prd-new.md", "--json"]).json("stepmark.show/2");
        let listed = &shown["frontmatter"]["stepsCompleted"];
        assert_eq!(listed, &serde_json::json!([item]), "{frontmatter:?}");
    }
}

#[test]
fn keeps_every_other_byte() {
    let demo = Sandbox::demo();
    let rest = "title: \"T\"  # a comment\r\nother: {a: 1,   b: [x , y]}\r\nlastStep: 'step-01-init'";
    let body = "\r\n---\r\n# Body\r\n\r\nstepsCompleted: [not this one]\nlone LF, no line end";
    demo.write("prd-crlf.md", format!("\u{feff}---\r\nstepsCompleted: [ 'step-01-init' ]\r\n{rest}{body}"));
    let (run, changed) = complete(&demo, "prd-crlf.md", &["step-02-discovery"]);
    assert_eq!(run.code, 0, "{run}");
    assert_snapshot!(changed, @r"
    -stepsCompleted: [ 'step-01-init' ]␍
    +stepsCompleted: [ 'step-01-init', 'step-02-discovery' ]␍
    -lastStep: 'step-01-init'␍
    +lastStep: 'step-02-discovery'␍
    ");
}

#[test]
fn refuses_what_it_cannot_edit_faithfully() {
    let demo = Sandbox::demo();
    let twice = "---\nstepsCompleted: [1]\nstepsCompleted: [1, 2]\n---\n";
    demo.write("prd-twice.md", twice);
    assert_snapshot!(demo.reads_only(&["complete", "prd-twice.md", "3"]), @r"
    exit 1
    ── stderr
    error: cannot edit `prd-twice.md:3:1`: `stepsCompleted` is left as it is: the key `stepsCompleted` stands 2 times; keep one of them
      help: nothing was changed
    ");
    demo.write("prd-alias.md", "---\nstepsCompleted: &steps [1]\nbackup: *steps\n---\n");
    assert_snapshot!(demo.reads_only(&["complete", "prd-alias.md", "2"]), @r"
    exit 1
    ── stderr
    error: cannot edit `prd-alias.md:2:24`: `stepsCompleted` is left as it is: the alias `*steps` would change with it; write its value out first
      help: nothing was changed
    ");
    demo.write("prd-text.md", "---\nstepsCompleted: none\n---\n");
    assert_snapshot!(demo.reads_only(&["complete", "prd-text.md", "2"]), @r"
    exit 1
    ── stderr
    error: `prd-text.md` is left as it is
      cause: `stepsCompleted` is no list of steps
      help: `stepmark check prd-text.md` shows the place
    ");
    let (run, _) = complete(&demo, EPICS, &["step-03-create-stories"]);
    assert_eq!(run.code, 0, "another key stands twice there: {run}");
}

#[test]
fn a_list_of_steps_is_never_damaged() {
    let demo = Sandbox::demo();
    for (arguments, part) in [
        (&["complete", PRD, "step-77-nowhere"][..], "step-77-nowhere"),
        (&["complete", ARCHITECTURE, "no such step"], "no such step"),
        (&["set", PRD, "stepsCompleted=3"], "write the whole list"),
    ] {
        let run = demo.reads_only(arguments);
        assert!(run.code != 0 && run.stderr.contains(part), "{arguments:?}: {run}");
    }
    let run =
        demo.stepmark(&["complete", PRD, "step-77-nowhere", "--force", "--reason", "a step of our own"]);
    assert_eq!(run.code, 0, "{run}");
    demo.write("docs/numbers.md", "---\nstepsCompleted: [1, 2]\n---\n");
    let run = demo.stepmark(&["complete", "docs/numbers.md", "02b"]);
    assert!(run.code == 1 && run.stderr.contains("holds numbers"), "{run}");
    assert_eq!(demo.stepmark(&["complete", "docs/numbers.md", "3"]).code, 0);
    assert!(String::from_utf8(demo.read("docs/numbers.md")).unwrap().contains("[1, 2, 3]"));
}

#[test]
fn an_artifact_is_known_by_its_name() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["complete", "prd", "4"]).code, 0);
    assert!(demo.stepmark(&["log", "planning-artifacts/prd"]).stdout.contains("step-04-journeys"));
    for number in ["1-1", "1.1"] {
        assert!(demo.stepmark(&["show", number]).stdout.contains("1-1-borrow-a-tool"));
    }
    demo.write("docs/prd.md", "---\nstepsCompleted: [1]\n---\n");
    let run = demo.stepmark(&["next", "prd"]);
    assert!(run.code == 2 && run.stderr.contains("`docs/prd.md`") && run.stderr.contains(PRD), "{run}");
    assert_eq!(demo.stepmark(&["next", "nothing"]).code, 2);
}

/// BMAD's own resume looks for the names.
#[test]
fn the_first_step_of_a_known_workflow_is_written_by_its_name() {
    let demo = Sandbox::demo();
    demo.write(PRD, "---\nworkflowType: prd\nstepsCompleted: []\n---\n# PRD\n");
    assert_eq!(demo.stepmark(&["complete", PRD, "1"]).code, 0);
    let text = String::from_utf8(demo.read(PRD)).unwrap();
    assert!(text.contains("stepsCompleted: [step-01-init]"), "{text}");
    let run = demo.reads_only(&["complete", PRD, "journey"]);
    assert!(run.code == 1 && run.stderr.contains("(is `step-04-journeys` meant?)"), "{run}");
}

/// It has content and no step: somebody has to look at it before its first step runs again.
#[test]
fn what_was_interrupted_is_said_everywhere() {
    let demo = Sandbox::demo();
    demo.write(PRD, "---\nworkflowType: prd\nstepsCompleted: []\n---\n# PRD\n\nText.\n");
    assert!(
        demo.stepmark(&["status"]).stdout.contains("interrupted: look…"),
        "{}",
        demo.stepmark(&["status"])
    );
    let report = demo.stepmark(&["report", "page.html"]);
    assert!(report.stdout.contains("1 waiting") || report.stdout.contains("2 waiting"), "{report}");
}
