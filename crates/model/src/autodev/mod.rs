//! The dialect of autodev: a pointer file says which step of one of three flows is being done
//! (docs/formats.md, "autodev"). Pure.

mod flow;
mod flow_file;
mod position;
mod detection;
mod moves;
#[cfg(test)]
mod move_cases;
mod summary;

pub use detection::{AutodevFacts, SkillState};
pub use detection::{Condition, Detection, GlobCount, KeyIs, ProjectFiles, detect, detect_flow};
pub use flow::{Flow, FlowError, FlowStep, Flows};
pub use flow_file::{convert_older, read_flow_file};
pub use moves::{AutodevMove, AutodevRefusal, decide, fault, first_block, first_file};
pub use position::{
    AWAITING, MOST_RETRIES, Position, PositionError, STATUSES, StepPlace, SubStep, is_done, is_kebab_case,
    keeps_state, steps_passed,
};
pub use summary::summary;
