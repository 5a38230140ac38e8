//! The answers of the tools: as in the origin's state file, and in words.

use serde_json::{Map, Value as Json, json};
use stepmark_mcp::Answer;
use stepmark_model::coordination::{Overview, Record, State};
use stepmark_store::Error;
use stepmark_store::coordination::{CoordinationFiles, TaskChange};
use stepmark_store::records::no_record;

use crate::{
    commands::coordination::report::{discovery, wire},
    output::spinner::count,
};

/// Records in words; JSON has all of them.
const IN_WORDS: usize = 200;

type Changed<T> = (T, CoordinationFiles);

fn answer(structured: Json, text: impl Into<String>) -> Answer {
    let structured = match structured {
        Json::Object(keys) => keys,
        other => Map::from_iter([("value".to_owned(), other)]),
    };
    Answer { structured, text: text.into() }
}

fn with_drift(mut answer: Answer, files: &CoordinationFiles) -> Answer {
    let ids: Vec<&str> = files.drift.iter().map(|drift| drift.id.as_str()).collect();
    if !ids.is_empty() {
        let ids_listed = ids.join(", ");
        answer.text.push_str(&format!(
            "\nnote: a program changed {ids_listed} in a state file, which waits for a person, who says what counts"
        ));
        answer.structured.insert("drift".to_owned(), json!(ids));
    }
    answer
}

fn lines<'r>(of: &[&'r Record], none: &str, line: impl Fn(&'r Record) -> String) -> String {
    let more = of.len().saturating_sub(IN_WORDS);
    let rest = (more > 0).then(|| format!("… and {more} more"));
    let none = of.is_empty().then(|| none.to_owned());
    let lines = of.iter().take(IN_WORDS).map(|record| line(record));
    lines.chain(rest).chain(none).collect::<Vec<_>>().join("\n")
}

pub(super) fn begun(goal: &str, files: &CoordinationFiles) -> Answer {
    with_drift(answer(json!({ "goal": goal }), format!("begun: {goal}")), files)
}

pub(super) fn created((tasks, files): Changed<Vec<Record>>) -> Answer {
    let made = tasks.first().map(moved).unwrap_or_else(|| answer(json!({}), "nothing was made"));
    with_drift(made, &files)
}

pub(super) fn batch((tasks, files): Changed<Vec<Record>>) -> Answer {
    let ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let text = format!("{}: {}", count(ids.len(), "task"), ids.join(", "));
    with_drift(answer(json!({ "task_ids": ids }), text), &files)
}

pub(super) fn registered(agent: &str, role: &str, files: &CoordinationFiles) -> Answer {
    let text = format!("{agent} takes part as {role}");
    with_drift(answer(json!({ "agent_id": agent, "role": role }), text), files)
}

pub(super) fn alive(agent: &str, files: &CoordinationFiles) -> Answer {
    with_drift(answer(json!({ "agent_id": agent }), format!("{agent} is at work")), files)
}

pub(super) fn discovered((found, files): &Changed<Record>) -> Answer {
    let text = format!("noted as {}", found.id);
    with_drift(answer(json!({ "discovery_id": found.id }), text), files)
}

fn moved(task: &Record) -> Answer {
    let text = format!("{} is {}", task.id, task.status());
    answer(json!({ "task_id": task.id, "status": task.status() }), text)
}

pub(super) fn worked(change: &TaskChange) -> Answer {
    let mut done = moved(&change.task);
    if change.task.status() == "done" {
        done.structured.insert("freed".to_owned(), json!(change.freed));
    }
    if !change.freed.is_empty() {
        done.text.push_str(&format!("; can be claimed now: {}", change.freed.join(", ")));
    }
    with_drift(done, &change.files)
}

pub(super) fn claimed(change: &TaskChange) -> Answer {
    let task = &change.task;
    let mut text = format!("{} is yours (priority {}):\n", task.id, task.priority());
    text.push_str(task.text("description").unwrap_or_default());
    let of_context = |key| task.values.get("context").and_then(|context| context.get(key));
    let files: Vec<&str> =
        of_context("files").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    if !files.is_empty() {
        text.push_str(&format!("\nread first: {}", files.join(", ")));
    }
    if let Some(hints) = of_context("hints").and_then(Json::as_str).filter(|hints| !hints.is_empty()) {
        text.push_str(&format!("\nhints: {hints}"));
    }
    if !change.orphaned.is_empty() {
        text.push_str(&format!(
            "\nfree again, since their agents were silent: {}",
            change.orphaned.join(", ")
        ));
    }
    with_drift(answer(json!({ "claimed": true, "task": wire(task) }), text), &change.files)
}

pub(super) fn nothing_to_claim(why: &Error) -> Answer {
    answer(json!({ "claimed": false }), why.to_string())
}

pub(super) fn status(overview: &Overview) -> Answer {
    let counts: Vec<String> =
        overview.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let Overview { goal, total, percent, agents, active, discoveries, .. } = overview;
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    let text = format!(
        "{goal}\n{}, {percent} % done: {counts}\n{}, {active} active; {}",
        count(*total, "task"),
        count(*agents, "agent"),
        match discoveries {
            1 => "1 discovery".to_owned(),
            many => format!("{many} discoveries"),
        },
    );
    answer(overview.to_json(), text)
}

pub(super) fn tasks(state: &State, status: Option<&str>) -> Answer {
    let is_wanted = |task: &&Record| status.is_none_or(|status| task.status() == status);
    let found: Vec<&Record> = state.tasks.iter().filter(is_wanted).collect();
    let text = lines(&found, "no tasks", |task| {
        let holder = task.claimed_by().map(|agent| format!(" by {agent}")).unwrap_or_default();
        let title = task.text("description").and_then(|text| text.lines().next()).unwrap_or_default();
        format!("{} {}{holder}: {title}", task.id, task.status())
    });
    let all: Vec<Json> = found.iter().map(|task| wire(task)).collect();
    answer(json!({ "total": all.len(), "tasks": all }), text)
}

pub(super) fn results(state: &State, ids: &[String]) -> Result<Answer, Error> {
    let named = |id: &String| {
        let found = state.tasks.iter().find(|task| task.id == *id);
        found.ok_or_else(|| no_record("task", id))
    };
    let found: Vec<&Record> = if ids.is_empty() {
        state.tasks.iter().filter(|task| matches!(task.status(), "done" | "failed")).collect()
    } else {
        ids.iter().map(named).collect::<Result<_, _>>()?
    };
    let told = |task: &Record, key| {
        let value = task.values.get("result").and_then(|result| result.get(key)).and_then(Json::as_str);
        value.unwrap_or_default().to_owned()
    };
    let text = lines(&found, "no results", |task| {
        format!("{} {}: {}{}", task.id, task.status(), told(task, "output"), told(task, "error"))
    });
    let all: Vec<Json> = found.iter().map(|task| result(task)).collect();
    Ok(answer(json!({ "results": all }), text))
}

fn result(task: &Record) -> Json {
    let mut keys =
        Map::from_iter([("task_id".to_owned(), json!(task.id)), ("status".to_owned(), json!(task.status()))]);
    let own = ["claimed_by", "completed_at"].map(|key| (key, task.values.get(key)));
    let inner = task.values.get("result").and_then(Json::as_object).into_iter().flatten();
    let inner = inner.map(|(key, value)| (key.as_str(), Some(value)));
    for (key, value) in own.into_iter().chain(inner) {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            keys.insert(key.to_owned(), value.clone());
        }
    }
    Json::Object(keys)
}

pub(super) fn discoveries(state: &State, tags: &[String], limit: usize) -> Answer {
    let is_wanted = |found: &&Record| {
        tags.is_empty() || found.texts("tags").iter().any(|own| tags.iter().any(|tag| tag == own))
    };
    let found: Vec<&Record> = state.discoveries.iter().rev().filter(is_wanted).take(limit).collect();
    let text = lines(&found, "no discoveries", |one| {
        format!("{} by {}: {}", one.id, one.text("agent_id").unwrap_or_default(), one.body.trim_end())
    });
    let all: Vec<Json> = found.into_iter().map(discovery).collect();
    answer(json!({ "discoveries": all }), text)
}

pub(super) fn plan(state: &State) -> Answer {
    let (goal, plan) = (state.root.text("goal").unwrap_or_default(), &state.root.body);
    answer(json!({ "goal": goal, "master_plan": plan }), format!("{goal}\n\n{plan}").trim_end())
}
