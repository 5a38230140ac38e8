//! Projections: copies of state in files, made one way (docs/adr/0026-projections-and-dialects.md).
//!
//! # Flow
//! What a projection is made of is read → a value that implements [`Projection`] and knows the bytes of its
//! files → `publish` compares each with what stands there and with what was written last, keeps what somebody
//! edited where the projection wants that, writes what differs, and remembers its digest.
//!
//! # Guarantees
//! * A file that is right is not touched. One that changed since it was read is not replaced.
//! * A file that is no projection's is never replaced.

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

/// A copy of state, as it should be now.
pub trait Projection {
    const FACTS: ProjectionFacts;

    /// Its files, in the order in which they are to be written.
    fn files(&self) -> Vec<ProjectedFile<'_>>;
}

#[derive(Clone, Debug)]
pub struct ProjectedFile<'p> {
    pub path: Cow<'p, ProjectPath>,
    pub bytes: Cow<'p, [u8]>,
    /// The hash of what stood there when `bytes` were made; `None` where nothing did.
    pub found: Option<FileHash>,
    /// The evidence of what was written there last.
    pub witness: Witness,
    pub on_edit: OnEdit,
    /// True if what stands there is no file of the projection.
    pub is_foreign: bool,
}

/// The evidence of what was written last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    Memory,
    /// A file beside it names the digest, for other programs and clones; `None` where that does not.
    FileBeside(Option<FileHash>),
}

/// The treatment of a file of a projection that somebody edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnEdit {
    /// It is replaced, and that is told: everything in it can be made again.
    Replace,
    /// It is replaced, and kept under another name beside it.
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
