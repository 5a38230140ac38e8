//! Coordinations: a leader's tasks that workers claim, as records in artifacts, and three file formats of
//! other programs (docs/formats.md, "Coordination"). Pure.

mod kind;
mod state;
mod format;
mod task_move;

pub static SYSTEM: crate::records::System = crate::records::System {
    name: "coordination",
    begin: "stepmark coordination init --goal TEXT",
    mend: "bring an earlier state back with `git restore`",
    import: "stepmark import coordination",
    project: "stepmark coordination project",
};

pub(crate) use format::unheld;
pub use format::{
    Files, Format, FormatError, JsonError, file_stem, heartbeats, read, read_json, render, result_file,
};
pub use kind::{NewTask, RecordKind};
pub use state::{Drift, Merged, Overview, State, latest_time, merge, seen};
pub use task_move::{
    CoordinationFacts, TaskRefusal, check_dependencies, claimable, decide, dependants_freed,
    dependency_circle, held_by, is_done, is_held, open_dependencies, orphaned, task_move,
};

pub type Record = crate::records::Record<RecordKind>;

#[cfg(test)]
mod drift_cases;
#[cfg(test)]
mod move_cases;
#[cfg(test)]
mod record_cases;
#[cfg(test)]
mod sample;
