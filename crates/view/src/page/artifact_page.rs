//! The page of one artifact.

use maud::{Markup, html};
use serde_json::Value as Json;
use stepmark_frontmatter::{Change, Document, Frontmatter, Operation};
use stepmark_model::{
    artifact::ProjectPath,
    journal::{Event, value_in_words},
};

use super::{
    Links, Revision,
    findings::{self, Excerpt, KIB},
    layout::{self, Form},
    marks,
    overview_page::flow_element,
    tickets,
};
use crate::{
    markdown,
    observation::FindingRow,
    observation::{Entry, ObservedFlow, StepBar},
    overview::{EventRow, Overview},
};

/// Per event value; `stepmark log` shows all of it.
const VALUE_CHARACTERS: usize = 1000;

#[derive(Clone, Copy, Debug)]
pub struct ArtifactView<'v> {
    pub overview: &'v Overview,
    pub path: &'v ProjectPath,
    pub text: Result<&'v [u8], &'v str>,
    pub history: Result<&'v [Event], &'v str>,
    pub revision: Revision<'v>,
}

pub fn artifact_page(view: &ArtifactView<'_>) -> Option<String> {
    let ArtifactView { overview, path, revision, .. } = *view;
    let entry = overview.entry(path)?;
    let found: Vec<&FindingRow> = overview.findings.iter().filter(|finding| finding.path == *path).collect();
    let main = html! {
        h1 #name { (entry.name()) }
        section #facts aria-label="State" { (facts(entry, overview)) }
        @if let Some(bar) = &entry.bar { (steps(bar)) }
        @if !found.is_empty() {
            section #findings aria-labelledby="findings-title" {
                h2 #findings-title { "Findings" }
                (findings::table(found.into_iter(), Links::Pages))
            }
        }
        @match view.text {
            Ok(bytes) => (text(bytes)),
            Err(why) => p #text { span .tag.error { "error" } " its text cannot be read: " (why) },
        }
        (history(view.history))
    };
    let form = Form::Live { revision, has_memory: overview.has_memory, has_pieces: false };
    let title = format!("{} – {}", entry.name(), overview.project);
    Some(layout::text(&layout::page(&title, &overview.project, overview.at, form, &main)))
}

fn facts(entry: &Entry, overview: &Overview) -> Markup {
    html! {
        dl {
            dt { "File" } dd { code { (entry.path) } }
            dt { "State" } dd { span class={ "tag " (entry.condition.word().replace(' ', "-")) } { (entry.condition.word()) } }
            @if let Some(status) = &entry.status { dt { "Status" } dd { (status) } }
            @if let Some(command) = &entry.command { dt { "To do it" } dd { (marks::command(command)) } }
            dt { "Workflow" } dd { (entry.workflow) }
            @if let Some(next) = &entry.next { dt { "Next" } dd { code { (next) } } }
            @if let Some((place, name)) = shown_whole(entry, overview) { dt { "With others" } dd { a href={ "/#" (place) } { (name) } } }
            @if let Some(scope) = &entry.scope { dt { "Scope" } dd { (scope) } }
            @if let Some(at) = entry.changed_at { dt { "Changed" } dd { (marks::time(at)) " UTC" } }
            @if !entry.tickets.is_empty() {
                dt { "Tickets" } dd { @for ticket in &entry.tickets { (tickets::link(ticket)) " " } }
            }
        }
    }
}

/// Id and name of the section that shows the whole flow or project.
fn shown_whole(entry: &Entry, overview: &Overview) -> Option<(String, String)> {
    let systems = &overview.systems;
    if systems.asdd.as_ref().is_some_and(|slices| slices.paths.contains(&entry.path)) {
        return Some(("slices".to_owned(), "All slices".to_owned()));
    }
    let is_of = |flow: &&ObservedFlow| flow.path == entry.path || flow.task_paths.contains(&entry.path);
    let id = systems.flows.iter().find(is_of)?.state.flow.id();
    Some((flow_element(id), format!("Graph of {id}")))
}

fn steps(bar: &StepBar) -> Markup {
    html! {
        section #steps aria-labelledby="steps-title" {
            h2 #steps-title { "Steps" }
            p .steps { (marks::step_bar(bar)) }
            ol .steps {
                @for cell in &bar.cells {
                    li { (cell.name) " " span class={ "tag " (cell.state.word()) } { (cell.state.word()) } }
                }
            }
        }
    }
}

fn text(bytes: &[u8]) -> Markup {
    let document = Document::scan(bytes);
    let body = Excerpt::of(&bytes[document.body().range()]);
    html! {
        section #text aria-labelledby="text-title" {
            h2 #text-title { "Text" }
            @if let Frontmatter::Present { content, .. } = document.frontmatter() {
                @let frontmatter = Excerpt::of(&bytes[content.range()]);
                details {
                    summary { strong { "Frontmatter" } }
                    (left_out(&frontmatter))
                    pre tabindex="0" { code { (frontmatter.text) } }
                }
            }
            (left_out(&body))
            @if body.text.trim().is_empty() { p .quiet { "Nothing is written yet." } }
            @else { div .text { (markdown::render(&body.text)) } }
        }
    }
}

fn left_out(excerpt: &Excerpt<'_>) -> Markup {
    let Excerpt { shown, all, .. } = excerpt;
    html! {
        @if shown < all {
            p { span .tag.warning { "cut" } " The first " (shown / KIB) " of " (all / KIB) " KiB are shown; the rest is in the file." }
        }
    }
}

fn history(events: Result<&[Event], &str>) -> Markup {
    html! {
        section #history aria-labelledby="history-title" {
            h2 #history-title { "History" }
            @match events {
                Err(why) => p { span .tag.error { "error" } " history cannot be read: " (why) },
                Ok([]) => p .quiet { "Nothing is recorded." },
                Ok(events) => ol .events { @for event in events { (happened(event)) } },
            }
        }
    }
}

fn happened(event: &Event) -> Markup {
    let row = EventRow::of(event);
    html! {
        li {
            (marks::time(row.at)) " " span .tag { (row.kind) } " " (row.actor)
            @if let Some(session) = &row.session { span .quiet { " in " (session) } }
            @if let Some(command) = &event.command { " " code { (command) } }
            @if let Some(reason) = &row.reason { " " span .quiet { "(" (reason) ")" } }
            @if !event.changes.is_empty() { ul .plain.changes { @for change in &event.changes { li { (difference(change)) } } } }
        }
    }
}

/// As `del` and `ins`, plus an arrow or a plus sign for those who see no colours.
fn difference(change: &Change) -> Markup {
    let place = if change.path.0.is_empty() { "frontmatter".to_owned() } else { change.path.to_string() };
    let (old, new) = match &change.op {
        Operation::Set { old, new } => (Some(old), Some(new)),
        Operation::Insert { new } => (None, Some(new)),
        Operation::Remove { old } => (Some(old), None),
    };
    html! {
        code { (place) } " "
        @if let Some(old) = old { del { (value(old)) } }
        @if old.is_some() && new.is_some() { " → " }
        @if let Some(new) = new { ins { @if old.is_none() { "+ " } (value(new)) } }
    }
}

fn value(value: &Json) -> String {
    let text = value_in_words(value);
    match text.char_indices().nth(VALUE_CHARACTERS) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
