//! `files-manifest.csv`: paths with SHA-256, in the exact format of the BMAD installer (docs/formats.md).
//! Pure: `workspace::manifest` walks, hashes and writes.

mod write;
mod read;
mod listing;
mod verify;

pub use crate::artifact::{LineEndHasher, LineEndHashes};
pub use listing::{ArtifactFilter, ListedFolder, Listing, ListingBuilder, ManifestScope};
pub use read::{
    FileRow, ManifestReading, ManifestWarning, ManifestWarningKind, ReadRow, UnlistablePath,
    UnlistableReason, read,
};
pub use verify::{
    Deviation, FileClass, FileResult, FoundFile, Observations, RowOrder, RowOrderError, Verification, verify,
};
pub use write::{Renewal, renewal, write};

/// Relative to the project root.
pub const DEFAULT_MANIFEST: &str = ".stepmark/manifests/files-manifest.csv";
