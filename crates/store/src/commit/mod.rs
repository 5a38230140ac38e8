//! Plans made durable: locks, staging, atomic publication. An edge: this stage writes files.
//!
//! # Flow
//! [`ArtifactLock`] (advisory, one a file) → [`ArtifactLock::read`] → the caller decides →
//! [`ArtifactLock::stage`] (a temporary file beside the target, flushed) → [`Staged::publish`] (the target is
//! read once more, after 20 ms of rest if another program wrote it just now; it is replaced, and its folder
//! flushed). [`Transaction`] runs this flow for one file or several together with the journal, and starts
//! again from the read when another program changed a file meanwhile; [`create`] and [`replace_whole`] are
//! for whole files. Of the rest of the crate only [`Root`](crate::disk::Root), which tells names from places,
//! is used.
//!
//! # Guarantees
//! * At every moment, and after a crash at any moment, the target holds the old bytes or the new ones, whole.
//!   What was acknowledged under [`FsyncPolicy::Always`] survives a loss of power.
//! * Writers that go through this module never lose each other's changes.
//! * A failure leaves the old bytes; nothing that it leaves behind stops the next run, and the next holder of
//!   the lock removes it. Nothing outside the root is written, through no link.
//! * The target keeps its mode, and its owner and group as far as the system permits. A link stays a link:
//!   the file that it leads to is replaced.
//! * On Linux, what an editor wrote into the instants between the last check and the replacement is found and
//!   put back, or kept beside the file as `.stepmark-kept-…`; then the publication is a [`Conflict`].
//!
//! # Assumptions
//! The file system renames atomically and has advisory locks (`flock`; where it has none,
//! [`LockError::Unsupported`]). The clock only bounds waiting: for a lock, and for an editor to finish.
//!
//! # Caveats
//! * An editor that empties the file and fills it again is seen by what it wrote lately. One that rests
//!   longer than 20 ms in between, or that keeps the file open and writes after the replacement, writes into
//!   a file without a name. Where names cannot be exchanged (systems other than Linux, some network file
//!   systems), what an editor writes between the last check and the rename is lost. Nobody can close these
//!   windows without the editor.
//! * A hard link to the target keeps the old bytes: replacing a file gives its name a new inode.
//! * Extended attributes and access control lists are not carried over; a new file gets those of its folder.
//! * Putting a foreign edit back after `kill -9` in those same instants is certain; after a loss of power it
//!   is not.

mod execute;
mod file;
mod journal;
mod local_state;
mod lock;
mod redo;
mod transaction;

pub use crate::error::WriteState;
pub use execute::{
    CommitError, CommitOptions, FileDecision, FileTransition, Halt, Outcome, create, replace_whole,
};
pub(crate) use execute::{named, read_whole, replace_hashed};
pub use transaction::Transaction;

pub(crate) use crate::disk::names_in;
pub use file::{
    Conflict, Expected, FolderError, Found, FsyncPolicy, PublishError, Published, ReadError, StageError,
    Staged, make_folders_to,
};
pub use journal::{
    CompactError, Compacted, CutLine, Files, JournalWriteError, LiveSegments, Seal, append_events,
    compact_segments, cut_torn_lines, finish_sealing, publish_copies, read_copy, seal_segments,
    unpublished_segments,
};
pub(crate) use local_state::{LeaseFiles, replace as replace_state_file};
pub use lock::{ArtifactLock, LockError};
pub(crate) use lock::{is_left_over, remove_left_over};
pub use redo::{
    CommitSetAside, SetAsideRepair, commits_set_aside, finish_interrupted, interrupted_paths,
    repair_commits_set_aside,
};

#[cfg(test)]
pub(crate) mod scratch_project;
#[cfg(test)]
mod update_cases;
