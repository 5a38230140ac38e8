//! The suppressions themselves. `check::policy` looks for what these rules are about.

pub(crate) mod without_reason;
pub(crate) mod unused;
pub(crate) mod unreadable;
pub mod allowance_unused;
