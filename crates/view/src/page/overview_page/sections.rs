//! The board, the trees of delegation, and progress by workflow and by epic.

use crate::{
    observation::{Entry, TreeRow},
    overview::{Column, Condition, Overview, ProgressGroup},
    page::{
        Links, Piece,
        layout::{self, row_id},
        marks,
    },
    wording,
};
use maud::{Markup, html};

/// Per column; the table has all.
const CARDS: usize = 20;

pub(super) fn board(overview: &Overview, links: Links) -> Markup {
    html! {
        section #board aria-labelledby="board-title" {
            h2 #board-title { "Board" }
            @if overview.columns.is_empty() { p .quiet { "There is no artifact with workflow state yet." } }
            div .kanban.scroll tabindex="0" role="region" aria-labelledby="board-title" {
                @for column in &overview.columns { (board_column(column, overview, links)) }
            }
        }
    }
}

fn board_column(column: &Column, overview: &Overview, links: Links) -> Markup {
    let entries = column.places.iter().filter_map(|place| overview.entries.get(*place));
    html! {
        div .column {
            h3 { (column.name) " " span .quiet { (column.places.len()) } }
            ul { @for entry in entries.take(CARDS) { (card(entry, overview, links)) } }
            @if column.places.len() > CARDS {
                p .more { "and " (column.places.len() - CARDS) " more: " a href="#artifacts" { "all artifacts" } }
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

const TREE_ROWS: usize = 500;
/// Deeper rows are not indented further.
const DEEPEST: usize = 8;

pub(super) fn delegation(overview: &Overview, links: Links) -> Markup {
    let rows = &overview.tree;
    html! {
        section #delegation aria-labelledby="delegation-title" {
            h2 #delegation-title { "Delegation" }
            @if rows.is_empty() { p .quiet { "Nothing is delegated." } }
            @else {
                div .scroll tabindex="0" role="region" aria-labelledby="delegation-title" {
                    table {
                        thead { tr {
                            th scope="col" { "Artifact" } th .number scope="col" { "Level" } th scope="col" { "Agent" }
                            th .number scope="col" { "Steps" } th scope="col" { "State" }
                        } }
                        tbody { @for row in rows.iter().take(TREE_ROWS) { (tree_row(row, links)) } }
                    }
                }
                @if rows.len() > TREE_ROWS { p .more { "and " (rows.len() - TREE_ROWS) " more: " code { "stepmark tree" } } }
            }
        }
    }
}

fn tree_row(row: &TreeRow, links: Links) -> Markup {
    html! {
        tr {
            th scope="row" class={ "level-" (row.level.min(DEEPEST)) } {
                @if row.level > 0 { span .branch aria-hidden="true" { "└ " } }
                a href=(links.to(&row.path)) { (row.title.as_deref().unwrap_or(row.path.file_name())) }
                @if row.is_cut_off { " " span .tag.warning { "its parent is missing" } }
            }
            td .number { (row.level) }
            td { (row.agent.as_deref().unwrap_or("")) }
            td .number { @if let Some((done, total)) = row.progress { (done) "/" (total) } }
            td {
                @if row.is_finished { span .tag.done { "done" } " " }
                @if let Some(status) = &row.status { (status) }
            }
        }
    }
}

pub(super) fn progress(overview: &Overview) -> Markup {
    html! {
        section #progress aria-labelledby="progress-title" {
            h2 #progress-title { "Progress" }
            @if overview.workflows.is_empty() && overview.epics.is_empty() {
                p .quiet { "No artifact has a workflow that is known, and there are no stories." }
            }
            div .columns {
                @if !overview.workflows.is_empty() { (progress_table("Workflow", &overview.workflows)) }
                @if !overview.epics.is_empty() { (progress_table("Epic", &overview.epics)) }
            }
        }
    }
}

fn progress_table(title: &str, groups: &[ProgressGroup]) -> Markup {
    let has_steps = groups.iter().any(|group| group.units.1 > 0);
    let has_unwritten = groups.iter().any(|group| group.unwritten > 0);
    let has_waiting = groups.iter().any(|group| group.not_imported > 0);
    html! {
        table {
            thead { tr {
                th scope="col" { (title) }
                th scope="col" { "Done" }
                @if has_steps { th scope="col" .number { "Steps" } }
                @if has_unwritten { th scope="col" .number { "Not written" } }
                @if has_waiting { th scope="col" .number { "Not imported" } }
                th scope="col" .number { "In trouble" }
            } }
            tbody {
                @for group in groups {
                    tr {
                        th scope="row" { (group.name) }
                        td .steps { (marks::group_bar(group)) }
                        @if has_steps { td .number { (group.units.0) "/" (group.units.1) } }
                        @if has_unwritten { td .number { (group.unwritten) } }
                        @if has_waiting { td .number { (group.not_imported) } }
                        td .number { @if group.in_trouble > 0 { span .tag.warning { (group.in_trouble) } } @else { "0" } }
                    }
                }
            }
        }
    }
}

pub(super) const ROWS: &str = "rows";

pub(super) fn section(overview: &Overview, rows: &Markup) -> Markup {
    html! {
        section #artifacts aria-labelledby="artifacts-title" {
            h2 #artifacts-title { "Artifacts" }
            // The script shows it: it needs scripts.
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
            // The script shows it for long tables; without scripts all rows are visible.
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
