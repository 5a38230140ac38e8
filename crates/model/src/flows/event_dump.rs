//! A dump of the events of Hivemind: `{metadata, payload: {type, …}}`, an array or an event a line. Folded as
//! far as its types are known.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Graph, TaskDefinition};

/// The graphs of a dump of events, and the rest of what it tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventDump {
    /// The number of events.
    pub events: usize,
    /// The graphs, with their tasks, in the order of their events.
    pub graphs: Vec<Graph>,
    /// The last status of each task in a flow, by `FLOW.TASK`.
    pub statuses: BTreeMap<String, String>,
    /// The types that are not known, and how many events each has.
    pub unknown: BTreeMap<String, usize>,
}

impl EventDump {
    /// Folds the events of `text`; `None` where it is no dump of events.
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

    /// Takes one event; `None` where it has no type.
    fn take(&mut self, payload: &Json) -> Option<()> {
        let kind = payload["type"].as_str()?;
        self.events += 1;
        if self.fold(kind, payload).is_none() {
            *self.unknown.entry(kind.to_owned()).or_default() += 1;
        }
        Some(())
    }

    /// Folds one event; `None` where it is not known, or not of the known form.
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

    /// The task that `payload` names under `key`, in the graph that it names.
    fn task(&mut self, payload: &Json, key: &str) -> Option<&mut TaskDefinition> {
        let id = payload[key].as_str()?;
        self.graph(payload["graph_id"].as_str()?)?.tasks.iter_mut().find(|task| task.id == id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
