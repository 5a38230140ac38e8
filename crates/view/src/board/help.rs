//! The page of keys.

use ratatui::{
    Frame,
    layout::{Constraint, Flex, Layout, Rect},
    text::{Line, Span},
    widgets::{Block, Clear, Paragraph},
};

use super::Theme;

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

pub(super) fn draw(theme: Theme, frame: &mut Frame<'_>, area: Rect) {
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
