//! `files-manifest.csv`: which files there are, and the SHA-256 of each.
//!
//! The format is that of the official BMAD installer, to the byte (docs/formats.md). Everything here is pure:
//! `workspace::manifest` walks, hashes and writes.

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

/// The place where `manifest write` and `verify` have a project's manifest, seen from the project root.
pub const DEFAULT_MANIFEST: &str = ".stepmark/manifests/files-manifest.csv";
