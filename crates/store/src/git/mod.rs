//! Git as a program: its folders, its objects, its index.

#[cfg(feature = "write")]
pub(crate) mod index;
#[cfg(feature = "write")]
pub(crate) mod task_refs;
#[cfg(feature = "history")]
pub(crate) mod process;
#[cfg(feature = "history")]
pub(crate) mod version;

#[cfg(feature = "history")]
pub use version::{ChangedFile, Comparison, GitChanges, GitVersion, GitVersionError, OverLimit};
