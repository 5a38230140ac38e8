//! The board: columns of artifacts by state.

use std::{collections::HashMap, ops::Range};

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    text::{Line, Span},
    widgets::{Block, List, ListItem, ListState},
};

use stepmark_model::artifact::ProjectPath;

use super::{BoardState, Theme, row::Row};
use crate::wording::on_one_line;

const NARROW: u16 = 22;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) name: String,
    /// Never empty.
    pub(super) rows: Range<usize>,
}

pub(super) fn filled(state: &BoardState) -> Vec<Filled> {
    let all = state.overview.columns.iter();
    let names = all.flat_map(|column| column.places.iter().map(|place| (*place, column.name.as_str())));
    let names: HashMap<&ProjectPath, &str> =
        names.filter_map(|(place, name)| Some((&state.overview.entries.get(place)?.path, name))).collect();
    let mut columns: Vec<Filled> = Vec::new();
    for (at, row) in state.shown().iter().enumerate() {
        let name = match row {
            Row::Trouble(_) => "wrong",
            Row::Artifact(entry) => names.get(&entry.path).copied().unwrap_or_default(),
        };
        match columns.last_mut().filter(|column| column.name == name) {
            Some(column) => column.rows.end = at + 1,
            None => columns.push(Filled { name: name.to_owned(), rows: at..at + 1 }),
        }
    }
    columns
}

pub(super) fn draw(state: &BoardState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let (columns, shown) = (filled(state), state.shown());
    let chosen = state.chosen().map(|(place, _)| place);
    let at = columns.iter().position(|column| chosen.is_some_and(|place| column.rows.contains(&place)));
    let room = usize::from(area.width / NARROW).clamp(1, columns.len().max(1));
    let first = at.unwrap_or(0).saturating_sub(room - 1);
    let areas = Layout::horizontal(vec![Constraint::Fill(1); room]).split(area);
    if columns.is_empty() {
        frame.render_widget(Block::bordered().title(" Artifacts "), area);
    }
    for (column, area) in columns.iter().skip(first).zip(areas.iter()) {
        let items = column.rows.clone().filter_map(|place| shown.get(place));
        let items = items.map(|row| ListItem::new(card(row, theme)));
        let title = format!(" {} {} ", on_one_line(&column.name), column.rows.len());
        let list = List::new(items).block(Block::bordered().title(title)).highlight_style(theme.chosen());
        let place = chosen.filter(|place| column.rows.contains(place)).map(|place| place - column.rows.start);
        frame.render_stateful_widget(list, *area, &mut ListState::default().with_selected(place));
    }
    let (left, right) = (first, columns.len().saturating_sub(first + room));
    let more = match (left, right) {
        (0, 0) => String::new(),
        (left, right) => format!("  ← {left}  {right} →"),
    };
    let count = format!(" {} of {}{more} ", shown.len(), state.rows());
    let bottom = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
    frame.render_widget(Line::styled(count, theme.quiet()).right_aligned(), bottom);
}

fn card(row: &Row<'_>, theme: Theme) -> Line<'static> {
    let name = Span::raw(on_one_line(row.name()));
    let Row::Artifact(entry) = row else { return Line::from(name) };
    let mark = match (entry.errors, entry.warnings) {
        (0, 0) => Span::raw(""),
        (0, _) => Span::styled("! ", theme.warning()),
        _ => Span::styled("✗ ", theme.error()),
    };
    let steps = entry.bar.as_ref().map(|bar| format!("{}/{} ", bar.done, bar.total));
    Line::from(vec![mark, Span::styled(steps.unwrap_or_default(), theme.quiet()), name])
}
