//! The answers of `stepmark task` and `stepmark coordination`.

use serde_json::{Value as Json, json};
use stepmark_model::coordination::Record;
use stepmark_store::coordination::{CoordinationFiles, TaskChange};

use crate::{
    commands::followed_files,
    exit::{Exit, Failure},
    output::{ListArguments, Output, table},
};

const TASK: &str = "stepmark.task/1";

pub(super) fn added(tasks: &[Record], files: &CoordinationFiles, output: &Output) -> Result<Exit, Failure> {
    output.json_or(
        TASK,
        || json!({"tasks": tasks.iter().map(wire).collect::<Vec<_>>(), "files": followed_files::wire(files)}),
        || tasks.iter().for_each(|task| output.line(&task.id)),
    );
    Ok(told(files, output))
}

pub(super) fn tasks(tasks: Vec<Record>, list: &ListArguments, output: &Output) -> Result<Exit, Failure> {
    list.answer((output, "stepmark.tasks/1", "tasks"), tasks, wire, |tasks| {
        let row = |task: &Record| {
            let text = |key: &str| task.text(key).unwrap_or("-").to_owned();
            vec![
                task.id.clone(),
                text("status"),
                task.priority().to_string(),
                text("claimed_by"),
                title(task),
            ]
        };
        output.line(table(&["ID", "STATUS", "PRIORITY", "AGENT", "DESCRIPTION"], tasks.iter().map(row)));
    })?;
    Ok(Exit::Fine)
}

pub(super) fn task(task: &Record, output: &Output) {
    output.json_or(
        TASK,
        || json!({"task": wire(task)}),
        || {
            output.line(format_args!("{}  {}", task.id, title(task)));
            for (key, value) in
                task.values.iter().filter(|(key, _)| !["id", "description"].contains(&key.as_str()))
            {
                output.line(format_args!("  {key}: {}", plain(value)));
            }
        },
    );
}

pub(super) fn next(next: Option<&Record>, output: &Output) {
    output.json_or(
        TASK,
        || json!({"task": next.map(wire)}),
        || match next {
            Some(task) => output.line(format_args!("{}  {}", task.id, title(task))),
            None => output.remark("no task can be claimed"),
        },
    );
}

pub(super) fn changed(change: &TaskChange, output: &Output) -> Result<Exit, Failure> {
    let task = &change.task;
    output.json_or(
        TASK,
        || {
            json!({
                "task": wire(task),
                "freed": change.freed,
                "orphaned": change.orphaned,
                "files": followed_files::wire(&change.files),
            })
        },
        || {
            let holder = task.claimed_by().map_or_else(String::new, |agent| format!(", {agent}"));
            output.line(format_args!("{}  {}{holder}  {}", task.id, task.status(), title(task)));
            for id in &change.freed {
                output.remark(format_args!("{id}: available now"));
            }
            for id in &change.orphaned {
                output.remark(format_args!(
                    "{id}: its agent was silent for too long, so it was available again"
                ));
            }
        },
    );
    Ok(told(&change.files, output))
}

pub(crate) fn told(files: &CoordinationFiles, output: &Output) -> Exit {
    followed_files::told(files, "coordination", output)
}

pub(crate) fn wire(record: &Record) -> Json {
    let mut wire = serde_json::Map::new();
    wire.insert("id".to_owned(), record.id.clone().into());
    wire.extend(record.values.iter().map(|(key, value)| (key.clone(), value.clone())));
    Json::Object(wire)
}

pub(crate) fn discovery(record: &Record) -> Json {
    let mut wire = wire(record);
    wire["content"] = record.body.as_str().into();
    wire
}

fn title(task: &Record) -> String {
    task.text("description").and_then(|text| text.lines().next()).unwrap_or("-").to_owned()
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
