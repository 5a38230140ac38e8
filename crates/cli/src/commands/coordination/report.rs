//! The answers of `stepmark task` and `stepmark coordination`, and remedies of refusals: the command of a
//! person, or the tool of an agent.

use serde_json::{Value as Json, json};

use crate::{
    commands::followed_files,
    exit::{Exit, Failure},
    output::{ListArguments, Output, table},
};
use stepmark_model::{
    artifact::Kind,
    coordination::{Record, TaskRefusal, file_stem},
    lifecycle::built_in,
    spelling::argument,
};
use stepmark_store::coordination::{CoordinationFiles, TaskChange};

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

pub(crate) fn help_of_task(refusal: &TaskRefusal) -> Option<String> {
    of_refusal(refusal).map(|(command, _)| command)
}

/// The help of a caller of tools, where the error does not say it itself.
#[cfg(feature = "mcp")]
pub(crate) fn help_of_tools(error: &stepmark_store::Error) -> Option<String> {
    let of_task = error.detail().and_then(of_refusal).map(|(_, tool)| tool);
    of_task.or_else(|| error.remedy_of_tools().map(str::to_owned))
}

fn both(command: impl Into<String>, tool: impl Into<String>) -> (String, String) {
    (command.into(), tool.into())
}

fn of_refusal(refusal: &TaskRefusal) -> Option<(String, String)> {
    const OTHER: &str = "claim_task gives you a task that can be done now";
    Some(match refusal {
        TaskRefusal::Status { task, status, .. } => of_status(task, status),
        TaskRefusal::Several { first, .. } => of_refusal(first)?,
        TaskRefusal::Waits { .. } | TaskRefusal::Later { .. } => {
            both("`stepmark task next --agent ID` says which task can be claimed now", OTHER)
        }
        TaskRefusal::Capabilities { agent, missing, .. } => {
            let all: Vec<String> =
                missing.iter().map(|name| format!(" --capability {}", argument(name))).collect();
            let (agent, all) = (argument(agent), all.concat());
            both(
                format!("name all that it is capable of: `stepmark coordination register {agent}{all}`"),
                OTHER,
            )
        }
        TaskRefusal::TooManyClaims { .. } => both("", "complete_task or fail_task ends one"),
        TaskRefusal::NotHolder { agent, .. } => both(
            format!("`stepmark task next --agent {}` says which task it can claim", argument(agent)),
            OTHER,
        ),
        TaskRefusal::Exhausted { task, key, .. } => both(
            format!("`stepmark set {} {key}=NUMBER` allows more", file_stem(task)),
            "create_task adds what is left to do",
        ),
        TaskRefusal::IdTaken { .. } => {
            both("give it another one with `--id`, or none", "give it another id, or none")
        }
        TaskRefusal::UnknownAgent { agent } => both(
            format!("`stepmark coordination register {}` makes it known", argument(agent)),
            "register_agent makes you known",
        ),
        TaskRefusal::UnknownDependency { .. } => {
            both("`stepmark task list` shows the tasks", "get_all_tasks lists the tasks")
        }
        TaskRefusal::Circle { .. } => both("leave one of them out", "leave one of them out"),
        _ => return None,
    })
}

fn of_status(task: &str, status: &str) -> (String, String) {
    let state = built_in("cc-task").and_then(|table| table.state_of(status));
    let moved = state.and_then(|state| Kind::named("task")?.command(&state.name, task));
    let opens = || {
        format!("`stepmark set {} status=available claimed_by=null --force --reason TEXT`", file_stem(task))
    };
    let command = match (&moved, state) {
        (Some(command), _) => format!("`stepmark {command}` comes next"),
        (None, Some(_)) => format!("a person opens it again: {}", opens()),
        (None, None) => format!("a person corrects it: {}", opens()),
    };
    let tool = match state.map(|state| state.name.as_str()) {
        Some("claimed") => "start_task begins it, where it is yours",
        Some("in_progress") => "complete_task or fail_task ends it, where it is yours",
        Some("available") => "claim_task takes a task first",
        Some("pending" | "blocked") => "it waits: claim_task gives you another one",
        _ => "create_task adds what is left to do",
    };
    (command, tool.to_owned())
}
