//! The whole picture.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{
    BoardState, Theme, columns, detail, help, list,
    state::{Mode, View},
};
use crate::wording::{self, on_one_line};

/// From this width on the detail stands beside the list, not below it.
const WIDE: u16 = 110;

const SHARE: u16 = 62;

/// Draws `state`, and scrolls its detail back where that ends sooner.
pub fn draw(state: &mut BoardState, theme: Theme, frame: &mut Frame<'_>) {
    let [top, middle, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(Paragraph::new(headline(state, theme)), top);
    if state.mode == Mode::Detail {
        detail::draw(state, theme, frame, middle);
        frame.render_widget(Paragraph::new(footline(state, theme)), bottom);
        return;
    }
    let halves = [Constraint::Percentage(SHARE), Constraint::Percentage(100 - SHARE)];
    // Columns want the whole width.
    let is_beside = middle.width >= WIDE && state.view == View::List;
    let [left, right]: [Rect; 2] =
        if is_beside { Layout::horizontal(halves) } else { Layout::vertical(halves) }.areas(middle);
    match state.view {
        View::List => list::draw(state, theme, frame, left),
        View::Columns => columns::draw(state, theme, frame, left),
    }
    detail::draw(state, theme, frame, right);
    frame.render_widget(Paragraph::new(footline(state, theme)), bottom);
    if state.mode == Mode::Help {
        help::draw(theme, frame, middle);
    }
}

/// The line at the top: what is done, what is next, what is wrong.
fn headline(state: &BoardState, theme: Theme) -> Line<'static> {
    let counts = state.overview.counts;
    let wrong =
        format!("{}, {}", wording::count(counts.errors, "error"), wording::count(counts.warnings, "warning"));
    let style = if counts.errors > 0 { theme.error() } else { theme.title() };
    Line::from(vec![
        Span::styled(format!(" {}  ", on_one_line(&state.overview.project)), theme.title()),
        Span::raw(format!("{} of {} done  ·  {} next  ·  ", counts.done, counts.artifacts, counts.next)),
        Span::styled(wrong, style),
    ])
}

fn footline(state: &BoardState, theme: Theme) -> Line<'static> {
    let filter = on_one_line(&state.filter);
    match state.mode {
        Mode::Filter => Line::from(format!(" /{filter}▏")),
        _ => match &state.remark {
            Some(remark) => Line::styled(format!(" {}", on_one_line(remark)), theme.warning()),
            None if state.mode == Mode::Detail => {
                Line::styled(" Esc closes   J K scroll   k j another   ? keys   q end", theme.quiet())
            }
            None if filter.is_empty() => {
                Line::styled(" Enter opens   v list or columns   / filter   ? keys   q end", theme.quiet())
            }
            None => Line::styled(format!(" filter: {filter}   Esc drops it   ? keys   q end"), theme.quiet()),
        },
    }
}
