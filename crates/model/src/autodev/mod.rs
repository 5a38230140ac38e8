//! The dialect of autodev: a pointer file says which step of one of three flows is being done
//! (docs/formats.md, "autodev"). Pure.

mod flow;
mod position;
mod moves;
mod summary;

pub use flow::{Flow, FlowError, FlowStep, Flows, convert_older, read_flow_file};
pub use moves::{AutodevMove, AutodevRefusal, decide, fault, first_block, first_file};
pub use position::{
    AWAITING, AutodevFacts, Condition, Detection, GlobCount, KeyIs, MOST_RETRIES, Position, PositionError,
    ProjectFiles, STATUSES, SkillState, StepPlace, SubStep, detect, detect_flow, is_done, is_kebab_case,
    keeps_state, steps_passed,
};
pub use summary::summary;

#[cfg(test)]
mod move_cases;
