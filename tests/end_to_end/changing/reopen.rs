//! `stepmark reopen`

use insta::assert_snapshot;

use crate::harness::{
    Sandbox, changed_lines,
    demo::{ARCHITECTURE, EPICS, PRD},
};

#[test]
fn takes_a_step_out() {
    let demo = Sandbox::demo();
    let before = demo.read(PRD);
    assert_snapshot!(demo.stepmark(&["reopen", PRD, "step-03-success"]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: written, 4/14, next: step-03-success
    ");
    assert_snapshot!(changed_lines(&before, &demo.read(PRD)), @"-  - 'step-03-success'");
    demo.stepmark(&["complete", PRD, "step-03-success"]);
    assert_eq!(demo.read(PRD), before, "there and back again");
}

#[test]
fn brings_last_step_along_and_warns_of_later_steps() {
    let demo = Sandbox::demo();
    let before = demo.read(ARCHITECTURE);
    assert_snapshot!(demo.stepmark(&["reopen", ARCHITECTURE, "2", "5"]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/architecture.md: written, 3/8, next: step-05-patterns
    ── stderr
    warning: _bmad-output/planning-artifacts/architecture.md: `2` is open again, but later steps up to `step-04-decisions` stay completed
    ");
    assert_snapshot!(changed_lines(&before, &demo.read(ARCHITECTURE)), @r"
    -stepsCompleted: [1, 2, 3, 4, 5]
    +stepsCompleted: [1, 3, 4]
    -lastStep: 5
    +lastStep: 4
    ");
    let answer = demo.stepmark(&["reopen", ARCHITECTURE, "3", "--json"]).json("stepmark.change/2");
    assert_eq!((&answer["changed"], answer["remarks"].as_array().unwrap().len()), (&true.into(), 1));
}

/// Its event could not say what was taken away, and the next check would take it for lost.
#[test]
fn a_key_that_stands_twice_is_mended_first() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["reopen", EPICS, "step-02-design-epics"]), @r"
    exit 1
    ── stderr
    error: `_bmad-output/planning-artifacts/epics.md` is left as it is
      cause: history could not say what is taken away: the key `status` stands twice, and readers disagree on which one counts: remove one
      help: `stepmark check _bmad-output/planning-artifacts/epics.md` shows the place
    ");
    demo.write(EPICS, String::from_utf8(demo.read(EPICS)).unwrap().replace("status: draft\n", ""));
    assert_eq!(demo.stepmark(&["reopen", EPICS, "step-02-design-epics"]).code, 0);
}

#[test]
fn opens_everything() {
    let demo = Sandbox::demo();
    let run = demo.stepmark(&["reopen", ARCHITECTURE, "1", "2", "3", "4", "5"]);
    assert_eq!(run.code, 0, "{run}");
    let answer = demo.stepmark(&["show", ARCHITECTURE, "--json"]).json("stepmark.show/2");
    assert_eq!(answer["frontmatter"]["stepsCompleted"], serde_json::json!([]));
    assert_eq!(answer["frontmatter"]["lastStep"], 0);
}

#[test]
fn a_step_that_is_not_there_changes_nothing() {
    let demo = Sandbox::demo();
    assert_snapshot!(demo.reads_only(&["reopen", PRD, "step-09-functional"]), @r"
    exit 0
    ── stdout
    _bmad-output/planning-artifacts/prd.md: `step-09-functional` is not in the list
    _bmad-output/planning-artifacts/prd.md: nothing to write
    ");
    let answer = demo.reads_only(&["reopen", PRD, "9", "--json"]).json("stepmark.change/2");
    assert_eq!(answer["changed"], false);
    let unknown = demo.reads_only(&["reopen", PRD, "nonsense"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("has no step `nonsense`"), "{unknown}");
}

#[test]
fn history_tells_why() {
    let demo = Sandbox::demo();
    for (command, reason) in [
        (&["reopen", PRD, "2"][..], "nobody was asked"),
        (&["complete", PRD, "2"], "now they were"),
        (&["set", PRD, "reviewer=Ada"], "she knows"),
        (&["scope", PRD, "large"], "there is more of it"),
    ] {
        let run = demo.stepmark(&[command, &["-m", reason]].concat());
        assert_eq!(run.code, 0, "{run}");
        let log = demo.stepmark(&["log", PRD]);
        assert!(log.stdout.contains(&format!("({reason})")), "{log}");
    }
}
