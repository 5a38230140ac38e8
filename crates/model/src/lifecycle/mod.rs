//! Lifecycles of statuses: tables of states and legal moves (docs/design.md, "Lifecycles"). Pure.
//!
//! The tables that are built in stand in `tables/`, one a file, in the form in which a project declares its
//! own. Which lifecycle an artifact has is decided by [`Lifecycles::choose`], never guessed.

mod one_or_more;
mod root_keys;
mod roles;
mod counter_limit;
mod guard;
mod declaration;
mod condition;
mod attributes;
mod table;
mod refusal;
mod judge;
mod guarded_values;
mod key_updates;
mod change;
mod problem;
mod assemble;
mod choice;
#[cfg(test)]
mod cases;

pub use attributes::Attributes;
pub use change::ChangeRefusal;
pub use choice::built_in;
pub use choice::{Choice, DeclaredLifecycle, LifecycleSource, Lifecycles};
pub use condition::{Condition, ConditionMatch};
pub use counter_limit::CounterLimit;
pub use declaration::LifecycleDeclaration;
pub use guard::Guard;
pub use judge::{MoveDecision, MoveFacts};
pub use key_updates::KeyUpdate;
pub use problem::{LifecycleError, LifecycleProblem};
pub use refusal::MoveRefusal;
pub use roles::Roles;
pub use root_keys::RootKeys;
pub use table::Counter;
pub use table::LifecycleState;
pub use table::{Lifecycle, Move};
