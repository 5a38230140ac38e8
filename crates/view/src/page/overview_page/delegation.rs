//! The trees of delegation.

use maud::{Markup, html};

use crate::{observation::TreeRow, overview::Overview, page::Links};

const SHOWN: usize = 500;
/// The level from which rows are no longer moved to the right.
const DEEPEST: usize = 8;

/// The section; nothing where nothing is delegated.
pub(super) fn section(overview: &Overview, links: Links) -> Markup {
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
                        tbody { @for row in rows.iter().take(SHOWN) { (one(row, links)) } }
                    }
                }
                @if rows.len() > SHOWN { p .more { "and " (rows.len() - SHOWN) " more: " code { "stepmark tree" } } }
            }
        }
    }
}

fn one(row: &TreeRow, links: Links) -> Markup {
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
