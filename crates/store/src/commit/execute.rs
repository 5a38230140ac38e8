//! The decided commit made: files staged, the redo record written, files published, the journal told.

use crate::commit::redo::{RedoRecord, Slot, roll_forward, told, withdraw};
use crate::commit::{ArtifactLock, CommitError, Expected, FsyncPolicy, PublishError, Staged, WriteState};
use crate::commit::{file::remove, journal::JournalFile};
use crate::disk::root::Root;
use std::{num::NonZeroU32, path::PathBuf, time::Duration};
use stepmark_model::artifact::{FileHash, ProjectPath};
use stepmark_model::journal::Ancestor;

/// Stages all files, writes the record, publishes, tells the journal. `places` says which lock each file of
/// the record has.
pub(super) fn execute(
    root: &Root,
    locks: &mut [ArtifactLock],
    places: &[usize],
    record: &RedoRecord,
    options: &CommitOptions,
) -> Result<(), CommitError> {
    let fsync = options.fsync;
    let Some(first) = record.files.first() else { return Ok(()) };
    if record.events.is_empty() && record.files.len() == 1 {
        let prepared = prepare_all(locks, places, record, fsync)?;
        return publish_in_order(prepared).map_err(|(_, error)| error);
    }
    let mut slot = Slot::take(root, fsync, options.lock_timeout)
        .map_err(|source| CommitError::Redo { path: first.path.clone(), source })?;
    let prepared = prepare_all(locks, places, record, fsync)?;
    if let Err(source) = slot.write(record, fsync) {
        let error = CommitError::Redo { path: first.path.clone(), source };
        return Err(withdraw(&mut slot, &first.path, error));
    }
    // From here on the record stays where something goes wrong: the next commit finishes this one.
    let unfinished = |error| CommitError::Unfinished { path: first.path.clone(), source: Box::new(error) };
    let published = publish_in_order(prepared);
    let overtaken = match published {
        Ok(()) => Vec::new(),
        // Nothing has happened yet, unless the first file has its new bytes.
        Err((0, error)) if error.write_state() != WriteState::Written => {
            return Err(withdraw(&mut slot, &first.path, error));
        }
        Err((_, CommitError::Publish(PublishError::Conflict(_) | PublishError::Busy { .. }))) => {
            roll_forward(&mut chosen(locks, places), record, fsync).map_err(unfinished)?
        }
        // Of one file it is known.
        Err((_, error)) if record.files.len() == 1 => return Err(error),
        Err((_, error)) => return Err(unfinished(error)),
    };
    let events = told(record, &overtaken);
    let told = JournalFile::open(root).and_then(|journal| journal.append(&events, fsync));
    told.map_err(|source| CommitError::History { path: first.path.clone(), source })?;
    slot.clear().map_err(|source| CommitError::Record { path: first.path.clone(), source })?;
    match overtaken.into_iter().next() {
        None => Ok(()),
        Some(overtaken) => Err(CommitError::Overtaken { path: overtaken.path }),
    }
}

/// A file that is ready to be published.
enum Prepared<'lock> {
    Write(Staged<'lock>, Expected),
    Remove(&'lock mut ArtifactLock, FileHash, FsyncPolicy),
}

fn chosen<'lock>(locks: &'lock mut [ArtifactLock], places: &[usize]) -> Vec<&'lock mut ArtifactLock> {
    let is_chosen = |place: &usize| places.binary_search(place).is_ok();
    locks.iter_mut().enumerate().filter(|(place, _)| is_chosen(place)).map(|(_, lock)| lock).collect()
}

fn prepare_all<'lock>(
    locks: &'lock mut [ArtifactLock],
    places: &[usize],
    record: &RedoRecord,
    fsync: FsyncPolicy,
) -> Result<Vec<Prepared<'lock>>, CommitError> {
    let pairs = chosen(locks, places).into_iter().zip(&record.files);
    pairs
        .map(|(lock, file)| {
            let expected = file.before.map_or(Expected::Absent, Expected::Hash);
            match (file.after, file.before) {
                (None, Some(before)) => Ok(Prepared::Remove(lock, before, fsync)),
                _ => Ok(Prepared::Write(lock.stage(&file.bytes, fsync)?, expected)),
            }
        })
        .collect()
}

/// Publishes one after the other, and makes the names in a folder durable with the last file in it; with the
/// error, how many were published before.
fn publish_in_order(prepared: Vec<Prepared<'_>>) -> Result<(), (usize, CommitError)> {
    let folder = |prepared: &Prepared<'_>| match prepared {
        Prepared::Write(staged, _) => staged.lock.folder().to_owned(),
        Prepared::Remove(lock, ..) => lock.folder().to_owned(),
    };
    let folders: Vec<PathBuf> = prepared.iter().map(folder).collect();
    for (place, prepared) in prepared.into_iter().enumerate() {
        // Until then the redo record stands for the others.
        let is_last = !folders[place + 1..].contains(&folders[place]);
        let done = match prepared {
            Prepared::Write(staged, expected) => {
                let fsync = if is_last { staged.fsync } else { FsyncPolicy::Never };
                Staged { fsync, ..staged }.publish(expected).map(drop).map_err(CommitError::from)
            }
            Prepared::Remove(lock, before, fsync) => remove(lock, before, fsync),
        };
        done.map_err(|error| (place, error))?;
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOptions {
    /// The longest wait for the locks of the files, in all. 30 s by default: about a thousand commits of
    /// others.
    pub lock_timeout: Duration,
    /// The number of attempts in all, when another program changes the file meanwhile. 8 by default.
    pub attempts: NonZeroU32,
    pub fsync: FsyncPolicy,
}

impl Default for CommitOptions {
    fn default() -> Self {
        let attempts = NonZeroU32::MIN.saturating_add(7);
        Self { lock_timeout: Duration::from_secs(30), attempts, fsync: FsyncPolicy::Always }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The file is as it should be; no byte was written.
    Unchanged,
    Written {
        before: Expected,
        after: FileHash,
        /// The number of attempts that it took: more than one when another program wrote meanwhile.
        attempts: u32,
    },
    Deleted {
        before: Expected,
        attempts: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileDecision {
    Keep,
    /// It gets these bytes; it is made where it is missing.
    Write(Vec<u8>),
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

#[derive(Clone, Copy, Debug)]
pub struct FileTransition<'a> {
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
    pub fn of<F: Into<E>>(halt: Halt<F>) -> Self {
        match halt {
            Halt::Refused(refusal) => Self::Refused(refusal.into()),
            Halt::Ask(question) => Self::Ask(question),
        }
    }
}
