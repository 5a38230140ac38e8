//! Commands that change artifacts: they record work.

pub(crate) mod change;
pub(crate) mod defer;
pub(crate) mod delegate;
pub(crate) mod import;
pub(crate) mod memlog;
pub(crate) mod remove;
pub(crate) mod scope;
pub(crate) mod set;
pub(crate) mod steps;
pub(crate) mod track;
pub(crate) mod transition;
pub(crate) mod undo;
