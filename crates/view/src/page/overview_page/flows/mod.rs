//! Flows as graphs of tasks, and as lists.

use std::collections::{HashMap, HashSet};

use crate::{
    observation::ObservedFlow,
    overview::Overview,
    page::{
        Links,
        drawing::{Lines, Shape, drawing},
        marks,
    },
    wording,
};
use maud::{Markup, html};
use stepmark_model::{
    artifact::Kind,
    flows::{FlowRecord, TaskDefinition},
};

/// Commands above a graph; the list has all.
const SHOWN: usize = 4;

pub(super) fn section(overview: &Overview, links: Links) -> Option<Markup> {
    let flows = &overview.systems.flows;
    (!flows.is_empty()).then(|| {
        html! {
            section #flows aria-labelledby="flows-title" {
                h2 #flows-title { "Flows" }
                @for flow in flows { (one(flow, links)) }
            }
        }
    })
}

pub(in crate::page) fn element_id(id: &str) -> String {
    format!("flow-{id}")
}

fn one(flow: &ObservedFlow, links: Links) -> Markup {
    let (record, tasks) = (&flow.state.flow, Task::all(flow, links));
    let id = element_id(record.id());
    let done = tasks.iter().filter(|task| task.status == "SUCCESS").count();
    let to_do = tasks.iter().filter(|task| task.is_to_do);
    html! {
        div .flow id=(id) {
            h3 {
                a href=(links.to(&flow.path)) { (record.id()) } " " span .tag { (record.status()) } " "
                span .quiet { (done) " of " (wording::count(tasks.len(), "task")) " succeeded" }
            }
            ul .plain.commands {
                @if let Some(command) = flow_command(flow, tasks.iter().any(|task| task.is_ready)) { li { (marks::command(&command)) } }
                @for task in to_do.take(SHOWN) { li { (marks::command(&task.command)) } }
            }
            p { a href={ "#" (id) "-tasks" } { "The tasks as a list" } }
            (graph(record.id(), &tasks))
            details id={ (id) "-tasks" } {
                summary { strong { "Tasks" } }
                ol .tasks { @for task in &tasks { (listed(task)) } }
            }
        }
    }
}

fn graph(id: &str, tasks: &[Task<'_>]) -> Markup {
    let place: HashMap<&str, usize> = tasks.iter().enumerate().map(|(at, task)| (task.id, at)).collect();
    let waits_for =
        |task: &Task<'_>| task.waits_for.iter().filter_map(|id| place.get(id.as_str()).copied()).collect();
    let shapes: Vec<Shape<'_>> = tasks.iter().map(shape).collect();
    drawing((id, "Tasks"), &shapes, &tasks.iter().map(waits_for).collect::<Vec<_>>(), Lines::Direct)
}

fn shape<'t>(task: &'t Task<'_>) -> Shape<'t> {
    Shape {
        name: task.title,
        below: format!("{} {}", task.mark(), task.word()),
        class: task.class(),
        said: format!("{}: {}, {}", task.title, task.word(), task.tries),
        hint: &task.command,
        address: task.address.clone(),
    }
}

fn flow_command(flow: &ObservedFlow, is_ready: bool) -> Option<String> {
    let record = &flow.state.flow;
    match record.status() {
        "RUNNING" => is_ready.then(|| format!("stepmark flow next {} --claim", record.id())),
        "FROZEN_FOR_MERGE" if record.values().get("approval").is_some_and(|approval| !approval.is_null()) => {
            Some(format!("stepmark flow merge apply {}", record.id()))
        }
        status => Some(format!("stepmark {}", Kind::named("task-flow")?.command(status, record.id())?)),
    }
}

fn listed(task: &Task<'_>) -> Markup {
    html! {
        li {
            @match &task.address { Some(address) => a href=(address) { (task.title) }, None => (task.title) }
            " " span class={ "tag " (task.class()) } { (task.mark()) " " (task.word()) } " "
            span .quiet {
                (task.tries)
                @if !task.waits_for.is_empty() { "; waits for " (task.waits_for.join(", ")) }
                @if let Some(agent) = &task.agent { "; " (agent) }
            }
            @if !task.command.is_empty() { (marks::command(&task.command)) }
        }
    }
}

struct Task<'f> {
    id: &'f str,
    title: &'f str,
    status: &'f str,
    is_ready: bool,
    /// Somebody has to act before it continues.
    is_to_do: bool,
    tries: String,
    waits_for: &'f [String],
    agent: Option<String>,
    address: Option<String>,
    command: String,
}

impl<'f> Task<'f> {
    fn all(flow: &'f ObservedFlow, links: Links) -> Vec<Self> {
        let is_running = flow.state.flow.status() == "RUNNING";
        let ready = if is_running { flow.state.ready() } else { Vec::new() };
        let ready: HashSet<&str> = ready.into_iter().map(FlowRecord::task).collect();
        let mut records = flow.state.tasks.iter().peekable();
        let tasks = flow.state.graph.tasks.iter().zip(&flow.task_paths).map(|(definition, path)| {
            // Both are in the order of the graph; executions may be missing.
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

    /// For those who see no colours.
    fn mark(&self) -> &'static str {
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

    fn word(&self) -> String {
        match (self.status, self.is_ready) {
            ("", _) => "not begun".to_owned(),
            ("READY", _) | (_, false) => self.status.to_owned(),
            (status, true) => format!("{status}, ready"),
        }
    }

    fn class(&self) -> &'static str {
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
