//! ASDD slices for a tech lead: a column per phase, blockers, owners.

use maud::{Markup, html};
use serde_json::Value as Json;
use stepmark_model::{
    artifact::{Kind, ProjectPath},
    asdd::{PHASES, Record, phase_of},
    records::Signal,
};

use crate::page::{Links, marks};
use crate::{observation::ObservedSlices, overview::Overview, wording};

/// Per column; the table has all.
const SHOWN: usize = 30;

pub(super) fn section(overview: &Overview, links: Links) -> Option<Markup> {
    let slices = overview.systems.asdd.as_ref()?;
    let state = &slices.status.state;
    let held = |slice: &&Record| slices.status.held_up.contains_key(&slice.id) || slice.blocker_count() > 0;
    let held = state.slices.iter().filter(held).count();
    Some(html! {
        section #slices aria-labelledby="slices-title" {
            h2 #slices-title { "Slices" }
            p .quiet {
                "Sprint " (state.project.text("current_sprint").unwrap_or("-")) ", " (wording::count(state.slices.len(), "slice"))
                @if held > 0 { ", " (held) " held up" }
                ". The same in a terminal: " code { "stepmark asdd status" }
            }
            div .kanban.scroll tabindex="0" role="region" aria-labelledby="slices-title" {
                @for (name, cards) in columns(slices) {
                    div .column {
                        h3 { (name) " " span .quiet { (cards.len()) } }
                        ul { @for (slice, path) in cards.iter().take(SHOWN) { (card(slice, path, slices, links)) } }
                        @if cards.len() > SHOWN {
                            p .more { "and " (cards.len() - SHOWN) " more: " a href="#artifacts" { "all artifacts" } }
                        }
                    }
                }
            }
            (heartbeats(slices))
        }
    })
}

/// Blocked slices are in their phase; other statuses get their own columns.
fn columns(slices: &ObservedSlices) -> Vec<(&str, Vec<(&Record, &ProjectPath)>)> {
    let mut columns: Vec<(&str, Vec<_>)> = PHASES.iter().map(|phase| (phase.status, Vec::new())).collect();
    for (slice, path) in slices.status.state.slices.iter().zip(&slices.paths) {
        let status = match slice.status() {
            "BLOCKED" => slice.text("blocked_at_phase").unwrap_or("BLOCKED"),
            _ => slice.status_below_lock(),
        };
        let name = phase_of(status).map_or(status, |(_, phase)| phase.status);
        match columns.iter_mut().find(|(own, _)| *own == name) {
            Some((_, cards)) => cards.push((slice, path)),
            None => columns.push((name, vec![(slice, path)])),
        }
    }
    columns
}

fn card(slice: &Record, path: &ProjectPath, slices: &ObservedSlices, links: Links) -> Markup {
    let (status, chain) = (slice.status(), slice.chain());
    let command = Kind::named("asdd-slice").and_then(|kind| kind.command(status, &slice.id));
    let at_it = slices.status.signals.values().filter(|signal| signal.current.as_ref() == Some(&slice.id));
    html! {
        li {
            a href=(links.to(path)) { (slice.text("name").unwrap_or(&slice.id)) }
            small { (slice.id) " · " (slice.text("type").unwrap_or("-")) @if !slice.is_manual() { " · AUTO" } }
            @if phase_of(status).is_none_or(|(_, phase)| phase.status != status) {
                p { span class={ "tag " (if matches!(status, "BLOCKED" | "LOCK") { "blocked" } else { "" }) } { (status) } " " (slice.text("block_reason").unwrap_or_default()) }
            }
            @if !chain.is_empty() {
                ol .chain aria-label="Confidence chain" {
                    @for entry in &chain { li { (entry.agent) " " strong { (entry.score) } } }
                }
            }
            @if let Some(ccs) = slice.values.get("ccs") { p { "ccs " strong { (ccs) } } }
            @for blocker in slice.values.get("blockers").and_then(Json::as_array).into_iter().flatten() {
                p { span .tag.blocked { "blocker" } " " (blocker_text(blocker)) }
            }
            @if let Some(reason) = slices.status.held_up.get(&slice.id) { p { span .tag.warning { "drift" } " " (reason) } }
            @if slices.status.drift.contains(&slice.id) { p { span .tag.warning { "drift" } " changed in the manifest" } }
            @for signal in at_it { p .quiet { (signal.agent) " is at it" } }
            @if let Some(command) = command { (marks::command(&format!("stepmark {command}"))) }
        }
    }
}

fn blocker_text(blocker: &Json) -> String {
    let own = |key: &str| blocker.get(key).and_then(Json::as_str);
    match (blocker.as_str(), own("kind"), own("text")) {
        (Some(text), ..) => text.to_owned(),
        (None, Some(kind), Some(text)) => format!("{kind}: {text}"),
        (None, kind, text) => text.or(kind).map_or_else(|| blocker.to_string(), str::to_owned),
    }
}

fn heartbeats(slices: &ObservedSlices) -> Markup {
    let number =
        |signal: &Signal, key: &str| signal.numbers.get(key).map_or("-".to_owned(), ToString::to_string);
    html! {
        @if !slices.status.signals.is_empty() {
            div .scroll {
                table {
                    caption .hidden-title { "Heartbeats of agents" }
                    thead { tr {
                        th scope="col" { "Agent" } th scope="col" { "Status" } th scope="col" { "Slice" }
                        th scope="col" .number { "Wave" } th scope="col" .number { "Done" } th scope="col" .number { "Left" }
                        th scope="col" { "Last heartbeat" }
                    } }
                    tbody {
                        @for signal in slices.status.signals.values() {
                            tr {
                                th scope="row" { (signal.agent) }
                                td { (signal.status.as_deref().unwrap_or("ACTIVE")) }
                                td { (signal.current.as_deref().unwrap_or("-")) }
                                @for key in ["current_wave", "tasks_completed", "tasks_remaining"] { td .number { (number(signal, key)) } }
                                td { (signal.at) }
                            }
                        }
                    }
                }
            }
        }
    }
}
