//! Decides commands. Pure: `(artifact, workflow, command) → plan or refusal`.

mod command;
mod complete;
mod delegate;
mod plan;
mod setting;
mod status_move;
mod step_choice;

pub use command::{Command, Confidence, ItemChange, OpenChild, ScopeSource, Strictness};
pub use complete::finish_above;
pub use delegate::{
    DelegationPlan, NewChild, StepLists, completed_ids, delegate, last_step_id, lists_step, step_list_key,
};
pub use plan::{Plan, Remark, TransitionRefusal};
pub use status_move::{DecisionContext, StatusMove, decide, judge_status};

#[cfg(test)]
mod cases;
#[cfg(test)]
mod status_cases;
