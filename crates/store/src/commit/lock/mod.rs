//! The lock of one file, and what its lock file remembers.

mod artifact_lock;
mod last_event;
mod lock_file;
mod note;
mod recover;

pub use artifact_lock::{ArtifactLock, LockError};
pub(crate) use artifact_lock::{is_left_over, remove_left_over};
pub(super) use last_event::{JournalStamp, LastEvent, remember};
pub(super) use lock_file::{LockKey, is_ever_locked, open_lock_file};
pub(super) use note::{Note, file_name};
pub(super) use recover::{keep, recover};
