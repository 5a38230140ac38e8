//! What an observation means: what is done, what is next, what is wrong. Pure.

mod condition;
mod step_bar;
mod epic_titles;
mod entry;
mod entry_group;
mod short_names;
mod column;
mod progress_group;
mod trouble;
mod tree_row;
mod timeline;
mod assemble;
#[cfg(test)]
mod cases;

pub use assemble::{Counts, Overview};
pub use column::Column;
pub use condition::Condition;
pub use entry::Entry;
pub use entry_group::{EntryGroup, entry_groups};
pub use epic_titles::{EpicTitles, epic_titles};
pub use progress_group::ProgressGroup;
pub use short_names::short_names;
pub use step_bar::{CellState, StepBar, StepCell};
pub use timeline::{EventRow, SessionRow};
pub use tree_row::TreeRow;
pub use trouble::Trouble;
