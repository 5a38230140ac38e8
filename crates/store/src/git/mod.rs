//! Git as a program: its folders, its objects, its index.

pub(crate) mod folders;
#[cfg(feature = "write")]
pub(crate) mod index;
pub(crate) mod process;
pub(crate) mod version;

pub use version::{ChangedFile, Comparison, GitChanges, GitVersion, GitVersionError, OverLimit};
