//! Commands that share the state with others.

pub(crate) mod instructions;
pub(crate) mod sync;
