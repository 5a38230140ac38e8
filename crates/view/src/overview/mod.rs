//! The meaning of an observation: what is done, what is next, what is wrong. Pure.

mod entry_group;
mod column;
mod progress_group;
mod trouble;
mod timeline;
mod assemble;
#[cfg(test)]
mod cases;

pub use assemble::{Counts, Overview};
pub use column::Column;
pub use entry_group::{EntryGroup, GroupMember, entry_groups, parent_path, short_names};
pub use progress_group::{ProgressGroup, unwritten_stories};
pub use stepmark_model::summary::{CellState, Condition, EpicTitles};
pub use timeline::{EventRow, SessionRow};
pub use trouble::Trouble;
