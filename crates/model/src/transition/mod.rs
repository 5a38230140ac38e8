//! Commands decided against an artifact: a plan of edits, or a refusal. Pure:
//! `(artifact, workflow, command) → plan`.

#[cfg(test)]
mod cases;
mod complete;
mod decide;
mod delegate;
mod plan;
mod record;
mod refusal;
mod scoping;
mod setting;
#[cfg(test)]
mod status_cases;
mod status_move;
mod step_choice;

pub use complete::{OpenChild, finish_above};
pub use decide::{DecisionContext, decide};
pub use delegate::{DelegationPlan, NewChild, delegate};
pub use plan::{Command, ItemChange, Plan, Remark, Strictness};
pub use record::{StepLists, completed_ids, last_step_id, lists_step, step_list_key};
pub use refusal::TransitionRefusal;
pub use scoping::{Confidence, ConfidenceError, ScopeSource};
pub use status_move::{StatusMove, judge_status};
