//! Chains of delegation: who gave work to whom, and whether it is finished (docs/design.md, "Delegation").
//! Pure: what the artifacts say → chains, their mistakes, and the forest.

mod member;
mod chains;
#[cfg(test)]
mod cases;

pub use chains::{Ancestry, Chains, Forest, ForestRow};
pub use member::{Agent, ChainPosition, Completion, FINISHED_WORDS, Member, ParentPositionError};
