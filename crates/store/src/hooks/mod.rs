//! The hooks of git: installing them, and what they stage.

#[cfg(feature = "write")]
pub(crate) mod commit_message;
#[cfg(feature = "write")]
pub(crate) mod git_hooks;
#[cfg(feature = "write")]
pub(crate) mod staged_history;

#[cfg(feature = "write")]
pub use commit_message::CommitMessageError;
#[cfg(feature = "write")]
pub use git_hooks::{HookChange, HookError, HookOutcome, HookStanding};
#[cfg(feature = "write")]
pub use staged_history::{StageHistoryError, StagedHistory, StagingFor};
