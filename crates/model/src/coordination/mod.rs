//! The dialect of coordinations: tasks that a leader makes and workers claim, as records in artifacts, and
//! the three formats in which other programs keep them (docs/formats.md, "Coordination"). Pure.

mod kind;
mod values;
mod state;
mod format;
mod drift;
mod task_refusal;
mod dependencies;
mod claiming;
mod task_move;
mod new_records;
mod overview;
mod facts;

#[cfg(test)]
mod drift_cases;
#[cfg(test)]
mod move_cases;
#[cfg(test)]
mod record_cases;
#[cfg(test)]
mod sample;

pub use claiming::{claimable, held_by, is_held, orphaned};
pub use dependencies::{check_dependencies, dependants_freed, dependency_circle, is_done, open_dependencies};
pub use drift::{Drift, Merged, merge, seen};
pub use facts::CoordinationFacts;
pub(crate) use format::unheld;
pub use format::{
    Files, Format, FormatError, JsonError, file_stem, heartbeats, read, read_json, render, result_file,
};
pub use kind::RecordKind;
pub use new_records::NewTask;
pub use overview::{Overview, latest_time};
pub use state::State;
pub use task_move::{TaskMove, decide};
pub use task_refusal::TaskRefusal;

/// A record of a coordination.
pub type Record = crate::records::Record<RecordKind>;
