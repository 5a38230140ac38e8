//! The state of this clone: its key, its small files, and their move from earlier places.

mod clone_key;
mod move_out;
pub(super) mod state_file;
mod state_move;

pub(super) use clone_key::CloneKey;
pub(super) use move_out::move_own;
pub use move_out::{LocalStateMoveError, OldState, is_state_moved, move_local_state, old_state};
pub(crate) use state_file::{LeaseFiles, names_in, replace};
pub(super) use state_move::StateMove;
