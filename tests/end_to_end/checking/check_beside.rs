//! `stepmark check`: what stands beside the artifacts, the ledger of the sprint and the configuration.

use insta::assert_snapshot;

use crate::harness::{Sandbox, demo::STORY};

const LEDGER: &str = "_bmad-output/implementation-artifacts/sprint-status.yaml";

#[test]
fn a_story_and_the_ledger_of_its_sprint_say_the_same() {
    let demo = Sandbox::demo();
    demo.write(LEDGER, "development_status:\n  1-1-borrow-a-tool: done\n  1-2-return-it: drafted\n");
    assert_snapshot!(demo.reads_only(&["check", STORY]), @r"
    exit 1
    ── stdout
    warning[SM307]: the story says `in-progress`, `_bmad-output/implementation-artifacts/sprint-status.yaml` says `done`
     --> _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md:3:9
      |
    3 | status: in-progress
      |         ^^^^^^^^^^^
      |
      = help: `stepmark import stories --prefer furthest _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md` takes in what is further along, as after a workflow of BMAD; where the frontmatter is right, `stepmark project --ledgers` writes `in-progress` into `_bmad-output/implementation-artifacts/sprint-status.yaml`

    warning[SM302]: the body says `Status: review`, the frontmatter says `status: in-progress`
     --> _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md:8:9
      |
    8 | Status: review
      |         ^^^^^^
      |
      = help: `stepmark import stories --prefer furthest _bmad-output/implementation-artifacts/1-1-borrow-a-tool.md` takes in what is further along, as after a workflow of BMAD; where the frontmatter is right, `stepmark project --ledgers` makes the line say the same

    1 artifact: 0 errors, 2 warnings, 0 notes
    ");
    // A story of BMAD needs no frontmatter to be looked at.
    let other = "_bmad-output/implementation-artifacts/1-2-return-it.md";
    demo.write(other, "# Story 1.2: Return it\n\nStatus: review\n");
    let run = demo.reads_only(&["check", "--format", "short"]);
    assert!(run.stdout.contains(&format!("{other}:3:9: warning SM307")), "{run}");
    assert_eq!(demo.reads_only(&["check", "--json"]).json("stepmark.check/1")["artifacts"], 8, "{run}");
    let run = demo.stepmark(&["check", other, "--fix", "--unsafe-fixes"]);
    assert_eq!(run.code, 1, "it waits for an import, which asks: {run}");
    assert_eq!(demo.read(other), b"# Story 1.2: Return it\n\nStatus: review\n");
    demo.write(other, "# Story 1.2: Return it\n\nStatus: ready-for-dev\n");
    assert_eq!(demo.reads_only(&["check", other]).code, 0, "an older word for the same state");
}

#[test]
fn a_ledger_that_is_no_yaml_is_told_once() {
    let demo = Sandbox::demo();
    demo.write(
        LEDGER,
        "development_status:\n  1-1-borrow-a-tool: done\nlast_updated: 2026-05-02: after review\n",
    );
    demo.write("_bmad-output/implementation-artifacts/1-2-return-it.md", "# Story 1.2\n\nStatus: review\n");
    let run = demo.reads_only(&["check", "--format", "short"]);
    let told: Vec<_> = run.stdout.lines().filter(|line| line.contains("sprint-status")).collect();
    assert_eq!(
        told,
        [format!("{LEDGER}:3:25: error SM308 not YAML: mapping values are not allowed in this context")],
        "{run}"
    );
    let answer = demo.reads_only(&["check", "--json"]).json("stepmark.check/1");
    assert_eq!(answer["artifacts"], 8, "the ledger is none");
    let accepted =
        "check: {allow: [{rules: [SM308], paths: ['**/sprint-status.yaml'], reason: fixed on Friday}]}\n";
    demo.write(".stepmark/config.yaml", accepted);
    let run = demo.reads_only(&["check"]);
    assert!(!run.stdout.contains("SM308") && !run.stdout.contains("SM004"), "{run}");
}

/// Nor is one hidden to which no story is joined by number.
#[test]
fn a_ledger_of_stories_without_numbers_that_is_no_yaml_is_told_once() {
    let sandbox = Sandbox::empty();
    sandbox
        .write(LEDGER, "development_status:\n  AUTH-1-login: done\nlast_updated: 2026-05-02: after review\n");
    for story in [None, Some("_bmad-output/implementation-artifacts/AUTH-1-login.md")] {
        story.into_iter().for_each(|story| sandbox.write(story, "# Story AUTH-1: Login\n\nStatus: review\n"));
        for line in [&["check", "--format", "short"][..], &["import", "stories", "--dry-run"]] {
            let run = sandbox.reads_only(line);
            assert_eq!((run.code, run.stdout.matches("SM308").count()), (1, 1), "{run}");
        }
    }
}

#[test]
fn an_allowance_that_accepts_nothing_is_told_where_it_stands() {
    let demo = Sandbox::demo();
    demo.write(
        ".stepmark/config.yaml",
        "check:\n  allow:\n  - rules: [key-twice, SM107]\n    paths: ['**/epics.md']\n    reason: the tool that reads it takes both\n  \
         - rules: [SM109, SM108]\n    paths: ['**']\n    reason: a tool of old\n  \
         - rules: [SM901, SM601]\n    paths: ['**']\n    reason: takes two states\n",
    );
    let run = demo.reads_only(&["check"]);
    assert_snapshot!(run.stdout.lines().filter(|line| !line.is_empty()).take(14).collect::<Vec<_>>().join("\n"), @r"
    warning[SM004]: no file has a finding of SM107 that this entry accepts
     --> .stepmark/config.yaml:3:5
      |
    3 |   - rules: [key-twice, SM107]
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: take the rules out that accept nothing
    warning[SM004]: no file has a finding of SM109, SM108 that this entry accepts
     --> .stepmark/config.yaml:6:5
      |
    6 |   - rules: [SM109, SM108]
      |     ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: take it out
    ");
    assert_eq!(run.stdout.matches("SM004").count(), 2, "{run}");
    let run = demo.reads_only(&["check", "_bmad-output"]);
    assert!(!run.stdout.contains("SM004"), "only a check of everything can say: {run}");
}

#[test]
fn a_step_file_that_names_no_step_is_shown() {
    let demo = Sandbox::demo();
    demo.write(
        ".stepmark/config.yaml",
        "workflows: [{name: audit, artifacts: ['audit*.md'], folder: flows/audit}]\n",
    );
    demo.write(
        "flows/audit/step-01-look.md",
        "---\nname: look\nnextStepFile: './step-02-juge.md'\n---\n# Look\n",
    );
    demo.write("flows/audit/step-02-judge.md", "# Judge\n");
    demo.write("audit-1.md", "---\nstepsCompleted: [step-01-look]\nnextStep: step-07-report\n---\n# Audit\n");
    assert_snapshot!(demo.reads_only(&["check", "audit-1.md"]), @r"
    exit 1
    ── stdout
    warning[SM404]: `nextStep` names `step-07-report`, which does not exist
     --> audit-1.md:3:11
      |
    3 | nextStep: step-07-report
      |           ^^^^^^^^^^^^^^
      |
      = help: take the key out: `stepmark next` finds the next step in the workflow

    warning[SM403]: `nextStepFile` names `./step-02-juge.md`, which is no step of this workflow
     --> flows/audit/step-01-look.md:3:15
      |
    3 | nextStepFile: './step-02-juge.md'
      |               ^^^^^^^^^^^^^^^^^^^
      |
      = help: correct the name, or add the file

    1 artifact: 0 errors, 2 warnings, 0 notes
    ");
    demo.write("audit-1.md", "---\nstepsCompleted: [step-01-look]\nnextStep: step-02-judge\n---\n# Audit\n");
    demo.write(
        "flows/audit/step-01-look.md",
        "---\nname: look\nnextStepFile: './step-02-judge.md'\n---\n# Look\n",
    );
    assert_eq!(demo.reads_only(&["check", "audit-1.md"]).code, 0);
}

#[test]
fn an_artifact_and_its_row_of_the_manifest() {
    let demo = Sandbox::demo();
    demo.write("docs/one.md", "---\nstatus: draft\n---\n# One\n");
    assert_eq!(demo.stepmark(&["manifest", "write"]).code, 0);
    assert_eq!(demo.reads_only(&["check", "docs/one.md"]).code, 0);
    demo.write("docs/one.md", "---\nstatus: draft\n---\n# One and a half\n");
    demo.write("docs/two.md", "---\nstatus: draft\n---\n# Two\n");
    let run = demo.reads_only(&["check", "docs", "--format", "short"]);
    assert_snapshot!(run, @r"
    exit 0
    ── stdout
    docs/one.md:1:1: note SM802 the manifest has the hash of other bytes for this artifact
    docs/two.md:1:1: note SM801 the manifest has no row for this artifact
    ");
    assert_eq!(demo.stepmark(&["manifest", "write"]).code, 0);
    let run = demo.reads_only(&["check", "docs"]);
    assert!(run.code == 0 && run.stdout.contains("0 notes"), "{run}");
}

#[test]
fn tabs_become_blanks_and_scopes_and_dates_are_looked_at() {
    let demo = Sandbox::demo();
    demo.write(
        "docs/one.md",
        "---\nstatus: draft\nscope: meduim\nscope_source: ai\ndate: soon\ncreated: May 2, 2026\nlead:\n\tname: Ada\n---\n# One\n",
    );
    let run = demo.reads_only(&["check", "docs", "--format", "short"]);
    assert!(run.code == 1 && run.stdout.contains("docs/one.md:8:1: error SM111"), "{run}");
    let run = demo.stepmark(&["check", "docs", "--fix", "--unsafe-fixes", "--format", "short"]);
    assert_snapshot!(run, @r"
    exit 1
    ── stdout
    docs/one.md:4:15: note SM705 an AI gave this scope, and does not say how sure it is
    docs/one.md:5:7: warning SM309 `date` is to say when, and `soon` names no day
    docs/one.md:6:10: note SM310 `May 2, 2026` is no time as ISO 8601 writes it
    ");
    assert!(String::from_utf8(demo.read("docs/one.md")).unwrap().contains("\n  name: Ada\n"));
}

/// Some skills of BMAD follow a layer that moves folders, others do not: work stands in both places.
#[test]
fn folders_that_a_layer_moved_are_looked_at_in_both_places() {
    let sandbox = Sandbox::empty();
    let layer = |output: &str| {
        format!(
            "[core]\noutput_folder = \"{output}\"\n[modules.bmm]\nimplementation_artifacts = \"{{project-root}}/{output}/built\"\n"
        )
    };
    sandbox.write("_bmad/config.toml", layer("_bmad-output"));
    sandbox.write("_bmad/custom/config.toml", layer("work"));
    sandbox.write("work/built/sprint-status.yaml", "development_status:\n  AUTH-9-pay: done\n");
    for folder in ["work/specs/spec-a", "_bmad-output/specs/spec-b"] {
        sandbox.write(&format!("{folder}/stories.yaml"), "- id: \"1\"\n  title: Lend\n");
    }
    let moved = |key: &str| format!("note SMB09 `{key}` was moved from");
    let found = sandbox.reads_only(&["check", "--format", "short"]).stdout;
    assert!(found.contains("no story is joined to `AUTH-9-pay`"), "the new folder alone: {found}");
    assert!(
        found.contains(&moved("output_folder")) && !found.contains(&moved("implementation_artifacts")),
        "{found}"
    );
    sandbox.write("_bmad-output/built/1-1-a.md", "---\nstatus: done\n---\n# Story 1.1\n");
    let found = sandbox.reads_only(&["check", "--format", "short"]).stdout;
    let place = "_bmad/custom/config.toml:4:28: note SMB09 `implementation_artifacts` was moved from `_bmad-output/built` to `work/built`";
    assert!(found.contains(place) && found.matches("SMB09").count() == 2, "{found}");
    let next = sandbox.reads_only(&["next"]).stdout;
    assert!(
        next.contains("work/specs/spec-a/stories.yaml") && next.contains("spec-b/stories.yaml"),
        "{next}"
    );
}
