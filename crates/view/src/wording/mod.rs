//! Words for states and events, the same in a terminal and on a page. Pure.

pub mod history;
mod visible;

pub(crate) use visible::visible_in_html;
pub use visible::{count, next, on_one_line, visible, waiting_stories};
