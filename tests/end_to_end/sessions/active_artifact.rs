//! Commands that name no artifact: the active one is meant.

use insta::assert_snapshot;

use crate::harness::{Sandbox, demo::PRD};

const BRAINSTORMING: &str = "_bmad-output/brainstorming/brainstorming-session-2026-01-12.md";

#[test]
fn without_any_work_several_are_named() {
    let demo = Sandbox::demo();
    let next = demo.reads_only(&["next"]);
    assert!(next.code == 0 && next.stdout.lines().count() == 7, "a heading, five and a hint: {next}");
    let show = demo.reads_only(&["show"]);
    assert!(
        show.stderr.contains("no artifact is named, and 5 artifacts are unfinished: `brainstorming"),
        "{show}"
    );
    assert_eq!(demo.reads_only(&["complete", "4"]).code, 2);
    assert_eq!(demo.reads_only(&["show"]).code, 2);
    assert_eq!(demo.reads_only(&["gate", "list"]).code, 2);
    assert_snapshot!(Sandbox::empty().reads_only(&["next"]), @r"
    exit 6
    ── stderr
    error: there is no artifact yet
      help: a Markdown file with `stepsCompleted` or `status` in its frontmatter is one
    ");
}

#[test]
fn the_last_one_worked_on_is_meant_or_the_one_of_the_configuration() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["set", PRD, "title=Tide"]).code, 0);
    let named = |arguments: &[&str]| demo.stepmark(arguments).json("stepmark.next/3")["path"].clone();
    assert_eq!(named(&["next", "--json"]), PRD);
    assert!(demo.stepmark(&["show"]).stdout.contains(PRD));
    let completed = demo.stepmark(&["complete", "4"]);
    assert!(completed.code == 0 && completed.to_string().contains(PRD), "{completed}");
    assert_eq!(demo.stepmark(&["gate", "check", "4", "--verify"]).code, 0);
    assert_eq!(demo.stepmark(&["gate", "check", PRD, "5", "--verify"]).code, 1);
    // A session goes on with its own, whatever others did last.
    let session = |arguments: &[&str]| {
        demo.stepmark(&[arguments, &["--session", "01J0000000000000000000000A", "--json"]].concat())
    };
    assert_eq!(session(&["set", BRAINSTORMING, "title=Ebb"]).code, 0);
    assert_eq!(demo.stepmark(&["set", PRD, "title=Flow"]).code, 0);
    assert_eq!(session(&["next"]).json("stepmark.next/3")["path"], BRAINSTORMING);
    demo.write(".stepmark/config.yaml", format!("active: {BRAINSTORMING}\n"));
    assert_eq!(named(&["next", "--json"]), BRAINSTORMING);
}

#[test]
fn a_file_without_a_step_and_a_misspelt_file_are_told() {
    let demo = Sandbox::demo();
    assert_eq!(demo.stepmark(&["set", PRD, "title=Tide"]).code, 0);
    assert_snapshot!(demo.reads_only(&["complete", PRD]), @r"
    exit 2
    ── stderr
    error: name a step of `_bmad-output/planning-artifacts/prd.md`
      help: the next one is `step-04-journeys`
    ");
    assert_snapshot!(demo.stepmark(&["complete", "prd"]), @r"
    exit 2
    ── stderr
    error: name a step of `prd`
      help: the next one is `step-04-journeys`
    ");
    assert_eq!(demo.reads_only(&["complete", "docs/pdr.md", "4"]).code, 2, "it is no step");
    assert_snapshot!(demo.stepmark(&["complete", "pdr", "4"]), @r"
    exit 2
    ── stderr
    error: there is no artifact `pdr`
      help: `stepmark status` lists what there is
    ");
    assert_eq!(demo.stepmark(&["complete", "1.7", "4"]).code, 2, "there is no story 1.7");
    assert_eq!(demo.stepmark(&["gate", "check", "pdr", "4"]).code, 2);
    assert_eq!(demo.stepmark(&["complete", "prd", "4", "5"]).code, 0);
}
