//! The files of a project as git holds them: in the index, or in a commit. Nothing here reads or writes the
//! work tree.

mod base;
mod changed_file;
mod error;
mod merged;
mod objects;
mod raw_diff;
mod supposed;
mod tree;
mod git_version;
mod wanted;

pub use base::Comparison;
pub use changed_file::{ChangedFile, GitChanges, OverLimit};
pub use error::GitVersionError;
pub use git_version::GitVersion;
pub(crate) use objects::{Object, ObjectReader, read_object};
#[cfg(feature = "write")]
pub(crate) use supposed::is_blob_of;
