//! Event dumps of Hivemind: `{metadata, payload: {type, …}}`, as an array or one event per line. Unknown
//! types are counted only.

use super::{FlowState, Graph, TaskDefinition};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashSet};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventDump {
    pub events: usize,
    pub graphs: Vec<Graph>,
    /// Latest, by `FLOW.TASK`.
    pub statuses: BTreeMap<String, String>,
    pub unknown: BTreeMap<String, usize>,
}

impl EventDump {
    pub fn read(text: &str) -> Option<Self> {
        let events: Vec<Json> = match serde_json::from_str(text) {
            Ok(Json::Array(events)) => events,
            Ok(event @ Json::Object(_)) => vec![event],
            _ => {
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                lines.map(serde_json::from_str).collect::<Result<_, _>>().ok()?
            }
        };
        let mut dump = Self::default();
        for event in &events {
            dump.take(&event["payload"])?;
        }
        (dump.events > 0).then_some(dump)
    }

    fn take(&mut self, payload: &Json) -> Option<()> {
        let kind = payload["type"].as_str()?;
        self.events += 1;
        if self.fold(kind, payload).is_none() {
            *self.unknown.entry(kind.to_owned()).or_default() += 1;
        }
        Some(())
    }

    fn fold(&mut self, kind: &str, payload: &Json) -> Option<()> {
        let text = |key: &str| payload[key].as_str();
        match kind {
            "task_graph_created" => {
                let (id, title) = (text("graph_id")?.to_owned(), text("name").unwrap_or_default().to_owned());
                self.graphs.push(Graph { id, title, version: 1, tasks: Vec::new() });
            }
            "task_added_to_graph" => {
                let task = &payload["task"];
                let id = task["id"].as_str()?.to_owned();
                let title = task["title"].as_str().unwrap_or_default().to_owned();
                let graph = self.graph(text("graph_id")?)?;
                graph.tasks.push(TaskDefinition { id, title, ..TaskDefinition::default() });
            }
            "dependency_added" => {
                let task = self.task(payload, "to_task")?;
                task.depends_on.push(text("from_task")?.to_owned());
            }
            "graph_task_check_added" => {
                let said = &payload["check"];
                let mut check = serde_json::Map::new();
                for key in ["name", "command", "required"] {
                    check.extend(said.get(key).map(|value| (key.to_owned(), value.clone())));
                }
                let check = serde_json::from_value(Json::Object(check)).ok()?;
                self.task(payload, "task_id")?.checks.push(check);
            }
            "task_execution_state_changed" => {
                let task = format!("{}.{}", text("flow_id")?, text("task_id")?);
                self.statuses.insert(task, text("to")?.to_ascii_uppercase());
            }
            _ => return None,
        }
        Some(())
    }

    fn graph(&mut self, id: &str) -> Option<&mut Graph> {
        self.graphs.iter_mut().find(|graph| graph.id == id)
    }

    fn task(&mut self, payload: &Json, key: &str) -> Option<&mut TaskDefinition> {
        let id = payload[key].as_str()?;
        self.graph(payload["graph_id"].as_str()?)?.tasks.iter_mut().find(|task| task.id == id)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct FollowingEvent {
    /// `task-ready`, `task-blocked`, `external-modification` or `constitution-changed`.
    pub kind: &'static str,
    /// `None`: the flow itself.
    pub task: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowFact {
    pub kind: String,
    /// `flow accept`
    pub command: Option<String>,
    pub task: Option<String>,
    pub to: Option<String>,
    /// Digest at that time.
    pub constitution: Option<String>,
}

/// Derived events, in the order of `facts`: a task is ready with its last dependency; a failed one blocks
/// dependants; an accepted edit was external; the constitution changed before the first event with another
/// digest.
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
    use serde_json::json;

    #[test]
    fn known_types_are_folded_and_others_counted() {
        let events = [
            json!({"type": "task_graph_created", "graph_id": "g1", "name": "Release"}),
            json!({"type": "task_added_to_graph", "graph_id": "g1", "task": {"id": "a", "title": "Build"}}),
            json!({"type": "task_added_to_graph", "graph_id": "g1", "task": {"id": "b"}}),
            json!({"type": "dependency_added", "graph_id": "g1", "from_task": "a", "to_task": "b"}),
            json!({"type": "graph_task_check_added", "graph_id": "g1", "task_id": "a",
                "check": {"name": "tests", "command": "make test", "timeout_ms": 5}}),
            json!({"type": "task_execution_state_changed", "flow_id": "f1", "task_id": "a", "to": "success"}),
            json!({"type": "context_op_applied"}),
            json!({"type": "dependency_added", "graph_id": "other", "from_task": "a", "to_task": "b"}),
        ]
        .map(|payload| json!({"metadata": {"sequence": 1}, "payload": payload}));
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        let dump = EventDump::read(&lines).unwrap();
        assert_eq!(EventDump::read(&json!(events).to_string()).as_ref(), Some(&dump));
        assert_eq!((dump.events, dump.graphs.len(), dump.statuses["f1.a"].as_str()), (8, 1, "SUCCESS"));
        let [build, other] = &dump.graphs[0].tasks[..] else { panic!("{dump:?}") };
        assert_eq!(
            (build.checks[0].command.as_str(), other.depends_on.as_slice()),
            ("make test", &["a".to_owned()][..])
        );
        let unknown: Vec<(&str, usize)> =
            dump.unknown.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        assert_eq!(unknown, [("context_op_applied", 1), ("dependency_added", 1)]);
        for text in ["", "id: g\ntasks: []\n", "{\"id\": \"g\", \"tasks\": []}", "[]", "[1]"] {
            assert_eq!(EventDump::read(text), None, "{text}");
        }
    }

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
