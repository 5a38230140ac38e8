//! Lifecycles: states, legal moves (docs/design.md, "Lifecycles"), and requirements on every change.

mod guard;
pub(crate) mod arguments;
pub(crate) mod moves;
mod table;
mod judge;
mod change;
mod assemble;

pub use arguments::{
    Attributes, ConditionDeclaration, CounterDeclaration, Lasting, LifecycleDeclaration, MoveDeclaration,
    Once, OnceDeclaration, ReadDeclaration, StateDeclaration, Waits,
};
pub use assemble::{ANY, LifecycleError, LifecycleProblem};
pub(crate) use change::refused_to;
pub use change::{ChangeRefusal, Roles, RootKeys};
pub use guard::{CounterLimit, Guard};
pub use judge::{MoveDecision, MoveFacts, MoveRefusal};
pub use table::{Counter, KeyUpdate, Lifecycle, LifecycleState, Move};
