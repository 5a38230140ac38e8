//! The hooks of git: installing them, and what they stage.

pub(crate) mod git_hooks;
pub(crate) mod staged_history;

pub use git_hooks::{HookChange, HookOutcome, HookState};
pub use staged_history::{StagedHistory, StagingFor};
