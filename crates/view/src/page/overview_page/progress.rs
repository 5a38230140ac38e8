//! Progress by workflow and by epic.

use maud::{Markup, html};

use crate::overview::{Overview, ProgressGroup};
use crate::page::marks;

pub(super) fn section(overview: &Overview) -> Markup {
    html! {
        section #progress aria-labelledby="progress-title" {
            h2 #progress-title { "Progress" }
            @if overview.workflows.is_empty() && overview.epics.is_empty() {
                p .quiet { "No artifact has a workflow that is known, and there are no stories." }
            }
            div .columns {
                @if !overview.workflows.is_empty() { (table("Workflow", &overview.workflows)) }
                @if !overview.epics.is_empty() { (table("Epic", &overview.epics)) }
            }
        }
    }
}

fn table(title: &str, groups: &[ProgressGroup]) -> Markup {
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
