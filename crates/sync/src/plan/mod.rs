//! Plans of actions: the difference between artifacts, ledger and, where it was asked, tracker. Pure.

mod action;
mod claim;
mod make;
#[cfg(test)]
mod cases;

pub(crate) use claim::{Claim, by_marker, copies};

pub use action::{Action, ActionKind, PLAN_SCHEMA, Plan, Stale};
pub use claim::{PlanInputs, Remark, Survey};
