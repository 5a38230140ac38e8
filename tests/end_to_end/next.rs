//! `stepmark next`

use insta::assert_snapshot;

use crate::harness::{
    Sandbox,
    demo::{ARCHITECTURE, BRAINSTORMING, BRIEF, EPICS, PRD},
};

#[test]
fn names_the_step_and_its_file() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["next", PRD]), @r"
    exit 0
    ── stdout
    step-04-journeys  _bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-04-journeys.md
    ");
    assert_snapshot!(demo.reads_only(&["next", ARCHITECTURE]), @r"
    exit 0
    ── stdout
    step-06-structure  _bmad/bmm/workflows/3-solutioning/create-architecture/steps/step-06-structure.md
    ");
    assert_eq!(demo.stepmark(&["next", "-q", PRD]), demo.stepmark(&["next", PRD]));
}

#[test]
fn the_named_file_is_there() {
    let demo = Sandbox::demo();
    let answer = demo.reads_only(&["next", "--json", ARCHITECTURE]).json("stepmark.next/2");
    let [next] = answer["next"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!(next["id"], "step-06-structure");
    let text = demo.read(next["file"].as_str().unwrap());
    assert!(String::from_utf8(text).unwrap().contains("Step 6"));
}

#[test]
fn says_when_a_workflow_is_finished() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["next", BRIEF]), @r"
    exit 0
    ── stdout
    `_bmad-output/planning-artifacts/product-brief-toolshed-2026-01-14.md` is finished
    ");
    assert_eq!(demo.reads_only(&["next", "-q", BRIEF]).to_string(), "exit 0\n");
    let answer = demo.reads_only(&["next", "--json", BRIEF]).json("stepmark.next/2");
    assert_eq!((&answer["standing"], answer["next"].as_array().unwrap().len()), (&"finished".into(), 0));
}

#[test]
fn offers_alternatives() {
    let demo = Sandbox::demo();
    demo.stepmark(&["reopen", BRAINSTORMING, "2b"]);
    assert_snapshot!(demo.reads_only(&["next", BRAINSTORMING]), @r"
    exit 0
    ── stdout
    step-02a-user-selected  _bmad/core/workflows/brainstorming/steps/step-02a-user-selected.md
    step-02b-ai-recommended  _bmad/core/workflows/brainstorming/steps/step-02b-ai-recommended.md
    step-02c-random-selection  _bmad/core/workflows/brainstorming/steps/step-02c-random-selection.md
    step-02d-progressive-flow  _bmad/core/workflows/brainstorming/steps/step-02d-progressive-flow.md
    ");
    let answer = demo.reads_only(&["next", "--json", BRAINSTORMING]).json("stepmark.next/2");
    assert_eq!(answer["next"].as_array().unwrap().len(), 4, "{answer}");
}

#[test]
fn warns_of_an_interrupted_workflow() {
    let demo = Sandbox::demo();
    demo.write("_bmad-output/prd-2.md", "---\nstepsCompleted: []\nworkflowType: prd\n---\n# Half a PRD\n");
    assert_snapshot!(demo.reads_only(&["next", "_bmad-output/prd-2.md"]), @r"
    exit 0
    ── stdout
    step-01-init  _bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-01-init.md
    ── stderr
    warning: `_bmad-output/prd-2.md` has content but no completed step: the workflow was interrupted; look at it before its first step runs again
    ");
    demo.write("_bmad-output/prd-2.md", "---\nstepsCompleted: []\nworkflowType: prd\n---\n");
    let fresh = demo.reads_only(&["next", "_bmad-output/prd-2.md"]);
    assert_eq!((fresh.code, fresh.stderr.as_str()), (0, ""), "{fresh}");
}

#[test]
fn says_why_there_is_no_answer() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["next", EPICS]), @r"
    exit 1
    ── stderr
    error: cannot tell the next step of `_bmad-output/planning-artifacts/epics.md`: no workflow of the project fits
      help: install the workflow, or declare one in `.stepmark/config.yaml` under `workflows`
    ");
    demo.write("_bmad-output/prd-2.md", "---\nstepsCompleted: [step-77-else]\nworkflowType: prd\n---\n");
    assert_snapshot!(demo.reads_only(&["next", "_bmad-output/prd-2.md"]), @r"
    exit 1
    ── stderr
    error: cannot tell the next step of `_bmad-output/prd-2.md`: no listed step is one of the workflow
      help: `stepmark show` lists the steps of its workflow
    ");
    let error = demo.reads_only(&["next", "--json", EPICS]).json_error();
    assert_eq!(error["exit"], 1);
}
