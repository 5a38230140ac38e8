//! Facts that follow from the events of a flow, and stand in none of them.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::{FlowState, TaskDefinition};
use crate::journal::Event;

/// A fact that follows from an event of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowingEvent {
    /// `task-ready`, `task-blocked` or `external-modification`.
    pub kind: &'static str,
    /// The task in the graph; `None` for what is about the flow.
    pub task: Option<String>,
}

/// What follows from each of `events`, which come in their order: with its last dependency a task is ready,
/// one that failed blocks those that wait for it, and an edit that a person accepted was made by other means.
pub fn following_events<'e>(
    state: &FlowState,
    events: impl IntoIterator<Item = &'e Event>,
) -> Vec<Vec<FollowingEvent>> {
    let (mut done, mut blocked) = (HashSet::new(), HashSet::new());
    let tasks = &state.graph.tasks;
    let all = |kind, tasks: Vec<&TaskDefinition>| -> Vec<FollowingEvent> {
        tasks.into_iter().map(|task| FollowingEvent { kind, task: Some(task.id.clone()) }).collect()
    };
    let follow = |event: &'e Event| {
        let task = event.context().task;
        if event.command.as_deref() == Some("flow accept") {
            return vec![FollowingEvent { kind: "external-modification", task }];
        }
        if event.kind.as_str() == "flow-started" {
            return all("task-ready", tasks.iter().filter(|task| task.depends_on.is_empty()).collect());
        }
        let Some(task) = task else { return Vec::new() };
        let waiting = tasks.iter().filter(|own| own.depends_on.contains(&task));
        match event.data.get("to").and_then(Json::as_str) {
            Some("SUCCESS") if done.insert(task.clone()) => {
                let is_free = |own: &&TaskDefinition| own.depends_on.iter().all(|id| done.contains(id));
                all("task-ready", waiting.filter(is_free).collect())
            }
            Some("FAILED" | "ESCALATED") if blocked.insert(task.clone()) => {
                all("task-blocked", waiting.collect())
            }
            Some("RETRY") => {
                blocked.remove(&task);
                Vec::new()
            }
            _ => Vec::new(),
        }
    };
    events.into_iter().map(follow).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        flows::sample,
        journal::{Actor, EventDraft, Kind, WorkContext},
    };

    fn event(kind: &'static str, task: &str, to: &str) -> Event {
        let task = (!task.is_empty()).then(|| task.to_owned());
        let context = WorkContext { flow: Some("f".to_owned()), task, ..WorkContext::default() };
        let draft = EventDraft::new(Kind::of(kind)).within(&context).with("to", json!(to));
        Event::new(draft, Actor::human("Ada"), "2026-11-25T10:00:00Z".parse().unwrap())
    }

    #[test]
    fn the_last_dependency_frees_and_a_failure_blocks_once() {
        let events = [
            event("flow-started", "", "RUNNING"),
            event("verification-passed", "a", "SUCCESS"),
            event("verification-passed", "b", "SUCCESS"),
            event("verification-failed", "c", "FAILED"),
            event("task-escalated", "c", "ESCALATED"),
            event("human-override", "c", "RETRY"),
            event("verification-passed", "c", "SUCCESS"),
        ];
        let told = following_events(&sample::state(), &events).into_iter().map(|following| {
            let words =
                following.iter().map(|one| format!("{} {}", one.kind, one.task.as_deref().unwrap_or("-")));
            words.collect::<Vec<_>>().join(", ")
        });
        let expected =
            ["task-ready a", "task-ready b, task-ready c", "", "task-blocked d", "", "", "task-ready d"];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }
}
