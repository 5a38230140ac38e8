//! Answers of `stepmark task` and `stepmark coordination`; remedies of refusals, as a command or a tool.

use serde_json::Value as Json;

use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, Row, table},
};
use stepmark_model::{
    artifact::{Kind, ProjectPath},
    coordination::{Record, TaskRefusal, file_stem},
    lifecycle::built_in,
    records::{Drift, DriftChange},
    spelling::argument,
};
use stepmark_store::{
    coordination::{CoordinationFiles, TaskChange},
    projection::Followed,
};

answers! { Answer<'a>
    /// `task`: a task as it is now, or those that were added, and the files that follow
    "stepmark.task/1" Task (TaskAnswer<'a>)
    /// `task list`: tasks
    "stepmark.tasks/1" Tasks { tasks: Vec<Row<Json>>, more: usize }
    /// `coordination status`: how far the work is
    "stepmark.coordination/1" Status (Json)
    /// `coordination project`, `convert`, `save`: the files that follow, and what others changed in them
    "stepmark.coordination-files/1" Files {
        #[serde(flatten)] files: &'a CoordinationFiles,
        #[serde(skip_serializing_if = "Option::is_none")] removed: Option<&'a [ProjectPath]>,
    }
    /// `coordination plan`: the goal, and the plan as Markdown
    "stepmark.coordination-plan/1" Plan { goal: Option<&'a str>, plan: &'a str }
    /// `coordination discoveries`, `discover`: what agents have found out
    "stepmark.discoveries/1" Discoveries {
        discoveries: Vec<Row<Json>>, #[serde(skip_serializing_if = "Option::is_none")] more: Option<usize>,
    }
    enum TaskAnswer<'a> {
        Added { tasks: Vec<Json>, files: &'a CoordinationFiles },
        Changed { task: Json, freed: &'a [String], orphaned: &'a [String], files: &'a CoordinationFiles },
        One { task: Option<Json> },
    }
}

pub(super) fn added(tasks: &[Record], files: &CoordinationFiles, output: &Output) -> Result<Exit, Failure> {
    output.answer(|| Answer::Task(TaskAnswer::Added { tasks: tasks.iter().map(wire).collect(), files }));
    tasks.iter().for_each(|task| output.line(&task.id));
    Ok(told(files, output))
}

pub(super) fn tasks(mut tasks: Vec<Record>, list: &ListArguments, output: &Output) -> Result<Exit, Failure> {
    let answer = |tasks, more| Answer::Tasks { tasks, more };
    list.answer(output, &mut tasks, wire, answer, |tasks| {
        let row = |task: &Record| {
            let text = |key: &str| task.text(key).unwrap_or("-").to_owned();
            let (id, priority) = (task.id.clone(), task.priority().to_string());
            vec![id, text("status"), priority, text("claimed_by"), title(task)]
        };
        output.line(table(&["ID", "STATUS", "PRIORITY", "AGENT", "DESCRIPTION"], tasks.iter().map(row)));
    })?;
    Ok(Exit::Fine)
}

pub(super) fn task(task: &Record, output: &Output) {
    output.answer(|| Answer::Task(TaskAnswer::One { task: Some(wire(task)) }));
    output.line(format_args!("{}  {}", task.id, title(task)));
    for (key, value) in task.values.iter().filter(|(key, _)| !["id", "description"].contains(&key.as_str())) {
        output.line(format_args!("  {key}: {}", plain(value)));
    }
}

pub(super) fn next(next: Option<&Record>, output: &Output) {
    output.answer(|| Answer::Task(TaskAnswer::One { task: next.map(wire) }));
    match next {
        Some(task) => output.line(format_args!("{}  {}", task.id, title(task))),
        None => output.remark("no task can be claimed"),
    }
}

pub(super) fn changed(change: &TaskChange, output: &Output) -> Result<Exit, Failure> {
    let TaskChange { task, freed, orphaned, files, .. } = change;
    output.answer(|| Answer::Task(TaskAnswer::Changed { task: wire(task), freed, orphaned, files }));
    let holder = task.claimed_by().map_or_else(String::new, |agent| format!(", {agent}"));
    output.line(format_args!("{}  {}{holder}  {}", task.id, task.status(), title(task)));
    for id in freed {
        output.remark(format_args!("{id}: available now"));
    }
    for id in orphaned {
        output.remark(format_args!("{id}: its agent was silent for too long, so it was available again"));
    }
    Ok(told(files, output))
}

pub(crate) fn told_of<K>(files: &Followed<Drift<K>>, system: &str, output: &Output) -> Exit {
    for drift in &files.drift {
        let removes = if drift.change == DriftChange::Removed { " --remove" } else { "" };
        output.warning(format_args!(
            "`{}` was {} in a state file, and stays there so: `stepmark import {system} --take file{removes}` takes it, \
             `stepmark {system} project --overwrite {}` gives it up",
            drift.id,
            drift.change.name(),
            drift.id
        ));
    }
    if let Some(behind) = &files.behind {
        output.warning(format_args!("the change is made, and what follows it is not: {behind}"));
    }
    for kept in &files.kept {
        output.warning(format_args!(
            "a state file could not be read and was made again; what stood there: {kept}"
        ));
    }
    Exit::Fine
}

pub(crate) fn told(files: &CoordinationFiles, output: &Output) -> Exit {
    told_of(files, "coordination", output)
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

/// Unless the error says it itself.
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
