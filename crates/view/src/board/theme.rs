//! Optional colours.

use super::{BoardState, row};
use crate::{
    observation::Entry,
    overview::{CellState, Condition, Trouble},
    wording::on_one_line,
};
use ratatui::{
    Frame,
    layout::{Constraint, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::{Block, Cell, Row, Table, TableState},
};
use stepmark_model::check::Severity;

/// Without colours, words and marks still say everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Sixteen terminal colours, which fit its background.
    Coloured,
    /// Bold, dim and reversed (`NO_COLOR`).
    Plain,
}

impl Theme {
    fn coloured(self, color: Color) -> Style {
        match self {
            Self::Coloured => Style::new().fg(color),
            Self::Plain => Style::new(),
        }
    }

    pub(super) fn condition(self, condition: Condition) -> Style {
        match condition {
            Condition::Finished => self.coloured(Color::Green),
            Condition::Blocked | Condition::Waiting | Condition::Interrupted | Condition::NotImported => {
                self.coloured(Color::Yellow).add_modifier(Modifier::BOLD)
            }
            Condition::Underway => self.coloured(Color::Blue),
            Condition::NotStarted | Condition::Unknown => self.quiet(),
        }
    }

    pub(super) fn cell(self, state: CellState) -> Style {
        match state {
            CellState::Done | CellState::Skipped => self.coloured(Color::Green),
            CellState::Next => self.coloured(Color::Blue).add_modifier(Modifier::BOLD),
            CellState::Gap => self.error(),
            CellState::Passed | CellState::Open => self.quiet(),
        }
    }

    pub(super) fn error(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn warning(self) -> Style {
        self.coloured(Color::Yellow)
    }

    pub(super) fn severity(self, severity: Severity) -> Style {
        match severity {
            Severity::Error => self.error(),
            Severity::Warning => self.warning(),
            Severity::Note => self.quiet(),
        }
    }

    pub(super) fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

const ERROR: &str = "✗";
const WARNING: &str = "!";

const BAR: usize = 8;

pub(super) fn draw(state: &BoardState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let shown = state.shown();
    let count = format!(" {} of {}, by {} ", shown.len(), state.rows(), state.sort.word());
    let rows = shown.iter().map(|shown| match shown {
        row::Row::Trouble(trouble) => of_trouble(shown.name(), trouble, theme),
        row::Row::Artifact(entry) => of_artifact(entry, theme),
    });
    let widths = [
        Constraint::Length(1),
        Constraint::Fill(3),
        Constraint::Length(14),
        Constraint::Fill(2),
        Constraint::Length(12),
    ];
    let header = Row::new(["", "ARTIFACT", "STEPS", "NEXT", "STATE"]).style(theme.quiet());
    let table = Table::new(rows, widths)
        .header(header)
        .block(Block::bordered().title(" Artifacts ").title_bottom(count))
        .row_highlight_style(theme.chosen());
    let mut place = TableState::default().with_selected(state.chosen().map(|(row, _)| row));
    frame.render_stateful_widget(table, area, &mut place);
}

fn of_trouble(name: &str, trouble: &Trouble, theme: Theme) -> Row<'static> {
    let mark = if trouble.severity == Severity::Error { ERROR } else { WARNING };
    let style = theme.severity(trouble.severity);
    Row::new([
        Cell::from(Span::styled(mark, style)),
        Cell::from(on_one_line(name)),
        Cell::default(),
        Cell::default(),
        Cell::from(Span::styled(trouble.severity.as_str(), style)),
    ])
}

fn of_artifact(entry: &Entry, theme: Theme) -> Row<'static> {
    let (mark, style) = match (entry.errors, entry.warnings) {
        (0, 0) => (" ", theme.quiet()),
        (0, _) => (WARNING, theme.warning()),
        _ => (ERROR, theme.error()),
    };
    Row::new([
        Cell::from(Span::styled(mark, style)),
        Cell::from(on_one_line(entry.name())),
        Cell::from(bar(entry, theme)),
        Cell::from(on_one_line(entry.next.as_deref().unwrap_or_default())),
        Cell::from(Span::styled(entry.condition.word(), theme.condition(entry.condition))),
    ])
}

/// One character per step if they fit, else a proportional bar.
fn bar(entry: &Entry, theme: Theme) -> Line<'static> {
    let Some(bar) = &entry.bar else { return Line::default() };
    let width = bar.cells.len().clamp(1, BAR);
    let cells = (0..width).filter_map(|at| bar.cells.get(at * bar.cells.len() / width));
    let mut spans: Vec<Span<'static>> =
        cells.map(|cell| Span::styled(mark(cell.state), theme.cell(cell.state))).collect();
    spans.push(Span::raw(format!(" {}/{}", bar.done, bar.total)));
    Line::from(spans)
}

/// Distinct without colours, too.
pub(super) const fn mark(state: CellState) -> &'static str {
    match state {
        CellState::Done => "█",
        CellState::Skipped => "▓",
        CellState::Next => "▶",
        CellState::Gap => "?",
        CellState::Passed => "-",
        CellState::Open => "·",
    }
}
