//! Graphs of tasks, and their faults.

use std::collections::{HashMap, HashSet};

use super::{
    FlowRecord,
    state::{FlowRecordError, is_flow_id, is_task_id},
};
use crate::artifact::{FileHash, StateDigest};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Graph {
    pub id: String,
    pub version: u64,
    pub title: String,
    pub tasks: Vec<TaskDefinition>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphProblem {
    #[error("it is no graph: {reason}")]
    Form { reason: String },
    #[error(
        "`{id}` cannot be an id: letters, digits, `-` and `_` are wanted, up to 80, and in those of tasks points"
    )]
    Id { id: String },
    #[error("it has no task")]
    Empty,
    #[error("two tasks have the id `{id}`")]
    Twice { id: String },
    #[error("the task `{task}` depends on `{dependency}`, which is no task of the graph")]
    UnknownDependency { task: String, dependency: String },
    #[error("tasks wait for each other: {}", circle.join(" → "))]
    Cyclic {
        /// The first id is repeated at the end.
        circle: Vec<String>,
    },
    #[error("the task `{task}` has `max_attempts: 0`: 1 is the least")]
    NoAttempt { task: String },
    #[error("the task `{task}` has checks without a name of their own: `{check}`")]
    CheckName { task: String, check: String },
    #[error("the scope `{scope}` of the task `{task}` is no path of the project")]
    Scope { task: String, scope: String },
}

impl Graph {
    /// `{id, title, tasks}`
    pub fn read(value: &Json) -> Result<Self, GraphProblem> {
        let form = |reason: String| GraphProblem::Form { reason };
        let entries = value.as_object().ok_or_else(|| form("a mapping is wanted".to_owned()))?;
        let known = ["id", "title", "tasks"];
        if let Some(odd) = entries.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(form(format!("`{odd}` is not known: it has `id`, `title` and `tasks`")));
        }
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let tasks =
            serde_json::from_value(value["tasks"].clone()).map_err(|error| form(error.to_string()))?;
        Ok(Self { id: text("id"), version: 1, title: text("title"), tasks })
    }

    pub fn of(record: &FlowRecord) -> Result<Self, FlowRecordError> {
        let tasks = record.values().get("tasks").cloned().unwrap_or_default();
        let tasks = serde_json::from_value(tasks)
            .map_err(|error| FlowRecordError::Value { key: "tasks".to_owned(), reason: error.to_string() })?;
        Ok(Self {
            id: record.text("graph").to_owned(),
            version: record.number("version"),
            title: record.text("title").to_owned(),
            tasks,
        })
    }

    pub fn task(&self, id: &str) -> Option<&TaskDefinition> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Identifies the graph version of a flow.
    pub fn digest(&self) -> String {
        let tasks = serde_json::to_value(&self.tasks).unwrap_or_default();
        let text = serde_json_canonicalizer::to_string(&tasks).unwrap_or_default();
        FileHash::of(text.as_bytes()).to_string()
    }

    pub fn check(&self) -> Result<(), GraphProblem> {
        if !is_flow_id(&self.id) || self.id == "graphs" {
            return Err(GraphProblem::Id { id: self.id.clone() });
        }
        if self.tasks.is_empty() {
            return Err(GraphProblem::Empty);
        }
        let (mut ids, mut names) = (HashSet::new(), HashSet::new());
        for task in &self.tasks {
            if !is_task_id(&task.id) {
                return Err(GraphProblem::Id { id: task.id.clone() });
            }
            ids.insert(task.id.as_str());
            // Some file systems ignore case.
            if !names.insert(task.id.to_lowercase()) {
                return Err(GraphProblem::Twice { id: task.id.clone() });
            }
            check_task(task)?;
        }
        for task in &self.tasks {
            if let Some(unknown) = task.depends_on.iter().find(|id| !ids.contains(id.as_str())) {
                let (task, dependency) = (task.id.clone(), unknown.clone());
                return Err(GraphProblem::UnknownDependency { task, dependency });
            }
        }
        self.circle().map_or(Ok(()), |circle| Err(GraphProblem::Cyclic { circle }))
    }

    /// The first id is repeated at the end.
    fn circle(&self) -> Option<Vec<String>> {
        let waits_for: HashMap<&str, &[String]> =
            self.tasks.iter().map(|task| (task.id.as_str(), task.depends_on.as_slice())).collect();
        // Removes tasks without open dependencies; cycles and their dependants remain.
        let mut open: HashMap<&str, usize> = HashMap::new();
        let mut waiting: HashMap<&str, Vec<&str>> = HashMap::new();
        for task in &self.tasks {
            open.insert(&task.id, task.depends_on.len());
            for dependency in &task.depends_on {
                waiting.entry(dependency).or_default().push(&task.id);
            }
        }
        let mut free: Vec<&str> = open.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
        while let Some(done) = free.pop() {
            open.remove(done);
            for task in waiting.get(done).into_iter().flatten() {
                if let Some(count) = open.get_mut(task) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(task);
                    }
                }
            }
        }
        let mut way: Vec<&str> =
            vec![self.tasks.iter().map(|task| task.id.as_str()).find(|id| open.contains_key(id))?];
        loop {
            let last = way.last()?;
            let next = waits_for.get(last)?.iter().find(|id| open.contains_key(id.as_str()))?;
            if let Some(begin) = way.iter().position(|id| id == next) {
                let circle = way[begin..].iter().chain([&way[begin]]);
                return Some(circle.map(|id| (*id).to_owned()).collect());
            }
            way.push(next);
        }
    }
}

fn check_task(task: &TaskDefinition) -> Result<(), GraphProblem> {
    if task.retry.max_attempts == 0 {
        return Err(GraphProblem::NoAttempt { task: task.id.clone() });
    }
    let mut names = HashSet::new();
    let odd = task.checks.iter().find(|check| check.name.trim().is_empty() || !names.insert(&check.name));
    match odd {
        Some(check) => Err(GraphProblem::CheckName { task: task.id.clone(), check: check.name.clone() }),
        None => check_scopes(task),
    }
}

fn check_scopes(task: &TaskDefinition) -> Result<(), GraphProblem> {
    let scopes = &task.required_scopes;
    let leads_out =
        |scope: &&String| scope.starts_with('/') || scope.split(['/', '\\']).any(|part| part == "..");
    let odd = scopes.read.iter().chain(&scopes.write).find(leads_out);
    match odd {
        Some(scope) => Err(GraphProblem::Scope { task: task.id.clone(), scope: scope.clone() }),
        None => Ok(()),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskDefinition {
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub depends_on: Vec<String>,
    #[serde(default)]
    pub success_criteria: Vec<String>,
    #[serde(default)]
    pub checks: Vec<Check>,
    #[serde(default)]
    pub retry: RetryPolicy,
    #[serde(default)]
    pub required_scopes: Scopes,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub name: String,
    #[serde(default)]
    pub command: String,
    #[serde(default = "yes")]
    pub required: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryPolicy {
    /// Including the first.
    #[serde(default = "once")]
    pub max_attempts: u64,
    #[serde(default = "Failure::retried")]
    pub on: Vec<Failure>,
    /// A person is asked after the last failure.
    #[serde(default)]
    pub escalate: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    CheckFailure,
    SoftFail,
    /// Exit status other than 0, or a silent agent.
    Crash,
    /// The verifier rules out another attempt.
    HardFail,
}

/// Paths, folders or patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scopes {
    #[serde(default)]
    pub read: Vec<String>,
    #[serde(default)]
    pub write: Vec<String>,
}

/// Open: no end, no outcome. Interrupted: an end only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Attempt {
    pub attempt_id: String,
    #[serde(default)]
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    #[serde(default)]
    pub started_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_summary: Option<OutputSummary>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputSummary {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<String>,
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub tests: Json,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Verification {
    pub attempt_id: String,
    #[serde(default)]
    pub checks: Vec<CheckResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<Verifier>,
    #[serde(default)]
    pub failure_reasons: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(default)]
    pub decided_at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CheckResult {
    /// Last lines of output, for failure reasons.
    #[serde(skip)]
    pub tail: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    pub passed: bool,
    /// False: informational.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    /// SHA-256 of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_digest: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Verifier {
    pub agent: String,
    pub decision: Decision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    Pass,
    SoftFail,
    HardFail,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergePlan {
    pub target_branch: String,
    #[serde(default)]
    pub base: String,
    /// Each on top of the one before.
    #[serde(default)]
    pub commits: Vec<String>,
    #[serde(default)]
    pub conflicts: Vec<String>,
    /// Their last attempt has no checkpoint, so their work is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanAction {
    pub action: String,
    #[serde(default)]
    pub actor: String,
    #[serde(default)]
    pub decided_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl MergePlan {
    /// An approval is for one plan.
    pub fn digest(&self) -> String {
        StateDigest::of(&serde_json::to_value(self).unwrap_or_default()).to_string()
    }
}

impl Attempt {
    pub fn is_crashed(&self) -> bool {
        self.ended_at.is_some() && self.exit_status != Some(0)
    }
}

impl Failure {
    /// The default.
    fn retried() -> Vec<Self> {
        vec![Self::CheckFailure, Self::SoftFail, Self::Crash]
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: once(), on: Failure::retried(), escalate: false }
    }
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_yes(value: &bool) -> bool {
    *value
}

const fn once() -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(tasks: Json) -> String {
        let graph = Graph::read(&json!({"id": "g", "tasks": tasks}));
        graph.and_then(|graph| graph.check()).map_or_else(|error| error.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn what_cannot_be_run_is_told() {
        for (tasks, expected) in [
            (json!([{"id": "a"}, {"id": "b", "depends_on": ["a"]}]), "fine"),
            (json!([{"id": "a"}, {"id": "A"}]), "two tasks have the id `A`"),
            (json!([{"id": "a", "required_scopes": {"write": ["src/*.rs", "docs/"]}}]), "fine"),
            (
                json!([{"id": "a", "required_scopes": {"write": ["../x"]}}]),
                "the scope `../x` of the task `a` is no path of the project",
            ),
            (json!([]), "it has no task"),
            (json!([{"id": "a"}, {"id": "a"}]), "two tasks have the id `a`"),
            (json!([{"id": "a b"}]), "`a b` cannot be an id"),
            (json!([{"id": "a", "depends_on": ["x"]}]), "`a` depends on `x`"),
            (json!([{"id": "a", "depends_on": ["a"]}]), "a → a"),
            (
                json!([{"id": "x", "depends_on": ["c"]}, {"id": "a", "depends_on": ["b"]}, {"id": "b", "depends_on": ["c"]},
                    {"id": "c", "depends_on": ["a"]}]),
                "c → a → b → c",
            ),
            (json!([{"id": "a", "retry": {"max_attempts": 0}}]), "max_attempts: 0"),
            (json!([{"id": "a", "checks": [{"name": "t"}, {"name": "t"}]}]), "of their own: `t`"),
            (json!([{"id": "a", "context": "all of it"}]), "unknown field `context`"),
            (json!("x"), "it is no graph"),
        ] {
            let found = checked(tasks.clone());
            assert!(found.contains(expected), "{tasks}: {found}");
        }
    }

    #[test]
    fn a_long_chain_is_no_circle() {
        let tasks = (0..1000).map(|number| match number {
            0 => json!({"id": "t0"}),
            _ => json!({"id": format!("t{number}"), "depends_on": [format!("t{}", number - 1), "t0"]}),
        });
        assert_eq!(checked(tasks.collect()), "fine");
    }
}
