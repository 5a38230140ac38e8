//! Changes of other programs, merged with ours.

use serde_json::json;

use super::{
    Format, RecordKind, State, merge,
    sample::{agent, state, task},
    seen,
};
use crate::records::{DriftChange, RecordSet as _};

fn ours() -> State {
    state(
        vec![
            task("a", json!({"status": "available", "description": "A"})),
            task("b", json!({"status": "cancelled", "description": "B", "mine": [1]})),
            task("c", json!({"status": "available", "description": "C"})),
        ],
        vec![agent(
            "w",
            json!({"role": "worker", "capabilities": ["rust"], "registered_at": "2026-11-24T09:00:00Z"}),
        )],
    )
}

const FORMATS: [Format; 3] = [Format::TasksFile, Format::ServerState, Format::OrchestratorState];

fn told(theirs: &State, ours: &State, base: Option<&State>, format: Format) -> (Vec<String>, Vec<String>) {
    let merged = merge(format, (base, theirs, ours), &|_| false);
    let drift = merged.drift.iter().map(|drift| format!("{:?} {} {}", drift.change, drift.kind, drift.id));
    let tasks = merged.state.tasks.iter().map(|task| format!("{} {}", task.id, task.status()));
    (drift.collect(), tasks.collect())
}

#[test]
fn what_a_format_does_not_hold_is_no_drift() {
    for format in FORMATS {
        let theirs = seen(format, &ours());
        let merged = merge(format, (None, &theirs, &ours()), &|_| false);
        assert_eq!((merged.drift, merged.state), (Vec::new(), ours()), "{format}");
    }
}

#[test]
fn a_record_in_drift_stays_and_the_others_go_on() {
    for format in FORMATS {
        let base = seen(format, &ours());
        let mut theirs = base.clone();
        theirs.tasks[0].set("status", "blocked");
        theirs.tasks.remove(2);
        theirs.tasks.push(task("new", json!({"status": "available", "description": "N"})));
        let mut ours = ours();
        ours.tasks[0].set("status", "claimed");
        ours.tasks[1].set("status", "available");
        ours.tasks.push(task("fresh", json!({"status": "pending", "description": "F"})));
        let (drift, tasks) = told(&theirs, &ours, Some(&base), format);
        assert_eq!(drift, ["Changed task a", "Removed task c", "Added task new"], "{format}");
        assert_eq!(tasks, ["a blocked", "b available", "fresh pending", "new available"], "{format}");
    }
}

#[test]
fn what_is_older_than_ours_is_no_drift() {
    let base = seen(Format::TasksFile, &ours());
    let mut ours = ours();
    ours.tasks[0].set("status", "claimed");
    ours.tasks.remove(2);
    let (drift, tasks) = told(&base, &ours, Some(&base), Format::TasksFile);
    assert_eq!((drift.len(), tasks), (0, vec!["a claimed".to_owned(), "b cancelled".to_owned()]));
    // Without a base nobody knows.
    let merged = merge(Format::TasksFile, (None, &base, &ours), &|_| false);
    let changes: Vec<_> = merged.drift.iter().map(|drift| (drift.change, drift.id.as_str())).collect();
    assert_eq!(changes, [(DriftChange::Changed, "a"), (DriftChange::Added, "c")]);
}

#[test]
fn an_import_takes_what_they_changed_and_keeps_what_they_cannot_hold() {
    for format in FORMATS {
        let (ours, seen) = (ours(), seen(format, &ours()));
        let mut theirs = seen.tasks[1].clone();
        theirs.set("status", "available");
        theirs.set("description", "B2");
        let taken = ours.tasks[1].taking(&seen.tasks[1], &theirs);
        let wanted = json!({"status": "available", "description": "B2", "mine": [1]});
        assert_eq!(*taken.values, *wanted.as_object().unwrap(), "{format}");
        let agent = ours.record(RecordKind::Agent, "w").unwrap();
        let shown = seen.record(RecordKind::Agent, "w").unwrap();
        let mut theirs = shown.clone();
        theirs.set("role", "leader");
        let taken = agent.taking(shown, &theirs);
        assert_eq!(
            (taken.text("role"), taken.texts("capabilities")),
            (Some("leader"), vec!["rust"]),
            "{format}"
        );
    }
}
