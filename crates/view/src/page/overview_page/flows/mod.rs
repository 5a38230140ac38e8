//! Flows as graphs with the states of their tasks, and as lists.

mod task;

use std::collections::HashMap;

use maud::{Markup, html};
use stepmark_model::artifact::Kind;

use self::task::Task;
use crate::page::{
    Links,
    drawing::{Lines, Shape, drawing},
    marks,
};
use crate::{observation::ObservedFlow, overview::Overview, wording};

/// The most commands that stand above a graph; the list has all.
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
