//! `files-manifest.csv`: which files there are, and the SHA-256 of each.
//!
//! The format is that of the official BMAD installer, to the byte (docs/formats.md). Everything here is pure:
//! `workspace::manifest` walks, hashes and writes.

mod row;
mod order;
mod write;
mod read;
mod scope;
mod listing;
mod verify;

pub use crate::artifact::{LineEndHasher, LineEndHashes};
pub use listing::{ListedFolder, Listing, ListingBuilder};
pub use order::{RowOrder, RowOrderError};
pub use read::{ManifestReading, ManifestWarning, ManifestWarningKind, ReadRow, read};
pub use row::{FileRow, UnlistablePath, UnlistableReason};
pub use scope::{ArtifactFilter, ManifestScope};
pub use verify::{Deviation, FileClass, FileResult, FoundFile, Observations, Verification, verify};
pub use write::{Renewal, renewal, write};

/// The place where `manifest write` puts the manifest of a project, and `verify` looks for it, seen from the
/// project root.
pub const DEFAULT_MANIFEST: &str = ".stepmark/manifests/files-manifest.csv";
