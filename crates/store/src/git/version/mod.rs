//! The files of a project as git holds them: in the index, or in a commit. Nothing here reads or writes the
//! work tree.

mod error;
mod objects;
mod raw_diff;
mod supposed;
mod git_version;
mod wanted;

pub use error::{Comparison, GitVersionError};
pub use git_version::GitVersion;
pub(crate) use objects::{Object, ObjectReader, read_object};
pub use raw_diff::{ChangedFile, GitChanges, OverLimit};
#[cfg(feature = "write")]
pub(crate) use supposed::is_blob_of;
