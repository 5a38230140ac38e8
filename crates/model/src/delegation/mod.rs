//! Chains of delegation: who gave work to whom, and whether it is finished (docs/design.md, "Delegation").
//! Pure: what the artifacts say → chains, their mistakes, and the forest.

mod completion;
mod chain_position;
mod member;
mod chains;
mod forest;
#[cfg(test)]
mod cases;

pub use chain_position::{ChainPosition, ParentPositionError};
pub use chains::{Ancestry, Chains};
pub use completion::{Completion, FINISHED_WORDS};
pub use forest::{Forest, ForestRow};
pub use member::{Agent, Member};
