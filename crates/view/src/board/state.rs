//! What the board shows, and what keys do.

use stepmark_core::artifact::ProjectPath;

use super::{Key, sort::Sort};
use crate::overview::{Entry, Overview};

/// What the board shows.
#[derive(Clone, Debug)]
pub struct BoardState {
    pub(super) overview: Overview,
    pub(super) mode: Mode,
    pub(super) filter: String,
    pub(super) sort: Sort,
    /// The artifact that is chosen: by its path, so that it stays chosen when others come and go.
    pub(super) chosen: Option<ProjectPath>,
    /// Something that a person should know, such as that nothing is watched.
    pub(super) remark: Option<String>,
}

/// What keys go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The list.
    List,
    /// The filter.
    Filter,
    /// The page of keys.
    Help,
}

/// What becomes of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// It goes on.
    GoesOn,
    /// It ends.
    Ends,
}

impl BoardState {
    /// The board of `overview`, with its first artifact chosen.
    pub fn new(overview: Overview) -> Self {
        let (filter, sort) = (String::new(), Sort::default());
        let mut state = Self { overview, mode: Mode::List, filter, sort, chosen: None, remark: None };
        state.choose_something();
        state
    }

    /// Shows another state of the project; filter, order and choice stay.
    pub fn show(&mut self, overview: Overview) {
        self.overview = overview;
        self.remark = None;
        self.choose_something();
    }

    /// Tells something until the project changes.
    pub fn remark(&mut self, remark: String) {
        self.remark = Some(remark);
    }

    /// Does what `key` means.
    pub fn press(&mut self, key: Key) -> Pressed {
        if key == Key::Interrupt {
            return Pressed::Ends;
        }
        match self.mode {
            Mode::Help => self.mode = Mode::List,
            Mode::Filter => self.press_in_filter(key),
            Mode::List => return self.press_in_list(key),
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
            Key::Character('s') => self.sort = self.sort.next(),
            Key::Character('k') => self.go(1),
            Key::Character('j') => self.go(-1),
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

    /// What the list shows, in its order.
    pub(super) fn shown(&self) -> Vec<&Entry> {
        let entries = &self.overview.entries;
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let mut places: Vec<usize> =
            (0..entries.len()).filter(|place| fits(&entries[*place], &words)).collect();
        self.sort.apply(entries, &mut places);
        places.into_iter().map(|place| &entries[place]).collect()
    }

    /// The artifact that is chosen, and its row.
    pub(super) fn chosen(&self) -> Option<(usize, &Entry)> {
        let chosen = self.chosen.as_ref()?;
        self.shown().into_iter().enumerate().find(|(_, entry)| entry.path == *chosen)
    }

    fn go(&mut self, up: i32) {
        let row = self.chosen().map_or(0, |(row, _)| row);
        let distance = usize::try_from(up.unsigned_abs()).unwrap_or(usize::MAX);
        self.choose(if up > 0 { row.saturating_sub(distance) } else { row.saturating_add(distance) });
    }

    /// Chooses the row, or the last one.
    fn choose(&mut self, row: usize) {
        let shown = self.shown();
        let row = row.min(shown.len().saturating_sub(1));
        self.chosen = shown.get(row).map(|entry| entry.path.clone());
    }

    /// Chooses the first row where what was chosen is not shown any more.
    fn choose_something(&mut self) {
        if self.chosen().is_none() {
            self.choose(0);
        }
    }
}

fn fits(entry: &Entry, words: &[String]) -> bool {
    words.iter().all(|word| {
        let texts = [
            Some(entry.path.as_str()),
            entry.title.as_deref(),
            Some(entry.workflow.as_str()),
            Some(entry.condition.word()),
            entry.status.as_deref(),
            entry.next.as_deref(),
        ];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(word))
    })
}
