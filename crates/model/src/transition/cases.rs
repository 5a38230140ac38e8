//! Commands against whole files: the bytes after, or the refusal.

use super::{Command, DecisionContext, Plan, Remark, Strictness, TransitionRefusal, decide};
use crate::{
    artifact::{Artifact, ProjectPath},
    workflow::WorkflowDefinition,
};
use stepmark_frontmatter::{Region, Value, apply};

const STEPS: [&str; 5] =
    ["step-01-init", "step-02-discovery", "step-02b-vision", "step-03-success", "step-10-end"];

fn workflow() -> WorkflowDefinition {
    WorkflowDefinition::declared("prd", &STEPS)
}

fn run(
    frontmatter: &str,
    workflow: Option<&WorkflowDefinition>,
    command: &Command,
    strictness: Strictness,
) -> Result<(String, Plan), TransitionRefusal> {
    let file = format!("---\n{frontmatter}---\n# PRD\n");
    let artifact = Artifact::read(ProjectPath::new("prd.md").unwrap(), file.clone().into_bytes());
    let plan = decide(&artifact, &DecisionContext { workflow, lifecycle: None, strictness }, command)?;
    let edited = apply(file.as_bytes(), &Region::Frontmatter, &plan.edits).unwrap();
    let text = String::from_utf8(edited.bytes).unwrap();
    let inner = text.strip_prefix("---\n").and_then(|text| text.strip_suffix("---\n# PRD\n")).unwrap();
    Ok((inner.to_owned(), plan))
}

fn complete(steps: &[&str]) -> Command {
    Command::Complete { steps: steps.iter().map(ToString::to_string).collect() }
}

fn reopen(steps: &[&str]) -> Command {
    Command::Reopen { steps: steps.iter().map(ToString::to_string).collect() }
}

#[test]
fn a_completed_step_is_spelled_like_its_neighbours() {
    for (before, step, after) in [
        ("stepsCompleted: []\n", "step-01-init", "stepsCompleted: [step-01-init]\n"),
        (
            "stepsCompleted: []\nworkflowType: 'prd'\n",
            "step-01-init",
            "stepsCompleted: ['step-01-init']\nworkflowType: 'prd'\n",
        ),
        ("stepsCompleted: []\n", "1", "stepsCompleted: [step-01-init]\n"),
        ("stepsCompleted: [1]\n", "step-02-discovery", "stepsCompleted: [1, 2]\n"),
        ("stepsCompleted: ['1']\n", "2", "stepsCompleted: ['1', '2']\n"),
        ("stepsCompleted: ['01']\n", "2", "stepsCompleted: ['01', '02']\n"),
        (
            "stepsCompleted: ['step-01-init']\n",
            "2",
            "stepsCompleted: ['step-01-init', 'step-02-discovery']\n",
        ),
        (
            "stepsCompleted:\n  - step-01-init.md\n",
            "step-02-discovery",
            "stepsCompleted:\n  - step-01-init.md\n  - step-02-discovery.md\n",
        ),
        ("stepsCompleted: [01-init]\n", "2", "stepsCompleted: [01-init, 02-discovery]\n"),
        ("stepsCompleted: [step-01]\n", "2", "stepsCompleted: [step-01, step-02]\n"),
        (
            "stepsCompleted:\n  - {step: step-01-init}\n",
            "2",
            "stepsCompleted:\n  - {step: step-01-init}\n  - {step: step-02-discovery}\n",
        ),
        (
            "stepsCompleted: [step-01-init, step-01b-continue]\n",
            "2",
            "stepsCompleted: [step-01-init, step-01b-continue, step-02-discovery]\n",
        ),
        // What is no progress shows no habit, a step without a number does.
        (
            "stepsCompleted: [1, step-01b-continue]\n",
            "step-02-discovery",
            "stepsCompleted: [1, step-01b-continue, 2]\n",
        ),
        ("stepsCompleted: [1, step-continue]\n", "2", "stepsCompleted: [1, step-continue, 2]\n"),
        ("stepsCompleted: [1, edit-2026-02-24]\n", "2", "stepsCompleted: [1, edit-2026-02-24, 2]\n"),
        // The title of another step is not known.
        (
            "stepsCompleted: ['Step 1: Start']\n",
            "step-02-discovery",
            "stepsCompleted: ['Step 1: Start', 'step-02-discovery']\n",
        ),
        (
            "stepsCompleted: ['Step 1']\n",
            "step-02-discovery",
            "stepsCompleted: ['Step 1', 'step-02-discovery']\n",
        ),
        ("stepsCompleted: [step-oneshot]\n", "1", "stepsCompleted: [step-oneshot, step-01-init]\n"),
        ("stepsCompleted: [step-oneshot.md]\n", "1", "stepsCompleted: [step-oneshot.md, step-01-init.md]\n"),
        ("title: x\n", "step-01-init", "title: x\nstepsCompleted: [step-01-init]\n"),
        ("stepsCompleted:\n", "step-01-init", "stepsCompleted: [step-01-init]\n"),
    ] {
        let (text, plan) = run(before, Some(&workflow()), &complete(&[step]), Strictness::Refuse).unwrap();
        assert_eq!(text, after, "{before} + {step}");
        assert_eq!(plan.remarks, [], "{before} + {step}");
    }
}

#[test]
fn keys_that_say_the_same_come_along_and_status_never() {
    for (before, after) in [
        (
            "stepsCompleted: [1]\nlastStep: 1\nstatus: draft\n",
            "stepsCompleted: [1, 2]\nlastStep: 2\nstatus: draft\n",
        ),
        (
            "stepsCompleted: ['step-01-init']\nlastStep: 'step-01-init'\ncurrentStep: step-02-discovery\n",
            "stepsCompleted: ['step-01-init', 'step-02-discovery']\nlastStep: 'step-02-discovery'\ncurrentStep: step-02b-vision\n",
        ),
        ("stepsCompleted: [1]\nlastStep: ''\n", "stepsCompleted: [1, 2]\nlastStep: 2\n"),
        ("stepsCompleted: [1]\ncurrent_step: 2\n", "stepsCompleted: [1, 2]\ncurrent_step: 02b\n"),
    ] {
        let (text, plan) = run(before, Some(&workflow()), &complete(&["2"]), Strictness::Refuse).unwrap();
        assert_eq!((text.as_str(), plan.remarks.len()), (after, 0), "{before}");
    }
    // `lastStep: 1` cannot name a step of an unknown workflow.
    let (text, plan) =
        run("stepsCompleted: [a]\nlastStep: 1\n", None, &complete(&["b"]), Strictness::Warn).unwrap();
    assert_eq!(text, "stepsCompleted: [a, b]\nlastStep: 1\n");
    assert_eq!(plan.remarks, [Remark::KeyLeft { key: "lastStep".to_owned() }]);
}

#[test]
fn a_step_that_is_there_is_not_added_in_any_spelling() {
    for (before, step) in [
        ("stepsCompleted: ['step-01-init']\n", "step-01-init"),
        ("stepsCompleted: ['step-01-init']\n", "1"),
        ("stepsCompleted: [1]\n", "step-01-init.md"),
        ("stepsCompleted: ['Step 1: Start']\n", "01"),
    ] {
        let (text, plan) = run(before, Some(&workflow()), &complete(&[step]), Strictness::Refuse).unwrap();
        assert_eq!((text.as_str(), plan.edits.len()), (before, 0));
        assert_eq!(plan.remarks, [Remark::AlreadyCompleted { step: step.to_owned() }]);
    }
    let (text, _) = run("stepsCompleted: [x]\n", None, &complete(&["x"]), Strictness::Warn).unwrap();
    assert_eq!(text, "stepsCompleted: [x]\n");
}

#[test]
fn a_list_of_numbers_is_written_by_name_before_it_would_mix() {
    let named = "stepsCompleted: [step-01-init, step-02-discovery, step-02b-vision] # mine\n";
    let command = complete(&["2b"]);
    let before = "stepsCompleted: [1, 2] # mine\n";
    let (text, plan) = run(before, Some(&workflow()), &command, Strictness::Known).unwrap();
    assert_eq!(text, named);
    assert_eq!(plan.remarks, [Remark::StepsByName { key: "stepsCompleted".to_owned() }]);
    let (text, _) = run(before, Some(&workflow()), &command, Strictness::Warn).unwrap();
    assert_eq!(text, "stepsCompleted: [1, 2, 02b] # mine\n", "who insists");
    // What no workflow knows has no name.
    for (before, workflow) in
        [("stepsCompleted: [1, 77]\n", Some(workflow())), ("stepsCompleted: [1, 2]\n", None)]
    {
        let refused = run(before, workflow.as_ref(), &command, Strictness::Known).unwrap_err();
        assert!(matches!(refused, TransitionRefusal::OtherSpelling { .. }), "{before}: {refused}");
    }
}

#[test]
fn a_list_that_is_written_by_name_has_one_kind_of_quotes() {
    for (before, after) in [
        (
            "stepsCompleted: [1] # mine\nworkflowType: 'prd'\n",
            "stepsCompleted: ['step-01-init', 'step-02b-vision'] # mine\nworkflowType: 'prd'\n",
        ),
        (
            "stepsCompleted:\n  - 1 # one\ninputs: ['a']\nworkflowType: prd\n",
            "stepsCompleted:\n  - 'step-01-init' # one\n  - 'step-02b-vision'\ninputs: ['a']\nworkflowType: prd\n",
        ),
    ] {
        let (text, _) = run(before, Some(&workflow()), &complete(&["2b"]), Strictness::Known).unwrap();
        assert_eq!(text, after);
    }
}

#[test]
fn no_list_is_begun_where_there_are_no_steps() {
    for (before, has_status) in [("title: x\nstatus: draft\n", true), ("title: x\n", false)] {
        let refused = run(before, None, &complete(&["foo"]), Strictness::Known).unwrap_err();
        assert_eq!(refused, TransitionRefusal::NoSteps { has_status });
        assert!(run(before, Some(&workflow()), &complete(&["1"]), Strictness::Known).is_ok());
    }
    assert!(run("stepsCompleted: []\n", None, &complete(&["foo"]), Strictness::Known).is_ok());
}

#[test]
fn a_step_that_no_workflow_has_is_set_by_who_insists() {
    let set = |key: &str, value: &str| {
        let value = Value::from_argument(value).unwrap();
        Command::Set { assignments: vec![(key.parse().unwrap(), value)] }
    };
    let before = "stepsCompleted: [1, odd]\n";
    for (key, value, is_fine) in [
        ("stepsCompleted", "[1, 2]", true),
        ("stepsCompleted", "[]", true),
        ("stepsCompleted", "[odd]", true),
        ("stepsCompleted", "[1, zzz]", false),
        ("stepsCompleted", "[1, step-02-discovery]", false),
        ("stepsCompleted[0]", "zzz", false),
        ("lastStep", "99", false),
        ("lastStep", "2", true),
        ("lastStep", "0", true),
        ("currentStep", "zzz", false),
        ("title", "zzz", true),
        ("titles", "[1, zzz]", true),
    ] {
        let set = set(key, value);
        let known = run(before, Some(&workflow()), &set, Strictness::Known);
        assert_eq!(known.is_ok(), is_fine, "{key}={value}: {known:?}");
        assert!(run(before, Some(&workflow()), &set, Strictness::Warn).is_ok(), "{key}={value}");
    }
}

#[test]
fn a_list_of_steps_is_not_replaced_by_one_value() {
    let set = |value: Value| Command::Set { assignments: vec![("stepsCompleted".parse().unwrap(), value)] };
    let before = "stepsCompleted: [1, 2]\n";
    let refused = run(before, None, &set(Value::Integer(3)), Strictness::Warn).unwrap_err();
    assert_eq!(refused, TransitionRefusal::ListReplaced { key: "stepsCompleted".to_owned() });
    assert!(run(before, None, &set(Value::Sequence(vec![Value::Integer(3)])), Strictness::Warn).is_ok());
    assert!(run("stepsCompleted: 2\n", None, &set(Value::Integer(3)), Strictness::Warn).is_ok());
}

#[test]
fn unknown_and_early_steps_are_warned_of_or_refused() {
    let before = "stepsCompleted: ['step-01-init']\n";
    let early = Remark::OutOfOrder {
        step: "step-03-success".to_owned(),
        expected: vec!["step-02-discovery".to_owned()],
    };
    let unknown =
        Remark::UnknownStep { step: "step-77-x".to_owned(), workflow: "prd".to_owned(), near: None };
    for (step, remark) in [("step-03-success", early), ("step-77-x", unknown)] {
        let command = complete(&[step]);
        let (text, plan) = run(before, Some(&workflow()), &command, Strictness::Warn).unwrap();
        assert_eq!(text, format!("stepsCompleted: ['step-01-init', '{step}']\n"));
        assert_eq!(plan.remarks, std::slice::from_ref(&remark));
        let refused = run(before, Some(&workflow()), &command, Strictness::Refuse);
        assert_eq!(refused.unwrap_err(), TransitionRefusal::Strict(remark.clone()));
        let known = run(before, Some(&workflow()), &command, Strictness::Known);
        match remark {
            Remark::UnknownStep { .. } => assert_eq!(known.unwrap_err(), TransitionRefusal::Unknown(remark)),
            _ => assert_eq!(known.unwrap().1.remarks, [remark]),
        }
    }
}

#[test]
fn the_number_of_one_step_with_the_name_of_another_is_neither() {
    let before = "stepsCompleted: [step-01-init, step-03-other]\n";
    for (step, of_number, of_name) in [
        ("step-02-banana", Some("step-02-discovery"), None),
        ("02-discvery.md", Some("step-02-discovery"), None),
        ("step-10-vision", Some("step-10-end"), Some("step-02b-vision")),
        ("step-10-visoin", Some("step-10-end"), Some("step-02b-vision")),
        ("step-02-vision", Some("step-02-discovery"), Some("step-02b-vision")),
        ("step-77-vision", None, Some("step-02b-vision")),
        ("step-02-banana-skipped", Some("step-02-discovery"), None),
    ] {
        let remark = Remark::OtherName {
            step: step.to_owned(),
            of_number: of_number.map(str::to_owned),
            of_name: of_name.map(str::to_owned),
        };
        let refusal = TransitionRefusal::Unknown(remark.clone());
        for command in [complete(&[step]), reopen(&[step])] {
            let refused = run(before, Some(&workflow()), &command, Strictness::Known).unwrap_err();
            assert_eq!(refused, refusal, "{command}");
        }
        let (text, plan) = run(before, Some(&workflow()), &complete(&[step]), Strictness::Warn).unwrap();
        assert!(text.contains(step), "who insists: {text}");
        assert_eq!(plan.remarks, [remark]);
    }
    // What the list names so is that item.
    let command = reopen(&["step-03-other"]);
    let (text, _) = run(before, Some(&workflow()), &command, Strictness::Warn).unwrap();
    assert_eq!(text, "stepsCompleted: [step-01-init]\n");
    for step in ["2", "02", "02b", "step-02", "step-vision", "02-discovery.md", "Step 2: Find out"] {
        assert!(run(before, Some(&workflow()), &complete(&[step]), Strictness::Known).is_ok(), "{step}");
    }
}

#[test]
fn a_skipped_step_keeps_its_mark_in_the_spelling_of_its_neighbours() {
    for (before, step, after) in [
        ("[step-01-init]", "step-02-discovery-skipped", "[step-01-init, step-02-discovery-skipped]"),
        ("[step-01-init]", "2-skipped", "[step-01-init, step-02-discovery-skipped]"),
        ("[step-01-init.md]", "2-skipped", "[step-01-init.md, step-02-discovery-skipped.md]"),
        ("['01']", "2-skipped", "['01', '02-skipped']"),
        ("[01-init]", "step-02-skipped", "[01-init, 02-discovery-skipped]"),
        (
            "[{step: step-01-init}]",
            "2 (skipped)",
            "[{step: step-01-init}, {step: step-02-discovery-skipped}]",
        ),
        ("[1]", "2-skipped", "[step-01-init, step-02-discovery-skipped]"),
        ("[]", "1-skipped", "[step-01-init-skipped]"),
        ("['Step 1: Start']", "2-skipped", "['Step 1: Start', '2-skipped']"),
        ("[step-01-init, 02b]", "2-skipped", "[step-01-init, 02-skipped, 02b]"),
    ] {
        let before = format!("stepsCompleted: {before}\n");
        let (text, _) = run(&before, Some(&workflow()), &complete(&[step]), Strictness::Known).unwrap();
        assert_eq!(text, format!("stepsCompleted: {after}\n"), "{before} + {step}");
        let (again, plan) = run(&text, Some(&workflow()), &complete(&["2", "1"]), Strictness::Known).unwrap();
        assert!(again == text || step == "1-skipped", "{again}: {:?}", plan.remarks);
    }
}

#[test]
fn a_step_that_was_left_out_comes_in_its_place() {
    for (before, steps, after) in [
        ("[1, 3]\nlastStep: 3", &["2"][..], "[1, 2, 3]\nlastStep: 3"),
        ("[1, 10]", &["3", "2"], "[1, 2, 3, 10]"),
        ("[1, 3, step-01b-continue]\nlastStep: 1", &["2"], "[1, 2, 3, step-01b-continue]\nlastStep: 3"),
        ("[2]", &["1"], "[1, 2]"),
        ("\n  - 1 # first\n  - 3 # third", &["2"], "\n  - 1 # first\n  - 2\n  - 3 # third"),
        // A list that is in no order shows no place.
        ("[10, 1, 3]", &["2"], "[10, 1, 3, 2]"),
    ] {
        let before = format!("stepsCompleted: {before}\n").replace(": \n", ":\n");
        let (text, _) = run(&before, Some(&workflow()), &complete(steps), Strictness::Known).unwrap();
        assert_eq!(text, format!("stepsCompleted: {after}\n").replace(": \n", ":\n"), "{before} + {steps:?}");
    }
}

#[test]
fn several_steps_are_taken_in_their_order() {
    let (text, plan) = run(
        "stepsCompleted: []\nlastStep: 0\n",
        Some(&workflow()),
        &complete(&["1", "2", "02b"]),
        Strictness::Refuse,
    )
    .unwrap();
    assert_eq!(text, "stepsCompleted: [step-01-init, step-02-discovery, step-02b-vision]\nlastStep: 02b\n");
    assert_eq!(plan.remarks, []);
}

#[test]
fn reopening_takes_every_spelling_out() {
    for (before, step, after) in [
        ("stepsCompleted: [1, 2]\nlastStep: 2\n", "step-02-discovery", "stepsCompleted: [1]\nlastStep: 1\n"),
        ("stepsCompleted: [1]\nlastStep: 1\n", "1", "stepsCompleted: []\nlastStep: 0\n"),
        ("stepsCompleted:\n  - a\n  - step-01-init # x\n  - 1\n", "1", "stepsCompleted:\n  - a\n"),
    ] {
        let (text, plan) = run(before, Some(&workflow()), &reopen(&[step]), Strictness::Warn).unwrap();
        assert_eq!((text.as_str(), plan.remarks.len()), (after, 0));
    }
    let (text, plan) =
        run("stepsCompleted: [1]\n", Some(&workflow()), &reopen(&["2"]), Strictness::Warn).unwrap();
    assert_eq!(text, "stepsCompleted: [1]\n");
    assert_eq!(plan.remarks, [Remark::NotCompleted { step: "2".to_owned() }]);
    let (_, plan) =
        run("stepsCompleted: [1, 2]\n", Some(&workflow()), &reopen(&["1"]), Strictness::Warn).unwrap();
    assert!(matches!(plan.remarks.as_slice(), [Remark::LaterStepsStay { .. }]));
}

#[test]
fn tracking_gives_an_id_once() {
    let track = Command::Track { id: "f00d".to_owned() };
    let (text, _) = run("a: 1\n", None, &track, Strictness::Warn).unwrap();
    assert_eq!(text, "a: 1\nstepmark_id: f00d\n");
    for before in ["id: SPEC-1\n", "stepmark_id: x\n"] {
        let (text, plan) = run(before, None, &track, Strictness::Warn).unwrap();
        assert_eq!(text, before);
        assert!(matches!(plan.remarks.as_slice(), [Remark::AlreadyTracked { .. }]));
    }
}

#[test]
fn broken_state_is_never_changed() {
    for frontmatter in ["a: [\n", "- a\n", "stepsCompleted: text\n"] {
        assert!(run(frontmatter, None, &complete(&["1"]), Strictness::Warn).is_err(), "{frontmatter}");
    }
}
