//! A task of a flow, as the page shows it.

use std::collections::HashSet;

use stepmark_model::{
    artifact::Kind,
    flows::{FlowRecord, TaskDefinition},
};

use crate::{observation::ObservedFlow, page::Links};

pub(super) struct Task<'f> {
    pub(super) id: &'f str,
    pub(super) title: &'f str,
    /// The status of its execution; empty where there is none yet.
    pub(super) status: &'f str,
    pub(super) is_ready: bool,
    /// True if somebody has to do something for it to go on.
    pub(super) is_to_do: bool,
    pub(super) tries: String,
    pub(super) waits_for: &'f [String],
    pub(super) agent: Option<String>,
    /// The place that its name leads to; `None` where it has no execution.
    pub(super) address: Option<String>,
    /// The command that comes next; empty where there is none.
    pub(super) command: String,
}

impl<'f> Task<'f> {
    pub(super) fn all(flow: &'f ObservedFlow, links: Links) -> Vec<Self> {
        let is_running = flow.state.flow.status() == "RUNNING";
        let ready = if is_running { flow.state.ready() } else { Vec::new() };
        let ready: HashSet<&str> = ready.into_iter().map(FlowRecord::task).collect();
        let mut records = flow.state.tasks.iter().peekable();
        let tasks = flow.state.graph.tasks.iter().zip(&flow.task_paths).map(|(definition, path)| {
            // Both are in the order of the graph; an execution may lack.
            let record = records.next_if(|record| record.task() == definition.id);
            let is_ready = ready.contains(definition.id.as_str());
            let address = record.map(|_| links.to(path));
            Self::of(flow, definition, (record, address), is_ready)
        });
        tasks.collect()
    }

    fn of(
        flow: &ObservedFlow,
        definition: &'f TaskDefinition,
        (record, address): (Option<&'f FlowRecord>, Option<String>),
        is_ready: bool,
    ) -> Self {
        let status = record.map_or("", FlowRecord::status);
        let number = |key: &str| record.map_or(0, |record| record.number(key));
        let is_open = matches!(status, "RUNNING" | "VERIFYING" | "FAILED" | "ESCALATED");
        let is_ended =
            matches!(flow.state.flow.status(), "COMPLETED" | "FROZEN_FOR_MERGE" | "MERGED" | "ABORTED");
        Self {
            id: &definition.id,
            title: if definition.title.is_empty() { &definition.id } else { &definition.title },
            status,
            is_ready,
            is_to_do: is_ready || is_open && !is_ended,
            tries: format!("attempt {} of {}", number("attempt_count"), number("max_attempts")),
            waits_for: &definition.depends_on,
            agent: record.and_then(FlowRecord::open_attempt).map(|attempt| attempt.agent),
            address,
            command: if is_ended { String::new() } else { command(definition, record, is_ready) },
        }
    }

    /// A sign for its state, for whoever sees no colours.
    pub(super) fn mark(&self) -> &'static str {
        match self.status {
            _ if self.is_ready => "▷",
            "RUNNING" => "▶",
            "VERIFYING" => "◆",
            "SUCCESS" => "✓",
            "FAILED" => "✕",
            "ESCALATED" => "▲",
            "RETRY" => "↻",
            _ => "○",
        }
    }

    pub(super) fn word(&self) -> String {
        match (self.status, self.is_ready) {
            ("", _) => "not begun".to_owned(),
            ("READY", _) | (_, false) => self.status.to_owned(),
            (status, true) => format!("{status}, ready"),
        }
    }

    pub(super) fn class(&self) -> &'static str {
        match self.status {
            _ if self.is_ready => "ready",
            "RUNNING" | "VERIFYING" => "underway",
            "SUCCESS" => "done",
            "FAILED" | "ESCALATED" => "blocked",
            _ => "open",
        }
    }
}

fn command(definition: &TaskDefinition, record: Option<&FlowRecord>, is_ready: bool) -> String {
    let Some(record) = record else { return String::new() };
    let of_kind = Kind::named("task-execution").and_then(|kind| kind.command(record.status(), record.id()));
    let Some(command) = of_kind else { return String::new() };
    let id = record.id();
    match record.status() {
        "PENDING" | "READY" | "RETRY" if is_ready => format!("stepmark {command} --claim"),
        "PENDING" | "READY" | "RETRY" => format!("stepmark flow why {id}"),
        "VERIFYING" if definition.checks.is_empty() => format!("stepmark {command} --decision pass"),
        "VERIFYING" => format!("stepmark {command} --run"),
        _ => format!("stepmark {command}"),
    }
}
