//! The lifecycle of an artifact: decided by [`Lifecycles::choose`], never guessed. Tables and their laws are
//! in the crate of packs.

mod choice;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod change_cases;

pub use choice::{
    Choice, Condition, ConditionMatch, DeclaredLifecycle, LifecycleSource, Lifecycles, built_in,
};
pub use stepmark_packs::lifecycle::{
    Attributes, ChangeRefusal, Counter, CounterLimit, Guard, KeyUpdate, Lasting, Lifecycle,
    LifecycleDeclaration, LifecycleError, LifecycleProblem, LifecycleState, Move, MoveDecision, MoveFacts,
    MoveRefusal, Once, Roles, RootKeys,
};
