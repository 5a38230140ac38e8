//! The drawing of the board.

use ratatui::{
    Frame,
    layout::{Constraint, Flex, Layout, Rect},
    text::{Line, Span},
    widgets::{Block, Clear, Paragraph},
};

use super::{
    BoardState, Theme, columns, detail,
    state::{Mode, View},
    theme,
};
use crate::wording::{self, on_one_line};

/// In columns. From here on the detail is beside the list, not below it.
const WIDE: u16 = 110;

const SHARE: u16 = 62;

/// Limits the scroll offset of the detail to its end.
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
    let is_beside = middle.width >= WIDE && state.view == View::List;
    let [left, right]: [Rect; 2] =
        if is_beside { Layout::horizontal(halves) } else { Layout::vertical(halves) }.areas(middle);
    match state.view {
        View::List => theme::draw(state, theme, frame, left),
        View::Columns => columns::draw(state, theme, frame, left),
    }
    detail::draw(state, theme, frame, right);
    frame.render_widget(Paragraph::new(footline(state, theme)), bottom);
    if state.mode == Mode::Help {
        draw_keys(theme, frame, middle);
    }
}

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

const KEYS: [(&str, &str); 12] = [
    ("↑ ↓, k j", "go up and down"),
    ("← →, h l", "go to another column"),
    ("Enter", "open what is chosen; in the filter: keep it"),
    ("v", "columns by state, or a list"),
    ("PgUp PgDn", "go faster"),
    ("g G", "to the first, to the last"),
    ("J K", "scroll the detail"),
    ("/", "filter: words of name, path, workflow, state"),
    ("Esc", "close, or drop the filter"),
    ("s", "another order of the list"),
    ("?", "this page"),
    ("q, Ctrl-C", "end"),
];

const WIDTH: u16 = 64;

fn draw_keys(theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let height = u16::try_from(KEYS.len() + 2).unwrap_or(u16::MAX);
    let [area] = Layout::horizontal([Constraint::Max(WIDTH)]).flex(Flex::Center).areas(area);
    let [area] = Layout::vertical([Constraint::Max(height)]).flex(Flex::Center).areas(area);
    let lines = KEYS.iter().map(|(keys, what)| {
        Line::from(vec![Span::styled(format!(" {keys:<11} "), theme.title()), Span::raw(*what)])
    });
    let text = Paragraph::new(lines.collect::<Vec<_>>()).block(Block::bordered().title(" Keys "));
    frame.render_widget(Clear, area);
    frame.render_widget(text, area);
}
