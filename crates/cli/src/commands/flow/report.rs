//! The answers of `stepmark flow`.

use serde_json::{Value as Json, json};
use stepmark_model::{
    flows::{Attempt, FlowRecord, FlowState, Verification, allows},
    spelling::{argument, listed},
};
use stepmark_store::flows::Flows;

use crate::{
    exit::{Exit, chain},
    output::{Output, table},
};

/// A record as JSON: what its frontmatter says.
pub(super) fn wire(record: &FlowRecord) -> Json {
    Json::Object(record.values().clone())
}

/// A flow with its tasks.
pub(super) fn flow(state: &FlowState, output: &Output) -> Exit {
    output.json_or(
        "stepmark.flow/1",
        || json!({"flow": wire(&state.flow), "tasks": state.tasks.iter().map(wire).collect::<Vec<_>>()}),
        || {
            output.line(summary(state));
            let row = |task: &FlowRecord| {
                let agent = task.open_attempt().map_or_else(|| "-".to_owned(), |attempt| attempt.agent);
                let tried = format!("{}/{}", task.number("attempt_count"), task.number("max_attempts"));
                vec![
                    task.task().to_owned(),
                    task.status().to_owned(),
                    tried,
                    agent,
                    task.text("title").to_owned(),
                ]
            };
            output
                .line(table(&["TASK", "STATUS", "ATTEMPTS", "AGENT", "TITLE"], state.tasks.iter().map(row)));
        },
    );
    Exit::Fine
}

/// All flows, a line each.
pub(super) fn flows(states: &[FlowState], output: &Output) -> Exit {
    output.json_or(
        "stepmark.flows/1",
        || json!({"flows": states.iter().map(|state| wire(&state.flow)).collect::<Vec<_>>()}),
        || states.iter().for_each(|state| output.line(summary(state))),
    );
    Exit::Fine
}

fn summary(state: &FlowState) -> String {
    let done = state.tasks.iter().filter(|task| task.status() == "SUCCESS").count();
    let flow = &state.flow;
    let graph = format!("{} v{}", flow.text("graph"), flow.number("graph_version"));
    format!("{}  {}  {done}/{}  {graph}", flow.id(), flow.status(), state.graph.tasks.len())
}

/// A task as it is now.
pub(super) fn task(record: &FlowRecord, output: &Output) -> Exit {
    output.json_or(
        "stepmark.flow-task/1",
        || json!({"task": wire(record)}),
        || {
            let attempt = record.open_attempt();
            let attempt =
                attempt.map_or_else(String::new, |open| format!("  {}, {}", open.attempt_id, open.agent));
            output.line(format_args!(
                "{}  {}{attempt}  {}",
                record.id(),
                record.status(),
                record.text("title")
            ));
            let reason = record.text("blocking_reason");
            if !reason.is_empty() {
                output.remark(format_args!("  {reason}"));
            }
        },
    );
    Exit::Fine
}

/// The last checkpoint of a task, and those of its `files` that fail the verification.
pub(super) fn checkpoint(record: &FlowRecord, files: &[String], output: &Output) {
    if let Some(commit) = record.checkpoints().last().filter(|_| !output.json) {
        output.line(format_args!("commit {commit}"));
    }
    let scopes = record.scopes().write;
    for path in files.iter().filter(|path| !scopes.is_empty() && !allows(&scopes, path)) {
        let again = format!("take it away, then `stepmark flow checkpoint {}`", argument(record.id()));
        output.warning(format_args!("the task may not write `{path}`: {again}"));
    }
}

/// Warns where a merge would leave out what a task has changed.
pub(super) fn warn_without_checkpoint(flows: &Flows<'_>, record: &FlowRecord, output: &Output) {
    let files = match flows.changed_since_checkpoint(record) {
        Ok(files) if files.is_empty() => return,
        Ok(files) => files,
        Err(error) => {
            let error = chain(&error);
            return output.warning(format_args!("cannot tell whether its checkpoint has all: {error}"));
        }
    };
    let cure = match record.status() {
        "VERIFYING" => {
            format!(": `stepmark flow checkpoint {}` before it is verified", argument(record.id()))
        }
        _ => String::new(),
    };
    let since = if record.lacks_checkpoint() { "no checkpoint" } else { "changed after the last checkpoint" };
    output.warning(format_args!(
        "{since}, so that a merge of the flow leaves out {}{cure}",
        listed(&shortened(&files))
    ));
}

/// The first names, and the number of the others.
fn shortened(files: &[String]) -> Vec<String> {
    const SHOWN: usize = 5;
    let more = files.len().checked_sub(SHOWN).filter(|more| *more > 0);
    let shown = files.iter().take(SHOWN).cloned();
    shown.chain(more.map(|more| format!("{more} others"))).collect()
}

/// The attempts at a task.
pub(super) fn attempts(record: &FlowRecord, output: &Output) -> Exit {
    let judged = record.verifications();
    let all: Vec<Attempt> = record.attempts().into_iter().chain(record.open_attempt()).collect();
    output.json_or(
        "stepmark.flow-attempts/1",
        || json!({"task": record.id(), "attempts": all, "verifications": judged}),
        || {
            for attempt in &all {
                let judged = judged.iter().find(|judged| judged.attempt_id == attempt.attempt_id);
                output.line(attempt_line(attempt, judged));
            }
            if all.is_empty() {
                output.remark("nobody has tried it");
            }
        },
    );
    Exit::Fine
}

/// An attempt on one line.
pub(super) fn attempt_line(attempt: &Attempt, judged: Option<&Verification>) -> String {
    let outcome = match (&attempt.ended_at, attempt.exit_status, judged) {
        (None, ..) => "open",
        (Some(_), None, _) => "interrupted",
        (Some(_), Some(_), Some(judged)) if judged.failure_reasons.is_empty() => "passed",
        (Some(_), Some(_), Some(_)) => "failed",
        (Some(_), Some(_), None) => "waits for its verification",
    };
    let ended = attempt.ended_at.as_deref().unwrap_or("-");
    format!("{}  {}  {} … {ended}  {outcome}", attempt.attempt_id, attempt.agent, attempt.started_at)
}
