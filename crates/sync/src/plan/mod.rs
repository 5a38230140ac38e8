//! Plans of actions: the difference between artifacts, ledger and, where it was asked, tracker. Pure.

mod action;
mod remark;
mod claim;
mod compare;
mod document;
mod make;
#[cfg(test)]
mod cases;

pub(crate) use claim::{Claim, by_marker, copies};

pub use action::{Action, ActionKind};
pub use claim::{PlanInputs, Survey};
pub use document::{PLAN_SCHEMA, Plan, PlanReadError, Stale};
pub use remark::Remark;
