//! The overview in a terminal. Pure: state + key → state, state → picture.

mod row;
mod state;
mod theme;
mod columns;
mod detail;
mod draw;
#[cfg(test)]
mod cases;

pub use draw::draw;
pub use state::{BoardState, Key, Pressed};
pub use theme::Theme;
