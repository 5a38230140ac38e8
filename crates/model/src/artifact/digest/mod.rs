//! Digests of files and of the state that their frontmatter holds.

mod file_hash;
mod line_end_hashes;
mod state_value;
mod state_digest;

pub use file_hash::{FileHash, FileHashError};
pub use line_end_hashes::{LineEndHasher, LineEndHashes};
pub use state_digest::StateDigest;
pub use state_value::StateUnreadable;
pub(super) use state_value::state_value;
