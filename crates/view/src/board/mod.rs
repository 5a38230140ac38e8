//! The overview in a terminal: a list, the artifact that is chosen, and keys. Pure: a state and a key give a
//! state, a state gives a picture.

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
