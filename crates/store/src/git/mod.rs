//! Git, run as a program: its folders, objects and index.

#[cfg(feature = "write")]
pub(crate) mod index;
#[cfg(feature = "write")]
pub(crate) mod task_refs;
#[cfg(feature = "history")]
pub(crate) mod process;
#[cfg(feature = "history")]
pub(crate) mod version;

#[cfg(feature = "history")]
pub use version::{ChangedFile, Comparison, GitChanges, GitVersion, OverLimit};
#[cfg(feature = "write")]
pub(crate) use version::{failed_as, no_commit, no_git, pipe, unknown_answer};
