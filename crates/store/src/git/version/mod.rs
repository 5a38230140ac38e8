//! A project's files in git's index or a commit. Nothing here reads or writes the work tree.

mod error;
mod raw_diff;
mod git_version;

pub use error::Comparison;
#[cfg(feature = "write")]
pub(crate) use error::{failed_as, no_commit, no_git, pipe, unknown_answer};
pub use git_version::GitVersion;
#[cfg(feature = "write")]
pub(crate) use git_version::is_blob_of;
pub use raw_diff::{ChangedFile, GitChanges, OverLimit};
pub(crate) use raw_diff::{Object, ObjectReader, read_object};
