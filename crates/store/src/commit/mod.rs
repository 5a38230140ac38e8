//! Plans made durable: locks, staging, atomic publication. An edge: this stage writes files.
//!
//! # Flow
//! [`ArtifactLock`] (advisory, one a file) → [`ArtifactLock::read`] → the caller decides → [`ArtifactLock::stage`] (a
//! temporary file beside the target, flushed) → [`Staged::publish`] (the target is read once more, after 20 ms of rest if
//! another program wrote it just now; it is replaced, and its folder flushed). [`update`] runs this flow and starts again from the read when another program changed the file meanwhile;
//! [`create`] and [`replace_whole`] are for whole files. Of the rest of the crate only [`Root`](crate::disk::Root),
//! which tells names from places, is used.
//!
//! # Guarantees
//! * At every moment, and after a crash at any moment, the target holds the old bytes or the new ones, whole. What was
//!   acknowledged under [`FsyncPolicy::Always`] survives a loss of power.
//! * Writers that go through this module never lose each other's changes.
//! * A failure leaves the old bytes; nothing that it leaves behind stops the next run, and the next holder of the lock
//!   removes it. Nothing outside the root is written, through no link.
//! * The target keeps its mode, and its owner and group as far as the system permits. A link stays a link: the file that
//!   it leads to is replaced.
//! * On Linux, what an editor wrote into the instants between the last check and the replacement is found and put back,
//!   or kept beside the file as `.stepmark-kept-…`; then the publication is a [`Conflict`].
//!
//! # Assumptions
//! The file system renames atomically and has advisory locks (`flock`; where it has none, [`LockError::Unsupported`]).
//! The clock only bounds waiting: for a lock, and for an editor to finish.
//!
//! # Caveats
//! * An editor that empties the file and fills it again is seen by what it wrote lately. One that rests longer than 20 ms
//!   in between, or that keeps the file open and writes after the replacement, writes into a file without a name. Where names cannot be exchanged (systems other than Linux, some network file systems), what an
//!   editor writes between the last check and the rename is lost. Nobody can close these windows without the editor.
//! * A hard link to the target keeps the old bytes: replacing a file gives its name a new inode.
//! * Extended attributes and access control lists are not carried over; a new file gets those of its folder.
//! * Putting a foreign edit back after `kill -9` in those same instants is certain; after a loss of power it is not.

mod attributes;
mod conflict;
mod exchange;
mod folder;
mod fsync_policy;
mod lock_file;
mod lock;
mod note;
mod last_told;
mod settle;
mod publish;
mod replace;
mod read;
mod recover;
mod stage;
mod removal;
mod state_file;
mod clone_key;
mod lease_files;
mod redo_record;
mod redo_slot;
mod redo_aside;
mod left_over;
mod local_state_move;
mod moved_project;
mod state_move;
mod journal_file;
mod same_bytes;
mod sealing;
mod compaction;
mod joining;
mod lone_segments;
mod torn_lines;
mod roll_forward;
mod transaction;
mod update;
mod write_state;
mod whole;
#[cfg(test)]
mod compaction_cases;
#[cfg(test)]
pub(crate) mod scratch_project;

pub use compaction::{CompactError, Compacted, Files, compact_segments};
pub use conflict::{Conflict, Expected, Found};
pub use folder::{FolderError, make_folders_to};
pub use fsync_policy::FsyncPolicy;
pub use journal_file::{JournalWriteError, append_events};
pub(crate) use lease_files::LeaseFiles;
pub(crate) use left_over::{is_left_over, remove_left_over};
pub use local_state_move::{LocalStateMoveError, OldState, is_state_moved, move_local_state, old_state};
pub use lock::{ArtifactLock, LockError};
pub use moved_project::{MovedProject, moved_projects, take_state};
pub use publish::{PublishError, Published};
pub use read::ReadError;
pub use redo_aside::{CommitSetAside, SetAsideRepair, commits_set_aside, repair_commits_set_aside};
pub use roll_forward::{finish_interrupted, interrupted_paths};
pub(crate) use state_file::{names_in, replace as replace_state_file};

pub use sealing::{
    Seal, finish_sealing, publish_copies, read_copy, seal_named_segments, seal_segments, unpublished_segments,
};
pub use stage::{StageError, Staged};
pub use torn_lines::{CutLine, cut_torn_lines};
pub use transaction::{Deliberation, FileDecision, FileTransition, transact};
pub use update::{CommitError, CommitOptions, Outcome, UpdateError, update, update_and_record};
pub(crate) use whole::read_whole;
pub use whole::{create, replace_whole};
pub use write_state::WriteState;
