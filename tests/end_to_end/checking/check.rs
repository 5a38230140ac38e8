//! `stepmark check`

use insta::assert_snapshot;

use crate::harness::{
    Repository, Sandbox,
    demo::{ARCHITECTURE, BRIEF, EPICS, PRD, STORY},
};

#[test]
fn shows_findings_where_they_are() {
    assert_snapshot!(Sandbox::demo().reads_only(&["check"]), @r#"
    exit 1
    ── stdout
    warning[SM302]: the body says `Status: review`, the frontmatter says `status: in-progress`
     --> _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md:8:9
      |
    8 | Status: review
      |         ^^^^^^
      |
      = help: `stepmark import stories --prefer furthest _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md` takes in what is further along, as after a workflow of BMAD; where the frontmatter is right, `stepmark project --ledgers` makes the line say the same

    error[SM106]: the key `status` stands twice, and readers disagree on which one counts
     --> _bmad-output/planning-artifacts/epics.md:5:1
      |
    5 | status: approved
      | ^^^^^^
      |
      = help: keep one of them; stepmark reads the first and edits neither

    error[SM103]: not YAML: invalid trailing content after single-quoted scalar
     --> _bmad-output/planning-artifacts/market-research-2026-01-13.md:3:27
      |
    3 | research_topic: 'Lending' in cities
      |                           ^
      |
      = help: put the value in quotes: "'Lending' in cities"
      = fix: put in quotes what is no YAML without them (`stepmark check --fix --unsafe-fixes`)

    note[SM303]: `date` still holds the placeholder of its template
     --> _bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md:5:7
      |
    5 | date: { system-date }
      |       ^^^^^^^^^^^^^^^
      |
      = help: fill it in

    7 artifacts: 2 errors, 1 warning, 1 note
    `--fix --unsafe-fixes` fixes 1 of them
    "#);
}

#[test]
fn ends_by_the_worst_finding() {
    let demo = Sandbox::demo();
    for (path, code) in [(PRD, 0), (ARCHITECTURE, 0), (BRIEF, 0), (STORY, 1), (EPICS, 1), ("_bmad", 0)] {
        let run = demo.reads_only(&["check", path]);
        assert_eq!(run.code, code, "{path}: {run}");
    }
    assert_snapshot!(demo.reads_only(&["check", BRIEF, "-q"]), @"exit 0");
    assert_snapshot!(demo.reads_only(&["check", PRD]), @r"
    exit 0
    ── stdout
    1 artifact: 0 errors, 0 warnings, 0 notes
    ");
}

#[test]
fn takes_files_and_folders() {
    let demo = Sandbox::demo();
    let count = |arguments: &[&str]| {
        let run = demo.reads_only(&[&["check", "--json"], arguments].concat());
        run.json("stepmark.check/1")["artifacts"].as_u64().unwrap()
    };
    assert_eq!(count(&[]), 7);
    assert_eq!(count(&["."]), 7);
    assert_eq!(count(&["_bmad-output/planning-artifacts"]), 5);
    assert_eq!(count(&["_bmad-output/planning-artifacts/", PRD, PRD]), 5, "each once");
    assert_eq!(count(&[PRD, STORY]), 2);
    let by_root = demo
        .run(demo.command(&["check", "--root", "../project", "_bmad-output"]).current_dir(demo.outside()));
    assert!(by_root.stdout.contains("7 artifacts"), "{by_root}");
}

#[test]
fn answers_in_json_with_places() {
    let answer = Sandbox::demo().reads_only(&["check", "--json", EPICS]).json("stepmark.check/1");
    assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap(), @r#"
    {
      "schema": "stepmark.check/1",
      "artifacts": 1,
      "findings": [
        {
          "id": "SM106",
          "rule": "key-twice",
          "name": "key-twice",
          "severity": "error",
          "path": "_bmad-output/planning-artifacts/epics.md",
          "line": 5,
          "column": 1,
          "end_line": 5,
          "end_column": 7,
          "offset": 139,
          "end_offset": 145,
          "message": "the key `status` stands twice, and readers disagree on which one counts",
          "help": "keep one of them; stepmark reads the first and edits neither",
          "fix": null
        }
      ],
      "more": 0,
      "unreadable": [],
      "counts": {
        "errors": 1,
        "warnings": 0,
        "notes": 0
      },
      "fixable": {
        "safe": 0,
        "unsafe": 0
      },
      "fixed": [],
      "declined": [],
      "left_out": {
        "suppressed": 0,
        "known": 0,
        "gone": 0
      }
    }
    "#);
}

#[test]
fn steps_are_held_against_their_workflow() {
    let demo = Sandbox::demo();
    demo.write(
        "prd-odd.md",
        "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-03-success, step-02-discovery, step-01b-continue,\n  step-42-other, step-03-success]\nlastStep: step-01-init\n---\n# PRD\n",
    );
    assert_snapshot!(demo.reads_only(&["check", "prd-odd.md"]), @r"
    exit 1
    ── stdout
    note[SM212]: later steps are listed, but not `step-02b-vision`, `step-02c-executive-summary`
     --> prd-odd.md:3:17
      |
    3 | stepsCompleted: [step-01-init, step-03-success, step-02-discovery, step-01b-continue,
      |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: `stepmark complete prd-odd.md step-02b-vision step-02c-executive-summary`; a step that was skipped is `step-02b-vision-skipped`

    warning[SM211]: `step-02-discovery` stands after a later step
     --> prd-odd.md:3:49
      |
    3 | stepsCompleted: [step-01-init, step-03-success, step-02-discovery, step-01b-continue,
      |                                                 ^^^^^^^^^^^^^^^^^
      |
      = help: `stepmark reopen prd-odd.md step-02-discovery`, then `stepmark complete prd-odd.md step-02-discovery` puts it in its place

    note[SM213]: `step-01b-continue` marks a resumed session; it is not progress
     --> prd-odd.md:3:68
      |
    3 | stepsCompleted: [step-01-init, step-03-success, step-02-discovery, step-01b-continue,
      |                                                                    ^^^^^^^^^^^^^^^^^
      |
      = fix: remove the mark (`stepmark check --fix --unsafe-fixes`)

    warning[SM209]: the workflow has no step `step-42-other`
     --> prd-odd.md:4:3
      |
    4 |   step-42-other, step-03-success]
      |   ^^^^^^^^^^^^^
      |
      = help: `stepmark show` lists its steps

    warning[SM204]: `step-03-success` stands twice in `stepsCompleted`
     --> prd-odd.md:4:18
      |
    4 |   step-42-other, step-03-success]
      |                  ^^^^^^^^^^^^^^^
      |
      = help: remove it
      = fix: remove the repetition (`stepmark check --fix --unsafe-fixes`)

    note[SM214]: `lastStep: step-01-init` is not the last step of the list
     --> prd-odd.md:5:11
      |
    5 | lastStep: step-01-init
      |           ^^^^^^^^^^^^
      |
      = help: the list counts
      = fix: make it `step-02-discovery` (`stepmark check --fix --unsafe-fixes`)

    1 artifact: 0 errors, 3 warnings, 3 notes
    `--fix --unsafe-fixes` fixes 3 of them
    ");
}

/// Public BMAD projects have these in number, and their maintainers would call findings noise.
#[test]
fn what_agents_write_there_is_no_finding() {
    let demo = Sandbox::demo();
    demo.write("plans/shop/research/a.md", "# A\n");
    for (name, frontmatter) in [
        (
            "parts.md",
            "workflowType: epics\nstepsCompleted: ['step-03-create-stories:epic-1', 'step-03-create-stories:epic-2']",
        ),
        (
            "inputs.md",
            "status: draft\ninputDocuments: ['docs/gone.md (targeted extraction)', 'docs/gone.md (2 of 3)']",
        ),
        (
            "plans/shop/research/inputs.md",
            "status: draft\ninputDocuments: ['research/a.md', 'shop/research/a.md § 3 Goals', 'docs/gone.md (and b.md): the rest']",
        ),
        (
            "installed.md",
            "status: draft\ninputDocuments: [_bmad/tea/config.yaml, .agents/skills/x/a.md, resources/knowledge/a.md]",
        ),
        ("text.md", "status: complete"),
        (
            "edits.md",
            "stepsCompleted: [step-e-01-discovery, step-e-03-edit, step-e-01-discovery, step-e-03-edit]",
        ),
    ] {
        demo.write(name, format!("---\n{frontmatter}\n---\n# Text\n\n- [ ] a box\n"));
        let run = demo.reads_only(&["check", name]).to_string();
        assert!(run.contains("exit 0") && run.contains("0 warnings"), "{name}: {run}");
    }
    // Only its name says that it may be a workflow's.
    demo.write("architecture-elsewhere.md", "---\nstatus: Done\nstepsCompleted: [1, 2, 3, 4]\n---\n# Text\n");
    let run = demo.reads_only(&["check", "architecture-elsewhere.md"]).to_string();
    assert!(
        run.contains("0 warnings")
            && demo.reads_only(&["show", "architecture-elsewhere.md"]).stdout.contains("4/8"),
        "{run}"
    );
    demo.write("architecture-old.md", "---\nstepsCompleted: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n---\n# Text\n");
    demo.write("quotes.md", "# Both\n\n## The first\n\n---\ntitle: A\n---\n\ntext\n");
    for name in ["architecture-old.md", "quotes.md"] {
        let run = demo.reads_only(&["check", name]).to_string();
        assert!(run.contains("exit 0") && run.contains("0 warnings"), "{name}: {run}");
    }
    demo.write("absolute.md", "---\nstatus: draft\ninputDocuments: ['C:\\docs\\brief.md']\n---\n# Text\n");
    let run = demo.reads_only(&["check", "absolute.md"]).to_string();
    assert!(run.contains("SM401") && !run.contains("SM402"), "{run}");
}

/// An update of BMAD may leave the folder of a workflow behind that is a skill of another name now.
#[test]
fn a_workflow_left_behind_does_not_take_what_a_newer_one_wrote() {
    let project = Sandbox::empty();
    for (folder, steps) in [
        (
            "_bmad/bmm/workflows/prd/steps-c",
            ["step-01-init", "step-02-discovery", "step-03-success"].as_slice(),
        ),
        ("_bmad/bmm/workflows/prd/steps-e", &["step-e-01-discovery", "step-e-02-review"]),
        (
            ".claude/skills/bmad-create-prd/steps-c",
            &["step-01-init", "step-02-discovery", "step-02b-vision", "step-03-success"],
        ),
    ] {
        for step in steps {
            project.write(&format!("{folder}/{step}.md"), "# Step\n");
        }
    }
    let steps =
        "[step-01-init.md, step-02-discovery.md, step-02b-vision.md, step-e-01-discovery, step-e-02-review]";
    project.write("docs/prd.md", format!("---\nworkflowType: prd\nstepsCompleted: {steps}\n---\n# PRD\n"));
    let run = project.reads_only(&["check"]);
    assert!(run.code == 0 && run.stdout.contains("0 warnings"), "{run}");
    let run = project.reads_only(&["next", "docs/prd.md"]);
    assert!(run.stdout.contains(".claude/skills/bmad-create-prd/steps-c/step-03-success.md"), "{run}");
}

/// Every format says the same findings, and ends the same way.
#[test]
fn speaks_to_programs() {
    let demo = Sandbox::demo();
    demo.write("docs/a b: 100%.md", "---\nstatus: x\nstatus: y\nstepsCompleted: [a, a]\n---\n");
    for (format, start, place) in [
        ("human", "error[SM106]: ", " --> docs/a b: 100%.md:3:1\n"),
        ("short", "_bmad-output/", "docs/a b: 100%.md:3:1: error SM106 the key `status`"),
        ("json", "{\"schema\":\"stepmark.check/1\"", "\"path\":\"docs/a b: 100%.md\",\"line\":3"),
        ("sarif", "{\n  \"$schema\"", "\"uri\": \"docs/a%20b%3A%20100%25.md\""),
        ("github", "::warning file=_bmad-output/", "::error file=docs/a b%3A 100%25.md,line=3,"),
        ("junit", "<?xml version=\"1.0\" ", "classname=\"docs/a b: 100%.md\""),
    ] {
        let run = demo.reads_only(&["check", "--format", format, "--color", "never"]);
        assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{format}");
        let starts = run.stdout.starts_with(start) || format == "human" && run.stdout.contains(start);
        assert!(starts && run.stdout.contains(place) && !run.has_escape_codes(), "{format}: {run}");
        let same = demo.reads_only(&["check", "--format", format, "--color", "never"]);
        assert_eq!(run, same, "{format}");
    }
    assert_eq!(demo.reads_only(&["check", "--json"]), demo.reads_only(&["check", "--format", "json"]));
    let run = demo.reads_only(&["check", "--json", "--format", "sarif"]);
    assert_eq!(run.code, 2, "{run}");
    let run = demo.reads_only(&["--json", "check", "--format", "sarif"]);
    assert_eq!(run.code, 2, "{run}");
}

#[test]
fn colours_are_for_people_alone() {
    let demo = Sandbox::demo();
    for (format, has_colours) in [
        ("human", true),
        ("short", false),
        ("json", false),
        ("sarif", false),
        ("github", false),
        ("junit", false),
    ] {
        let run = demo.reads_only(&["check", "--format", format, "--color", "always"]);
        assert_eq!(run.has_escape_codes(), has_colours, "{format}: {run}");
    }
}

#[test]
fn severities_are_the_projects_choice() {
    let demo = Sandbox::demo();
    demo.write(".stepmark/config.yaml", "check: {rules: {SM106: note, status-disagrees: off}}\n");
    let run = demo.reads_only(&["check", EPICS, STORY]);
    assert!(run.code == 0 && run.stdout.contains("note[SM106]") && !run.stdout.contains("SM302"), "{run}");
    let run = demo.reads_only(&["check", EPICS, "--config", "check.rules.SM106=error"]);
    assert!(run.code == 1 && run.stdout.contains("error[SM106]"), "{run}");
    demo.write(".stepmark/config.yaml", "check: {rules: {SM9: off}}\n");
    let run = demo.reads_only(&["check"]);
    assert!(run.code == 4 && run.stderr.contains("there is no rule `SM9`"), "{run}");
}

#[test]
fn what_is_accepted_with_a_reason_is_not_reported() {
    let demo = Sandbox::demo();
    let accepted = "---\nid: x\n# stepmark: allow SM303 the date is filled in at the release\ndate: '{{date}}'\nstatus: draft\n---\n";
    demo.write("accepted.md", accepted);
    let run = demo.reads_only(&["check", "accepted.md"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "1 artifact: 0 errors, 0 warnings, 0 notes; 1 suppressed\n")
    );
    demo.write(
        "idle.md",
        accepted.replace("'{{date}}'", "2026-11-22").replace(" the date is filled in at the release", ""),
    );
    let run = demo.reads_only(&["check", "idle.md"]);
    assert!(run.code == 1 && run.stdout.contains("[SM001]") && run.stdout.contains("[SM002]"), "{run}");
    assert_eq!(demo.reads_only(&["status", "--json"]).code, 0);
    demo.write(
        ".stepmark/config.yaml",
        "check: {allow: [{rules: [key-twice], paths: ['**/epics.md'], reason: the tool that reads it takes both}]}\n",
    );
    let run = demo.reads_only(&["check", EPICS]);
    assert!(run.code == 0 && run.stdout.contains("1 suppressed"), "{run}");
}

#[test]
fn a_baseline_leaves_what_is_new() {
    let demo = Sandbox::demo();
    let run = demo.stepmark(&["check", "--write-baseline"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ".stepmark/baseline.json: 4 findings\n"), "{run}");
    assert_snapshot!(String::from_utf8(demo.read(".stepmark/baseline.json")).unwrap(), @r#"
    {"schema": "stepmark.baseline/1", "findings": [
      {"path":"_bmad-output/implementation-artifacts/1-1-borrow-a-tool.md","rule":"SM302","message":"048512dce68095c2","count":1},
      {"path":"_bmad-output/planning-artifacts/epics.md","rule":"SM106","message":"d80f33e1ca4d06e5","count":1},
      {"path":"_bmad-output/planning-artifacts/market-research-2026-01-13.md","rule":"SM103","message":"6cca29e45330ca20","count":1},
      {"path":"_bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md","rule":"SM303","message":"44056dc764816076","count":1}
    ]}
    "#);
    let run = demo.reads_only(&["check"]);
    assert_eq!(
        run.to_string(),
        "exit 0\n── stdout\n7 artifacts: 0 errors, 0 warnings, 0 notes; 4 known from the baseline\n"
    );
    let epics = String::from_utf8(demo.read(EPICS)).unwrap();
    demo.write(EPICS, epics.replacen("---\n", "---\nowner: Mira\nowner: Ada\n", 1));
    let run = demo.reads_only(&["check"]);
    assert!(
        run.code == 1
            && run.stdout.contains("`owner` stands twice")
            && !run.stdout.contains("`status` stands"),
        "{run}"
    );
    demo.write(EPICS, epics.replace("status: approved\n", ""));
    let run = demo.reads_only(&["check", "--json"]).json("stepmark.check/1");
    assert_eq!((run["left_out"]["known"].as_u64(), run["left_out"]["gone"].as_u64()), (Some(3), Some(1)));
    demo.write(".stepmark/baseline.json", "[]");
    let run = demo.reads_only(&["check"]);
    assert!(run.code == 4 && run.stderr.contains("baseline.json"), "{run}");
    assert_eq!(demo.reads_only(&["check", "--write-baseline", EPICS]).code, 2);
}

#[test]
fn gates_that_do_not_fit_are_no_failure() {
    let Some(repository) = Repository::of_demo("gates and stash") else { return };
    assert_eq!(repository.stepmark(&["init"]).code, 0);
    repository.sandbox.write(".stepmark/config.yaml", "gates: true\n");
    repository.commit("one");
    let step = repository.stepmark(&["complete", PRD, "4"]);
    assert_eq!(step.code, 0, "{step}");
    repository.git(&["stash", "--quiet"]);
    let checked = repository.stepmark(&["check", PRD]);
    assert!(checked.code == 0 && checked.stdout.contains("note[SM601]"), "{checked}");
    repository.git(&["stash", "pop", "--quiet"]);
    assert_eq!(repository.stepmark(&["check", PRD]).code, 0);
}

#[test]
fn a_merge_conflict_is_called_that_everywhere() {
    let demo = Sandbox::demo();
    let told = "a merge conflict begins here that nobody has resolved: both versions stand in the file";
    for (text, line) in [
        (
            "---\nid: P\n<<<<<<< HEAD\nstepsCompleted: [1]\n=======\nstepsCompleted: [2]\n>>>>>>> other\n---\n",
            3,
        ),
        ("<<<<<<< HEAD\n---\nid: P\n---\n=======\n---\nid: P\nstatus: done\n---\n>>>>>>> other\n", 1),
    ] {
        demo.write("docs/prd.md", text);
        let checked = demo.reads_only(&["check", "docs/prd.md"]);
        assert!(checked.code == 1 && checked.stdout.contains(told), "{checked}");
        assert!(checked.stdout.contains(&format!("docs/prd.md:{line}:1")), "{checked}");
        for command in
            [&["show", "docs/prd.md"][..], &["next", "docs/prd.md"], &["complete", "docs/prd.md", "3"]]
        {
            let run = demo.reads_only(command);
            assert!(run.to_string().contains(told), "{command:?} {run}");
        }
        assert!(demo.reads_only(&["resume", "docs/prd.md"]).to_string().contains(told));
    }
}

#[test]
fn a_misspelt_key_of_the_configuration_is_warned_of_once() {
    let demo = Sandbox::demo();
    demo.write(".stepmark/config.yaml", "checks: {rules: {SM106: off}}\n");
    for command in [&["list"][..], &["status"], &["next", PRD], &["check", PRD], &["config", "show"]] {
        let run = demo.reads_only(command);
        let warnings = run.stderr.matches("has the key `checks`, which stepmark does not know").count();
        assert_eq!(warnings, 1, "{command:?} {run}");
    }
    assert_eq!(demo.reads_only(&["list", "--quiet"]).stderr, "");
}

#[test]
fn a_few_findings_and_fields_are_enough_for_an_agent() {
    let demo = Sandbox::demo();
    let run = demo.reads_only(&["check", "--limit", "1"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.starts_with("error[SM106]"), "the gravest first: {run}");
    assert!(run.stdout.contains("2 errors, 1 warning, 1 note\n3 findings not shown: `--limit`\n"), "{run}");
    let answer = demo.reads_only(&["check", "--limit", "2", "--json", "--fields", "id,path,line"]);
    let answer = answer.json("stepmark.check/1");
    assert_eq!(answer["more"], 2);
    let ids: Vec<_> = answer["findings"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["SM106", "SM103"]);
    assert_eq!(answer["findings"][0].as_object().unwrap().len(), 3);
    assert_eq!(demo.reads_only(&["check", "--limit", "1", "--format", "sarif"]).code, 2);
}
