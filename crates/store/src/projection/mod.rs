//! Projections: one-way copies of state in files (docs/adr/0026-projections-and-dialects.md).
//!
//! # Flow
//! Read the sources → a [`Projection`] with its files' bytes → `publish` compares each with the existing and
//! the last written one, keeps edits if the projection wants it, writes the differing ones, and remembers
//! their digests.
//!
//! # Guarantees
//! * Correct files are not touched. A file that changed since it was read is not replaced.
//! * A file that is not a projection's is never replaced.

#[cfg(feature = "write")]
mod publish;
#[cfg(feature = "write")]
pub(crate) mod pack_files;
#[cfg(feature = "write")]
pub(crate) mod record_files;
#[cfg(feature = "write")]
pub(crate) mod found_files;
#[cfg(feature = "write")]
pub(crate) mod file_findings;
#[cfg(feature = "write")]
mod others_locks;
#[cfg(all(test, feature = "write"))]
mod cases;

use std::borrow::Cow;

#[cfg(feature = "write")]
pub use file_findings::FollowingFile;
#[cfg(feature = "write")]
pub use pack_files::{Followed, Overwrite, PackFiles};
#[cfg(feature = "write")]
pub use publish::{Published, publish};
#[cfg(feature = "write")]
pub(crate) use publish::{was_written, with_help_of_foreign};

use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    projection::{FileState, ProjectionFacts},
};

pub trait Projection {
    const FACTS: ProjectionFacts;

    /// In writing order.
    fn files(&self) -> Vec<ProjectedFile<'_>>;
}

#[derive(Clone, Debug)]
pub struct ProjectedFile<'p> {
    pub path: Cow<'p, ProjectPath>,
    pub bytes: Cow<'p, [u8]>,
    /// The hash of the existing file when `bytes` were made; `None` if there was none.
    pub found: Option<FileHash>,
    pub witness: Witness,
    pub on_edit: OnEdit,
    /// True if the existing file is not the projection's.
    pub is_foreign: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    Memory,
    /// A file beside it has the digest, for other programs and clones; `None` if it lacks it.
    FileBeside(Option<FileHash>),
}

/// The treatment of edited files of a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnEdit {
    /// Replaced with a report: all can be rebuilt.
    Replace,
    /// Replaced, with a copy beside it.
    Keep,
}

impl ProjectedFile<'_> {
    pub fn state(&self, wanted: FileHash, remembered: Option<FileHash>) -> FileState {
        let written = match self.witness {
            Witness::Memory => remembered,
            Witness::FileBeside(written) => written,
        };
        FileState::judge(self.found, wanted, written)
    }
}
