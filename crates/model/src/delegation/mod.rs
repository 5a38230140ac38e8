//! Chains of delegation: who gave work to whom, and whether it is finished (seed `001_…`, D4-Q14). Pure: what the artifacts
//! say → chains, their mistakes, and the forest.

mod completion;
mod place;
mod member;
mod chains;
mod forest;
#[cfg(test)]
mod cases;

pub use chains::{Ancestry, Chains};
pub use completion::{Completion, FINISHED_WORDS};
pub use forest::{Forest, Row};
pub use member::{Agent, Member};
pub use place::{ChainPlace, ParentPlaceError};
