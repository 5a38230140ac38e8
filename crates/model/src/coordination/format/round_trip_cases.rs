//! States through other formats and other programs, and back.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::{
    Files, Format,
    cases::{NOW, sample, signals},
    read, render,
};
use crate::coordination::{
    merge,
    sample::{any_json, any_values},
    seen,
};
use crate::records::{Signals, values_digest};

fn saved_again(files: &Files, changed: impl Fn(&mut Map<String, Json>)) -> Files {
    let mut file: Json = serde_json::from_slice(&files["orchestrator-state.json"]).unwrap();
    for task in file["tasks"].as_array_mut().unwrap() {
        let task = task.as_object_mut().unwrap();
        for (key, value) in [
            ("blocks", json!([])),
            ("started_at", Json::Null),
            ("attempts", json!(0)),
            ("max_attempts", json!(3)),
            ("status", json!("available")),
            ("priority", json!(5)),
            ("created_at", json!("2026-11-25T00:00:00")),
            ("result", Json::Null),
        ] {
            task.entry(key).or_insert(value);
        }
        let context = task.entry("context").or_insert_with(|| json!({})).as_object_mut().unwrap();
        for (key, value) in
            [("files", json!([])), ("hints", json!("")), ("parent_task", Json::Null), ("metadata", json!({}))]
        {
            context.entry(key).or_insert(value);
        }
        changed(task);
    }
    for agent in file["agents"].as_object_mut().unwrap().values_mut() {
        for (key, value) in [
            ("is_active", json!(false)),
            ("current_task", Json::Null),
            ("pid", Json::Null),
            ("metrics", json!({"tasks_completed": 0, "avg_task_time": 0.0})),
            ("working_directory", json!(".")),
            ("model", json!("any")),
            ("max_concurrent_tasks", json!(1)),
        ] {
            agent.as_object_mut().unwrap().entry(key).or_insert(value);
        }
    }
    Files::from([("orchestrator-state.json".to_owned(), file.to_string().into_bytes())])
}

#[test]
fn what_an_orchestrator_saves_unchanged_says_the_same() {
    let files = render(Format::OrchestratorState, &sample(), &signals(), NOW);
    let again = read(Format::OrchestratorState, &saved_again(&files, |_| {})).unwrap();
    for (before, after) in sample().tasks.iter().zip(&again.tasks) {
        assert_eq!(values_digest(before), values_digest(after), "{before:?} {after:?}");
    }
    let theirs = merge(Format::OrchestratorState, (None, &again, &sample()), &|_| false);
    assert_eq!(theirs.drift, Vec::new());
    let again = saved_again(&files, |task| {
        task.insert("status".to_owned(), "available".into());
    });
    let again = read(Format::OrchestratorState, &again).unwrap();
    assert!(again.tasks.iter().all(|task| task.status() == "available"), "{:?}", again.tasks);
}

const KEYS: &[&str] = &[
    "description",
    "status",
    "priority",
    "claimed_by",
    "dependencies",
    "context",
    "result",
    "created_at",
    "claimed_at",
    "completed_at",
    "tags",
    "blocks",
    "attempts",
    "content",
    "agent",
];

/// `value` without nulls and the values that B writes where a task says nothing.
fn without_nulls(values: &Map<String, Json>) -> Json {
    let filled_in = json!({"dependencies": [], "description": "", "status": "available", "priority": 5});
    let says = |(key, value): &(&String, &Json)| !value.is_null() && filled_in.get(*key) != Some(*value);
    let kept = values.iter().filter(says);
    Json::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn any_context() -> impl Strategy<Value = Json> {
    let keys = &["files", "hints", "parent_task", "tags", "metadata", "stepmark"][..];
    let entry = (
        prop::sample::select(keys),
        prop_oneof![any_json(), Just(json!({"stepmark": 1})), Just(json!({"a": 1}))],
    );
    prop::collection::vec(entry, 0..4).prop_map(|entries| {
        Json::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    })
}

fn any_task() -> impl Strategy<Value = Map<String, Json>> {
    (any_values(KEYS), prop::option::of(any_context()), prop::option::of(any_json())).prop_map(
        |(mut values, context, result)| {
            if let Some(context) = context {
                values.insert("context".to_owned(), context);
            }
            if let Some(result) = result {
                values.insert("result".to_owned(), json!({"output": result.clone(), "x": result}));
            }
            values.retain(|key, _| key != "id");
            values
        },
    )
}

fn canonical(value: &Json) -> String {
    serde_json_canonicalizer::to_string(value).unwrap()
}

proptest! {
    /// Files of A that another program wrote, through each format and back.
    #[test]
    fn a_to_b_to_c_to_a_keeps_every_task(tasks in prop::collection::vec(any_task(), 0..3), extra in any_values(KEYS)) {
        let mut file = extra;
        file.retain(|key, _| !["version", "created_at", "last_updated", "last_activity", "last_seen", "last_heartbeat"].contains(&key.as_str()));
        let items = tasks.iter().enumerate().map(|(place, values)| {
            let mut values = values.clone();
            values.insert("id".to_owned(), format!("t{place}").into());
            Json::Object(values)
        });
        file.insert("tasks".to_owned(), items.collect());
        let bytes = Json::Object(file.clone()).to_string().into_bytes();
        let first = read(Format::TasksFile, &Files::from([("tasks.json".to_owned(), bytes)])).unwrap();
        let mut written: Map<String, Json> =
            serde_json::from_slice(&render(Format::TasksFile, &first, &Signals::new(), NOW)["tasks.json"]).unwrap();
        written.shift_remove("last_updated");
        prop_assert_eq!(canonical(&written.into()), canonical(&file.into()));
        // By files alone, each imported into empty projects.
        let second = seen(Format::ServerState, &first);
        let third = seen(Format::OrchestratorState, &second);
        let fourth = seen(Format::TasksFile, &third);
        prop_assert_eq!(fourth.tasks.len(), tasks.len());
        for (task, values) in fourth.tasks.iter().zip(&tasks) {
            prop_assert_eq!(canonical(&without_nulls(&task.values)), canonical(&without_nulls(values)));
        }
        // The note is exact: what C is given comes back.
        for (task, given) in third.tasks.iter().zip(&second.tasks) {
            prop_assert_eq!(&task.values, &given.values);
        }
    }
}
