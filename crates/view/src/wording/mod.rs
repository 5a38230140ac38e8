//! Words for states and events, the same in terminal and page. Pure.

pub mod history;
mod visible;

pub(crate) use visible::visible_in_html;
pub use visible::{count, next, on_one_line, visible, waiting_stories};
