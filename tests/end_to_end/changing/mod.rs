//! Commands that change artifacts: they record work.

mod attributes;
mod complete;
pub(crate) mod delegate;
mod import_stories;
mod import_bmad_7;
mod memlog;
mod specs;
mod named_artifacts;
mod remove;
mod reopen;
mod scope;
mod set;
mod track;
mod transition;
mod undo;
