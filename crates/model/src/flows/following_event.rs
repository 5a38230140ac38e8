//! Facts that follow from the events of a flow, and stand in none of them.

use std::collections::HashSet;

use super::{FlowState, TaskDefinition};

/// A fact that follows from an event of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowingEvent {
    /// `task-ready`, `task-blocked`, `external-modification` or `constitution-changed`.
    pub kind: &'static str,
    /// The task in the graph; `None` for what is about the flow.
    pub task: Option<String>,
}

/// As much of an event of a flow as others follow from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowFact {
    /// Its kind.
    pub kind: String,
    /// The command, as `flow accept`.
    pub command: Option<String>,
    /// The task in the graph.
    pub task: Option<String>,
    /// The status that its record moved to.
    pub to: Option<String>,
    /// The digest of the constitution at that time.
    pub constitution: Option<String>,
}

/// The events that follow from each of `facts`, which come in their order: with its last dependency a task is
/// ready, one that failed blocks those that wait for it, an edit that a person accepted was made by other
/// means, and the constitution has changed before the first event that names another digest.
pub fn following_events(
    state: &FlowState,
    facts: impl IntoIterator<Item = FlowFact>,
) -> Vec<Vec<FollowingEvent>> {
    let (mut done, mut blocked, mut constitution) = (HashSet::new(), HashSet::new(), None);
    let tasks = &state.graph.tasks;
    let all = |kind, tasks: Vec<&TaskDefinition>| -> Vec<FollowingEvent> {
        tasks.into_iter().map(|task| FollowingEvent { kind, task: Some(task.id.clone()) }).collect()
    };
    let mut follow = |fact: FlowFact| {
        let task = fact.task;
        if fact.command.as_deref() == Some("flow accept") {
            return vec![FollowingEvent { kind: "external-modification", task }];
        }
        if fact.kind == "flow-started" {
            return all("task-ready", tasks.iter().filter(|task| task.depends_on.is_empty()).collect());
        }
        let Some(task) = task else { return Vec::new() };
        let waiting = tasks.iter().filter(|own| own.depends_on.contains(&task));
        match fact.to.as_deref() {
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
    let mut changed = |fact: &FlowFact| {
        let now = fact.constitution.clone();
        let before = now.and_then(|now| constitution.replace(now));
        before.is_some() && before != constitution
    };
    let with_changes = |fact: FlowFact| {
        let is_changed = changed(&fact);
        let own = is_changed.then_some(FollowingEvent { kind: "constitution-changed", task: None });
        own.into_iter().chain(follow(fact)).collect()
    };
    facts.into_iter().map(with_changes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::sample;

    fn fact(kind: &str, task: &str, to: &str) -> FlowFact {
        let task = (!task.is_empty()).then(|| task.to_owned());
        FlowFact { kind: kind.to_owned(), task, to: Some(to.to_owned()), ..FlowFact::default() }
    }

    #[test]
    fn the_last_dependency_frees_and_a_failure_blocks_once() {
        let facts = [
            fact("flow-started", "", "RUNNING"),
            fact("verification-passed", "a", "SUCCESS"),
            fact("verification-passed", "b", "SUCCESS"),
            fact("verification-failed", "c", "FAILED"),
            fact("task-escalated", "c", "ESCALATED"),
            fact("human-override", "c", "RETRY"),
            fact("verification-passed", "c", "SUCCESS"),
        ];
        let told = following_events(&sample::state(), facts).into_iter().map(|following| {
            let words =
                following.iter().map(|one| format!("{} {}", one.kind, one.task.as_deref().unwrap_or("-")));
            words.collect::<Vec<_>>().join(", ")
        });
        let expected =
            ["task-ready a", "task-ready b, task-ready c", "", "task-blocked d", "", "", "task-ready d"];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_constitution_has_changed_where_an_event_names_another() {
        let facts = [None, Some("1"), None, Some("1"), Some("2"), Some("2")].map(|digest| FlowFact {
            kind: "flow-paused".to_owned(),
            constitution: digest.map(str::to_owned),
            ..FlowFact::default()
        });
        let told = following_events(&sample::state(), facts);
        assert_eq!(told.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 0]);
        assert_eq!((told[4][0].kind, &told[4][0].task), ("constitution-changed", &None));
    }
}
