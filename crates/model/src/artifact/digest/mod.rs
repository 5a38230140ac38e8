//! Digests of files and of the state that their frontmatter holds.

mod file_hash;
mod state_value;
mod state_digest;

pub use file_hash::{FileHash, FileHashError, LineEndHasher, LineEndHashes};
pub use state_digest::StateDigest;
pub use state_value::StateUnreadable;
pub(super) use state_value::state_value;
