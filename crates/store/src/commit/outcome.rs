//! The options of a commit, the decisions on its files, and its outcome.

use std::{num::NonZeroU32, time::Duration};

use crate::commit::{Expected, FsyncPolicy};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::Ancestor,
};

/// The options of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOptions {
    /// The longest wait for the locks of the files, in all. 30 s by default: about a thousand commits of
    /// others.
    pub lock_timeout: Duration,
    /// The number of attempts in all, when another program changes the file meanwhile. 8 by default.
    pub attempts: NonZeroU32,
    /// The policy on waiting for the disk.
    pub fsync: FsyncPolicy,
}

impl Default for CommitOptions {
    fn default() -> Self {
        let attempts = NonZeroU32::MIN.saturating_add(7);
        Self { lock_timeout: Duration::from_secs(30), attempts, fsync: FsyncPolicy::Always }
    }
}

/// The outcome of a commit for one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The file is as it should be; no byte was written.
    Unchanged,
    /// The file was replaced or created.
    Written {
        /// The state of the file before.
        before: Expected,
        /// The hash of what it holds now.
        after: FileHash,
        /// The number of attempts that it took: more than one when another program wrote meanwhile.
        attempts: u32,
    },
    /// The file was removed.
    Deleted {
        /// The state of the file before.
        before: Expected,
        /// The number of attempts that it took.
        attempts: u32,
    },
}

/// The decision on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileDecision {
    /// Nothing.
    Keep,
    /// It gets these bytes; it is made where it is missing.
    Write(Vec<u8>),
    /// It goes.
    Delete,
}

impl FileDecision {
    /// Returns whether it makes another file of one with the bytes `old`.
    pub(super) fn changes(&self, old: Option<&[u8]>) -> bool {
        match self {
            Self::Keep => false,
            Self::Write(new) => old != Some(new.as_slice()),
            Self::Delete => old.is_some(),
        }
    }
}

/// A file before and after.
#[derive(Clone, Copy, Debug)]
pub struct FileTransition<'a> {
    /// The file.
    pub path: &'a ProjectPath,
    /// Its bytes before; `None` where there is no file.
    pub old: Option<&'a [u8]>,
    /// Its bytes after; `None` where there is none any more.
    pub new: Option<&'a [u8]>,
    /// The event after which it had the bytes of before, where its lock remembers it and nothing in the
    /// journal can follow.
    pub last_event: Option<Ancestor>,
}

/// A reason why a decision or an event is not made.
pub enum Halt<E> {
    /// It is refused.
    Refused(E),
    /// It waits for an answer that takes long, such as one of git, for which nobody should wait at a lock:
    /// the transaction lets go of its locks, asks, and begins again.
    Ask(Box<dyn FnOnce()>),
}

impl<E> From<E> for Halt<E> {
    fn from(refusal: E) -> Self {
        Self::Refused(refusal)
    }
}

impl<E> Halt<E> {
    /// The same, where the refusal is part of a larger type.
    pub fn of<F: Into<E>>(halt: Halt<F>) -> Self {
        match halt {
            Halt::Refused(refusal) => Self::Refused(refusal.into()),
            Halt::Ask(question) => Self::Ask(question),
        }
    }
}
