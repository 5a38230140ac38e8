//! Lifecycles of statuses: tables of states and legal moves (docs/design.md, "Lifecycles"). Pure.
//!
//! The tables that are built in stand in `tables/`, one a file, in the form in which a project declares its
//! own. Which lifecycle an artifact has is decided by [`Lifecycles::choose`], never guessed.

mod guard;
mod root_keys;
mod one_or_more;
mod declaration;
mod condition;
mod table;
mod refusal;
mod judge;
mod key_updates;
mod problem;
mod assemble;
mod choice;
mod ledger_words;
#[cfg(test)]
mod cases;

pub use choice::built_in;
pub use choice::{Choice, DeclaredLifecycle, LifecycleSource, Lifecycles};
pub use condition::{Condition, ConditionMatch};
pub use declaration::LifecycleDeclaration;
pub use guard::Guard;
pub use judge::{MoveDecision, MoveFacts};
pub use key_updates::KeyUpdate;
pub use ledger_words::{LedgerWords, WordChange};
pub use problem::{LifecycleError, LifecycleProblem};
pub use refusal::MoveRefusal;
pub use root_keys::RootKeys;
pub use table::Counter;
pub use table::LifecycleState;
pub use table::{Lifecycle, Move};
