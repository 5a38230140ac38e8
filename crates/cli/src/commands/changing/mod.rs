//! Commands that change artifacts: they record work.

pub(crate) mod change;
pub(crate) mod delegate;
pub(crate) mod import;
pub(crate) mod memlog;
pub(crate) mod set;
pub(crate) mod transition;
