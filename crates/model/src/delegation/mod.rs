//! Chains of delegation: who gave work to whom, and whether it is finished (docs/design.md, "Delegation").
//! Pure: what the artifacts say → chains, their mistakes, and the forest.

mod member;
mod chains;
#[cfg(test)]
mod cases;

pub use chains::{Ancestry, Chains};
pub use chains::{Forest, ForestRow};
pub use member::{Agent, Member};
pub use member::{ChainPosition, ParentPositionError};
pub use member::{Completion, FINISHED_WORDS};
