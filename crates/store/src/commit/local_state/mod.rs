//! The state of this clone: its key and its small files.

mod clone_key;
pub(super) mod state_file;

pub(super) use clone_key::CloneKey;
pub(crate) use state_file::{LeaseFiles, names_in, replace};
