//! Makes plans durable: locks, staging, atomic publication.
//!
//! # Flow
//! [`ArtifactLock`] (advisory, one for each file) → [`ArtifactLock::read`] → the caller decides →
//! [`ArtifactLock::stage`] (a temporary file beside the target, flushed) → [`Staged::publish`] (reads the
//! target again, after 20 ms of rest if another program has just written it; replaces it and flushes its
//! folder). [`Transaction`] runs this for one or several files together with the journal, and begins again if
//! another program changed a file meanwhile; [`create`] and [`replace_whole`] are for whole files. Uses only
//! [`Root`](crate::disk::Root) of the rest of the crate, to resolve names.
//!
//! # Guarantees
//! * At every moment, and after a crash, the target has the old bytes or the new ones, whole. Commits
//!   acknowledged under [`FsyncPolicy::Always`] survive a power loss.
//! * Writers that use this module never lose each other's changes.
//! * A failure leaves the old bytes. Leftovers never stop the next run; the next holder of the lock removes
//!   them. Nothing is written outside the root, through no link.
//! * The target keeps its mode, and its owner and group as far as permitted. A link stays a link: its target
//!   is replaced.
//! * On Linux a foreign write between the last check and the replacement is restored, or kept beside the file
//!   as `.stepmark-kept-…`; then the publication is a [`Conflict`].
//!
//! # Assumptions
//! The file system renames atomically and has advisory locks (`flock`; otherwise [`LockError::Unsupported`]).
//! The clock only bounds waiting: for a lock, and for an editor to finish.
//!
//! # Caveats
//! * An editor that truncates and refills a file is noticed by its recent write. One that pauses longer than
//!   20 ms, or writes after the replacement through an open file, writes to a file without a name. Where
//!   names cannot be exchanged (not Linux, some network file systems), writes between the last check and the
//!   rename are lost. Only the editor could avoid this.
//! * A hard link to the target keeps the old bytes: a replacement is a new inode.
//! * Extended attributes and access control lists are not kept; a new file gets those of its folder.
//! * A foreign edit in those instants is certain to be restored after `kill -9`, but not after a power loss.

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
