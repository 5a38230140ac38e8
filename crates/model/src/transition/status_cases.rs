//! Moves of the status against whole files: what they write, and what the law says.

use super::{
    Command, DecisionContext, Remark, StatusMove, Strictness, TransitionRefusal, decide, judge_status,
};
use crate::{
    artifact::{Artifact, ProjectPath},
    lifecycle::{DeclaredLifecycle, Lifecycle, MoveRefusal},
};
use stepmark_frontmatter::{KeyPath, Region, Value, apply};

const TABLE: &str = "
name: work
states:
  - {name: waiting, initial: true}
  - {name: running, synonyms: [active]}
  - {name: held, return_to: held_from}
  - {name: over, terminal: true}
moves:
  - {from: waiting, to: running}
  - {from: running, to: waiting}
  - {from: running, to: over, guards: [steps-finished, filled(result)]}
  - {from: '*', to: held, guards: [children-finished]}
counters:
  - {key: tries, entering: running, at_most: 3, reset_by: over}
";

fn table() -> std::sync::Arc<Lifecycle> {
    DeclaredLifecycle::of(&serde_yaml::from_str(TABLE).unwrap()).unwrap().lifecycle
}

fn artifact(frontmatter: &str) -> Artifact {
    Artifact::read(ProjectPath::new("a.md").unwrap(), format!("---\n{frontmatter}---\n").into_bytes())
}

/// The frontmatter after `command`, and what is remarked.
fn run(before: &str, command: &Command) -> Result<(String, Vec<Remark>), TransitionRefusal> {
    let lifecycle = table();
    let decision_context =
        DecisionContext { workflow: None, lifecycle: Some(&lifecycle), strictness: Strictness::Warn };
    let artifact = artifact(before);
    let plan = decide(&artifact, &decision_context, command)?;
    let edited = apply(artifact.bytes(), &Region::Frontmatter, &plan.edits).unwrap();
    let text = String::from_utf8(edited.bytes).unwrap();
    let inner = text.strip_prefix("---\n").and_then(|text| text.strip_suffix("---\n")).unwrap();
    Ok((inner.to_owned(), plan.remarks))
}

fn to(state: &str) -> Command {
    Command::Transition { to: state.to_owned() }
}

fn set(assignments: &[(&str, Value)]) -> Command {
    let path = |key: &str| key.parse::<KeyPath>().unwrap();
    Command::Set { assignments: assignments.iter().map(|(key, value)| (path(key), value.clone())).collect() }
}

#[test]
fn a_move_writes_the_name_and_what_the_table_keeps() {
    for (before, command, after) in [
        ("status: 'waiting' # w | r\n", to("ACTIVE"), "status: 'running' # w | r\ntries: 1\n"),
        ("title: x\n", to("waiting"), "title: x\nstatus: waiting\n"),
        ("status: running\ntries: 2\n", to("held"), "status: held\ntries: 2\nheld_from: running\n"),
        ("status: held\nheld_from: running\ntries: 2\n", to("running"), "status: running\ntries: 3\n"),
        ("status: running\ntries: 2\n", to("over"), "status: over\ntries: 0\n"),
        // By insisting, which others judge.
        ("status: odd\n", to("held"), "status: held\n"),
        ("status: waiting\n", set(&[("status", "active".into())]), "status: active\ntries: 1\n"),
        (
            "status: waiting\n",
            set(&[("status", "running".into()), ("tries", Value::Integer(7))]),
            "status: running\ntries: 7\n",
        ),
        (
            "status: waiting\nparts: [{status: a}]\n",
            set(&[("parts[0].status", "running".into())]),
            "status: waiting\nparts: [{status: running}]\n",
        ),
        ("status: waiting\n", set(&[("status", "odd".into())]), "status: odd\n"),
        ("status: waiting\n", set(&[("title", "x".into())]), "status: waiting\ntitle: x\n"),
    ] {
        let (text, remarks) = run(before, &command).unwrap();
        assert_eq!(text, after, "{before} {command}");
        assert_eq!(remarks, [], "{before} {command}");
    }
    let (text, remarks) = run("status: active\n", &to("running")).unwrap();
    assert_eq!(text, "status: active\n");
    assert_eq!(remarks[0].to_string(), "its status `active` means `running` already");
    assert!(!remarks[0].is_warning());
}

#[test]
fn where_there_is_no_such_state_nothing_is_planned() {
    let refused = run("status: waiting\n", &to("runing")).unwrap_err();
    let TransitionRefusal::Move(refusal) = refused else { panic!("{refused}") };
    let MoveRefusal::UnknownTarget { near, legal, .. } = &*refusal else { panic!("{refusal}") };
    assert_eq!((near.join(" "), legal.join(" ")), ("running".to_owned(), "running held".to_owned()));
    let refused = run("status: odd\n", &to("runing")).unwrap_err();
    assert!(refused.to_string().contains("`runing` is no state"), "{refused}");
    let decision_context = DecisionContext { workflow: None, lifecycle: None, strictness: Strictness::Warn };
    let refused = decide(&artifact("status: waiting\n"), &decision_context, &to("running"));
    assert_eq!(refused, Err(TransitionRefusal::NoLifecycle));
}

#[test]
fn one_law_for_every_change_of_the_status() {
    let lifecycle = table();
    let judge = |before: &str, after: &str, open: &[&str], insistence| {
        let open: Vec<String> = open.iter().map(|step| (*step).to_owned()).collect();
        judge_status(&artifact(before), &artifact(after), &lifecycle, &open, &|_| None, insistence)
    };
    for (before, after, expected) in [
        ("status: waiting\n", "status: waiting\n", "no move"),
        ("status: running\n", "status: active\n", "no move"),
        ("status: odd\n", "status: odd\ntitle: x\n", "no move"),
        ("{}\n", "status: running\n", "moves"),
        ("status: waiting\n", "status: running\n", "moves"),
        ("status: waiting\n", "status: held\n", "moves, children"),
        ("status: running\n", "status: over\nresult: x\n", "moves, children"),
        ("status: running\nresult: x\n", "status: over\n", "`result` says nothing"),
        ("status: waiting\n", "status: over\nresult: x\n", "no move from `waiting` to `over`"),
        ("status: waiting\n", "status: odd\n", "`odd` is no state"),
        ("status: waiting\n", "title: x\n", "`null` is no state"),
        ("status: odd\n", "status: waiting\n", "`odd` is no state"),
        ("status: waiting\ntries: 3\n", "status: running\ntries: 0\n", "`tries` is 3"),
        ("status: held\nheld_from: waiting\n", "status: running\n", "no move from `held` to `running`"),
    ] {
        let told = match judge(before, after, &[], None) {
            Ok(None) => "no move".to_owned(),
            Ok(Some(moved)) if moved.wants_children_finished => "moves, children".to_owned(),
            Ok(Some(_)) => "moves".to_owned(),
            Err(refusal) => refusal.to_string(),
        };
        assert!(told.contains(expected), "{before} → {after}: {told}");
        let insisted = judge(before, after, &[], Some("because")).unwrap();
        let overridden = insisted.is_some_and(|StatusMove { overridden, .. }| overridden.is_some());
        assert_eq!(overridden, expected.contains('`'), "{before} → {after}");
    }
    let refused = judge("status: running\n", "status: over\nresult: x\n", &["step-02"], None).unwrap_err();
    assert!(refused.to_string().contains("open: `step-02`"), "{refused}");
}
