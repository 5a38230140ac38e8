//! Colours, where a person wants them.

use ratatui::style::{Color, Modifier, Style};

use stepmark_model::check::Severity;

use crate::overview::{CellState, Condition};

/// The styles of the board, with colours or without. Words and marks say everything without colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// The sixteen colours of the terminal, which fit its ground.
    Coloured,
    /// Bold, dim and reversed only (`NO_COLOR`).
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
