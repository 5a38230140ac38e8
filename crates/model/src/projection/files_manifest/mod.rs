//! `files-manifest.csv`: which files there are, and the SHA-256 of each.
//!
//! The format is that of the official BMAD installer, to the byte (FORMATS.md §1). Everything here is pure:
//! `workspace::manifest` walks, hashes and writes.

mod row;
mod order;
mod write;
mod renew;
mod read;
mod scope;
mod listing;
mod verify;

pub use crate::artifact::{LineEndHasher, LineEndHashes};
pub use listing::{ListedFolder, Listing, ListingBuilder};
pub use order::{RowOrder, RowOrderError};
pub use read::{Oddity, OddityKind, ReadRow, Reading, read};
pub use renew::{Renewal, renewal};
pub use row::{Row, UnlistablePath, UnlistableReason};
pub use scope::{ArtifactFilter, Scope};
pub use verify::{Deviation, FileClass, FileVerdict, Found, Observations, Verification, verify};
pub use write::write;
