//! Remedies of refusals: the command of a person, or the tool of an agent.

use stepmark_model::{
    artifact::Kind,
    coordination::{TaskRefusal, file_stem},
    lifecycle::built_in,
    spelling::argument,
    transition::TransitionRefusal,
};
use stepmark_store::{changes::ChangeError, records::SystemError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    Commands,
    Tools,
}

/// The remedy of `error` on a surface, where there is one that the error does not say itself.
pub(crate) fn remedy(error: &SystemError, surface: Surface) -> Option<String> {
    let (command, tool) = match error {
        SystemError::Task(refusal) => of_refusal(refusal)?,
        SystemError::Unknown { what: "task", .. } => {
            both("`stepmark task list` shows the tasks", "get_all_tasks lists the tasks")
        }
        SystemError::Begun { goal: Some(_), .. } => {
            both("`stepmark task add TEXT` adds a task", "create_task adds a task")
        }
        SystemError::Changed { id } => both(
            format!(
                "`stepmark import coordination --take file` takes the change, `stepmark coordination project --overwrite {}` gives it up",
                argument(id)
            ),
            "claim_task gives you another one; a person decides on this one",
        ),
        SystemError::NothingToClaim { changed, .. } if !changed.is_empty() => both(
            "`stepmark import coordination --take file` takes the changes, `stepmark coordination project --overwrite` gives them up",
            "a person decides on the changed ones",
        ),
        SystemError::Busy { .. } => both("try it again", "call the tool again"),
        SystemError::Change(ChangeError::Refused {
            source: TransitionRefusal::OpenChildren { .. }, ..
        }) => both(
            "its parts come first: `stepmark tree` shows them",
            "complete_task its parts first: get_all_tasks lists them",
        ),
        _ => return None,
    };
    let remedy = match surface {
        Surface::Commands => command,
        Surface::Tools => tool,
    };
    Some(remedy).filter(|remedy| !remedy.is_empty())
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
