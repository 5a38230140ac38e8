//! All artifacts, a row each.

use maud::{Markup, html};

use crate::page::{Links, Piece, layout, links::row_id, marks};
use crate::{
    observation::Entry,
    overview::{Condition, Overview},
    wording,
};

pub(super) const ROWS: &str = "rows";

pub(super) fn section(overview: &Overview, rows: &Markup) -> Markup {
    html! {
        section #artifacts aria-labelledby="artifacts-title" {
            h2 #artifacts-title { "Artifacts" }
            // Shown by the script: without one it could do nothing.
            form #filter role="search" aria-label="Artifacts" hidden {
                label { span { "Search" } input #search type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"; }
                label { span { "Show" }
                    select #condition {
                        option value="" { "all" }
                        option value="problems" { "with problems" }
                        @for condition in Condition::ALL { option value=(condition.word()) { (condition.word()) } }
                    }
                }
                p #shown .quiet { (wording::count(overview.entries.len(), "artifact")) }
            }
            @if overview.entries.is_empty() {
                p .quiet #empty { "There is no artifact with workflow state yet." }
            }
            div .scroll tabindex="0" role="region" aria-labelledby="artifacts-title" {
                table .artifacts {
                    thead { tr {
                        th scope="col" { "Artifact" }
                        th scope="col" { "Workflow" }
                        th scope="col" { "Steps" }
                        th scope="col" { "Next" }
                        th scope="col" { "State" }
                        th scope="col" { "Problems" }
                        th scope="col" { "Tickets" }
                    } }
                    tbody id=(ROWS) { (rows) }
                }
            }
            // Shown by the script where there are more rows than one reads: without it all are there.
            nav #pager aria-label="Pages of the table" hidden {
                button #previous type="button" { "Previous" }
                span #page-number aria-live="polite" {}
                button #following type="button" { "Next" }
            }
        }
    }
}

pub(super) fn rows(overview: &Overview, links: Links) -> Vec<Piece> {
    let row = |entry: &Entry| Piece {
        id: row_id(&entry.path),
        place: ROWS,
        html: layout::text(&row(entry, links)),
    };
    overview.entries.iter().map(row).collect()
}

fn row(entry: &Entry, links: Links) -> Markup {
    let has_problems = entry.errors + entry.warnings > 0;
    html! {
        tr id=(row_id(&entry.path)) data-condition=(entry.condition.word()) data-problems[has_problems] {
            th scope="row" {
                @match links {
                    Links::Pages => a href=(links.to(&entry.path)) { (entry.name()) },
                    Links::Rows => (entry.name()),
                }
                small { (entry.path) }
            }
            td data-label="Workflow" { (entry.workflow) }
            td .steps data-label="Steps" { @if let Some(bar) = &entry.bar { (marks::step_bar(bar)) } }
            td data-label="Next" { @if let Some(next) = &entry.next { code { (next) } } }
            td data-label="State" { (state(entry)) }
            td data-label="Problems" { (problems(entry)) }
            td data-label="Tickets" {
                @for ticket in &entry.tickets {
                    (crate::page::tickets::link(ticket)) " "
                }
            }
        }
    }
}

/// Condition and status word, once where they are the same.
fn state(entry: &Entry) -> Markup {
    let word = entry.condition.word();
    let status = entry.status.as_deref().filter(|status| !status.eq_ignore_ascii_case(word));
    html! {
        span class={ "tag " (word.replace(' ', "-")) } { (word) }
        @if let Some(status) = status { small { (status) } }
    }
}

fn problems(entry: &Entry) -> Markup {
    html! {
        @if entry.errors > 0 { span .tag.error { (wording::count(entry.errors, "error")) } " " }
        @if entry.warnings > 0 { span .tag.warning { (wording::count(entry.warnings, "warning")) } }
    }
}
