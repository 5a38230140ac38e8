//! The state of the board, and the effect of keys.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{
    columns,
    row::{Choice, Row, Sort},
};
use crate::overview::Overview;

#[derive(Clone, Debug)]
pub struct BoardState {
    pub(super) overview: Overview,
    pub(super) mode: Mode,
    pub(super) view: View,
    pub(super) filter: String,
    pub(super) sort: Sort,
    pub(super) chosen: Option<Choice>,
    /// In lines.
    pub(super) scroll: u16,
    /// For example that nothing is watched.
    pub(super) remark: Option<String>,
}

const SCROLL: u16 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Columns,
    List,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    List,
    Filter,
    Detail,
    Help,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    GoesOn,
    Ends,
}

impl BoardState {
    pub fn new(overview: Overview) -> Self {
        let (filter, sort) = (String::new(), Sort::default());
        let (mode, view) = (Mode::List, View::Columns);
        let mut state = Self { overview, mode, view, filter, sort, chosen: None, scroll: 0, remark: None };
        state.choose_something();
        state
    }

    /// Keeps filter, order and choice.
    pub fn show(&mut self, overview: Overview) {
        self.overview = overview;
        self.remark = None;
        self.choose_something();
    }

    pub fn remark(&mut self, remark: String) {
        self.remark = Some(remark);
    }

    pub fn press(&mut self, key: Key) -> Pressed {
        if key == Key::Interrupt {
            return Pressed::Ends;
        }
        match self.mode {
            Mode::Help => self.mode = Mode::List,
            Mode::Filter => self.press_in_filter(key),
            Mode::Detail if matches!(key, Key::Escape | Key::Enter | Key::Backspace) => {
                self.mode = Mode::List
            }
            Mode::Detail | Mode::List => return self.press_in_list(key),
        }
        Pressed::GoesOn
    }

    fn press_in_filter(&mut self, key: Key) {
        match key {
            Key::Character(character) => self.filter.push(character),
            Key::Backspace => {
                self.filter.pop();
            }
            Key::Enter => self.mode = Mode::List,
            Key::Escape => {
                self.filter.clear();
                self.mode = Mode::List;
            }
            Key::Up(rows) => self.go(rows),
            _ => {}
        }
        self.choose_something();
    }

    fn press_in_list(&mut self, key: Key) -> Pressed {
        match key {
            Key::Character('q') => return Pressed::Ends,
            Key::Character('?') => self.mode = Mode::Help,
            Key::Character('/') => self.mode = Mode::Filter,
            Key::Character('v') => {
                self.view = if self.view == View::List { View::Columns } else { View::List }
            }
            Key::Enter => self.mode = Mode::Detail,
            Key::Character('l') => self.go_aside(1),
            Key::Character('h') => self.go_aside(-1),
            Key::Right(columns) => self.go_aside(columns),
            Key::Character('s') => self.sort = self.sort.next(),
            Key::Character('k') => self.go(1),
            Key::Character('j') => self.go(-1),
            // Drawing limits it to the end of the detail.
            Key::Character('J') => self.scroll = self.scroll.saturating_add(SCROLL),
            Key::Character('K') => self.scroll = self.scroll.saturating_sub(SCROLL),
            Key::Up(rows) => self.go(rows),
            Key::Character('g') | Key::First => self.choose(0),
            Key::Character('G') | Key::Last => self.choose(usize::MAX),
            Key::Escape => {
                self.filter.clear();
                self.choose_something();
            }
            _ => {}
        }
        Pressed::GoesOn
    }

    /// Rows without an artifact come first, unsorted.
    pub(super) fn shown(&self) -> Vec<Row<'_>> {
        let entries = &self.overview.entries;
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let mut places: Vec<usize> = match self.view {
            View::List => (0..entries.len()).collect(),
            View::Columns => {
                self.overview.columns.iter().flat_map(|column| column.places.iter().copied()).collect()
            }
        };
        if self.view == View::List {
            self.sort.apply(entries, &mut places);
        }
        let artifacts = places.into_iter().map(|place| Row::Artifact(&entries[place]));
        Row::troubles(&self.overview).chain(artifacts).filter(|row| row.fits(&words)).collect()
    }

    pub(super) fn rows(&self) -> usize {
        Row::troubles(&self.overview).count() + self.overview.entries.len()
    }

    pub(super) fn chosen(&self) -> Option<(usize, Row<'_>)> {
        let chosen = self.chosen.as_ref()?;
        self.shown().into_iter().enumerate().find(|(_, row)| row.is(chosen))
    }

    fn go(&mut self, up: i32) {
        let row = self.chosen().map_or(0, |(row, _)| row);
        let distance = usize::try_from(up.unsigned_abs()).unwrap_or(usize::MAX);
        self.choose(if up > 0 { row.saturating_sub(distance) } else { row.saturating_add(distance) });
    }

    /// Keeps the height in the column.
    fn go_aside(&mut self, right: i32) {
        if self.view == View::List {
            return;
        }
        let columns = columns::filled(self);
        let place = self.chosen().map_or(0, |(place, _)| place);
        let at = columns.iter().position(|column| column.rows.contains(&place)).unwrap_or(0);
        let distance = usize::try_from(right.unsigned_abs()).unwrap_or(usize::MAX);
        let to = if right > 0 { at.saturating_add(distance) } else { at.saturating_sub(distance) };
        let height = columns.get(at).map_or(0, |column| place - column.rows.start);
        if let Some(column) = columns.get(to.min(columns.len().saturating_sub(1))) {
            let rows = column.rows.clone();
            self.choose((rows.start + height).min(rows.end - 1));
        }
    }

    fn choose(&mut self, row: usize) {
        let shown = self.shown();
        let row = row.min(shown.len().saturating_sub(1));
        let chosen = shown.get(row).map(Row::choice);
        if chosen != self.chosen {
            (self.chosen, self.scroll) = (chosen, 0);
        }
    }

    fn choose_something(&mut self) {
        if self.chosen().is_none() {
            self.choose(0);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Character(char),
    /// In rows; negative is down.
    Up(i32),
    /// In columns; negative is left.
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
