//! The artifacts by state, as the columns of a board.

use maud::{Markup, html};

use crate::observation::Entry;
use crate::overview::{Column, Overview};
use crate::page::{Links, marks};

/// The most cards that a column shows: what is more stands in the table.
const SHOWN: usize = 20;

pub(super) fn section(overview: &Overview, links: Links) -> Markup {
    html! {
        section #board aria-labelledby="board-title" {
            h2 #board-title { "Board" }
            @if overview.columns.is_empty() { p .quiet { "There is no artifact with workflow state yet." } }
            div .kanban.scroll tabindex="0" role="region" aria-labelledby="board-title" {
                @for column in &overview.columns { (one(column, overview, links)) }
            }
        }
    }
}

fn one(column: &Column, overview: &Overview, links: Links) -> Markup {
    let entries = column.places.iter().filter_map(|place| overview.entries.get(*place));
    html! {
        div .column {
            h3 { (column.name) " " span .quiet { (column.places.len()) } }
            ul { @for entry in entries.take(SHOWN) { (card(entry, overview, links)) } }
            @if column.places.len() > SHOWN {
                p .more { "and " (column.places.len() - SHOWN) " more: " a href="#artifacts" { "all artifacts" } }
            }
        }
    }
}

fn card(entry: &Entry, overview: &Overview, links: Links) -> Markup {
    let epic =
        entry.story.and_then(|story| overview.epics.iter().find(|group| group.epic == Some(story.epic)));
    html! {
        li {
            a href=(links.to(&entry.path)) { (entry.name()) }
            @if let Some(epic) = epic { small { (epic.name) } }
            @if let Some(bar) = &entry.bar { p .steps { (marks::step_bar(bar)) } }
            @if let Some(command) = &entry.command { (marks::command(command)) }
        }
    }
}
