//! Words for states and events, the same in a terminal and on a page. Pure.

pub mod history;
mod progress;
mod visible;

pub use progress::{count, next, waiting_stories};
pub(crate) use visible::visible_in_html;
pub use visible::{on_one_line, visible};
