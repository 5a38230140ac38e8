//! Small parts of many pages.

use jiff::Timestamp;
use maud::{Markup, html};
use stepmark_model::check::Severity;

use crate::observation::StepBar;
use crate::overview::{CellState, ProgressGroup};

const CELL: (usize, usize) = (9, 1);
const HEIGHT: usize = 8;

/// UTC, to the minute; exact in the tooltip.
pub(super) fn time(at: Timestamp) -> Markup {
    html! { time datetime=(at) title=(at) { (at.strftime("%Y-%m-%d %H:%M")) } }
}

pub fn moment(at: Timestamp) -> String {
    time(at).into_string()
}

/// The copy button needs scripts.
pub(super) fn command(command: &str) -> Markup {
    html! {
        span .command {
            code { (command) }
            button .copy type="button" data-copy=(command) aria-label={ "Copy: " (command) } hidden { "Copy" }
        }
    }
}

/// A word, never only a colour.
pub(super) fn severity(severity: Severity) -> Markup {
    html! { span class={ "tag " (severity.as_str()) } { (severity.as_str()) } }
}

pub(super) fn step_bar(bar: &StepBar) -> Markup {
    let width = bar.cells.len() * (CELL.0 + CELL.1);
    let cells_in = |state: CellState| {
        let places = bar.cells.iter().enumerate().filter(move |(_, cell)| cell.state == state);
        places.map(|(at, _)| format!("M{} 0h{}v{HEIGHT}h-{}z", at * (CELL.0 + CELL.1), CELL.0, CELL.0))
    };
    let paths = [
        (CellState::Done, "d"),
        (CellState::Skipped, "s"),
        (CellState::Next, "n"),
        (CellState::Gap, "g"),
        (CellState::Passed, "p"),
        (CellState::Open, "o"),
    ];
    html! {
        span .bar role="progressbar" aria-valuemin="0" aria-valuemax=(bar.total) aria-valuenow=(bar.done)
            aria-label={ (bar.done) " of " (bar.total) " steps" } {
            svg viewBox={ "0 0 " (width) " " (HEIGHT) } preserveAspectRatio="none" aria-hidden="true" {
                @for (state, class) in paths {
                    @let drawing: String = cells_in(state).collect();
                    @if !drawing.is_empty() { path class=(class) d=(drawing) {} }
                }
            }
        }
        span .num { (bar.done) "/" (bar.total) }
    }
}

/// Steps done, or artifacts if there are no steps.
pub(super) fn group_bar(group: &ProgressGroup) -> Markup {
    let (done, total) = if group.units.1 > 0 { group.units } else { (group.finished, group.total) };
    html! {
        span .bar.wide role="progressbar" aria-valuemin="0" aria-valuemax=(total) aria-valuenow=(done)
            aria-label={ "Progress of " (group.name) } {
            svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
                rect .o width="100" height="8" {}
                rect .d width=((done * 100).checked_div(total).unwrap_or(0)) height="8" {}
            }
        }
        span .num { (group.finished) "/" (group.total) }
    }
}

pub(super) fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // An unpaired backtick opens nothing.
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, part) in parts.iter().enumerate() { @if at % 2 == 1 { code { (part) } } @else { (part) } }
    }
}
