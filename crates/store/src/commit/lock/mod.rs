//! The lock of one file, and the note in its lock file.

mod artifact_lock;
mod note;
mod recover;

pub use artifact_lock::{ArtifactLock, LockError};
pub(super) use artifact_lock::{LockKey, is_ever_locked};
pub(crate) use artifact_lock::{is_left_over, remove_left_over};
pub(super) use note::{Note, file_name};
pub(super) use recover::{JournalStamp, LastEvent, keep, recover, remember};
