//! Lifecycles of statuses: tables of states and legal moves (docs/design.md, "Lifecycles"), and the demands
//! of a kind on every change.

mod root_keys;
mod roles;
mod guard;
pub(crate) mod arguments;
pub(crate) mod moves;
mod declaration;
mod table;
mod judge;
mod change;
mod assemble;

pub use assemble::{ANY, LifecycleError, LifecycleProblem};
pub use change::ChangeRefusal;
pub(crate) use change::refused_to;
pub use declaration::{
    Attributes, ConditionDeclaration, CounterDeclaration, Lasting, LifecycleDeclaration, MoveDeclaration,
    Once, OnceDeclaration, ReadDeclaration, StateDeclaration, Waits,
};
pub use guard::{CounterLimit, Guard};
pub use judge::{MoveDecision, MoveFacts, MoveRefusal};
pub use roles::Roles;
pub use root_keys::RootKeys;
pub use table::{Counter, KeyUpdate, Lifecycle, LifecycleState, Move};
