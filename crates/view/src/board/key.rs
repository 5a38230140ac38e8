//! Keys, as the board understands them.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Character(char),
    /// Up by so many rows; down where negative.
    Up(i32),
    /// To the right by so many columns; to the left where negative.
    Right(i32),
    First,
    Last,
    Backspace,
    Enter,
    Escape,
    Interrupt,
}

const PAGE: i32 = 10;

impl Key {
    /// The key of `event`; `None` for one that means nothing here.
    pub const fn of(event: &KeyEvent) -> Option<Self> {
        if matches!(event.kind, KeyEventKind::Release) {
            return None;
        }
        Some(match event.code {
            KeyCode::Char('c' | 'd') if event.modifiers.contains(KeyModifiers::CONTROL) => Self::Interrupt,
            KeyCode::Char(character) => Self::Character(character),
            KeyCode::Up => Self::Up(1),
            KeyCode::Down => Self::Up(-1),
            KeyCode::Right => Self::Right(1),
            KeyCode::Left => Self::Right(-1),
            KeyCode::PageUp => Self::Up(PAGE),
            KeyCode::PageDown => Self::Up(-PAGE),
            KeyCode::Home => Self::First,
            KeyCode::End => Self::Last,
            KeyCode::Backspace => Self::Backspace,
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Escape,
            _ => return None,
        })
    }
}
