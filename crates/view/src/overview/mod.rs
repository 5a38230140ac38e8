//! The meaning of an observation: done, next, wrong. Pure.

mod entry_group;
mod progress_group;
mod assemble;
#[cfg(test)]
mod cases;

pub use assemble::{Counts, EventRow, Overview, SessionRow, Trouble};
pub use entry_group::{EntryGroup, GroupMember, entry_groups, parent_path, short_names};
pub use progress_group::{Column, ProgressGroup, unwritten_stories};
pub use stepmark_model::summary::{CellState, Condition, EpicTitles};
