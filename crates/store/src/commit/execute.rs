//! The decided commit made: files staged, the redo record written, files published, the journal told.

use std::path::PathBuf;

use crate::commit::{
    ArtifactLock, CommitError, CommitOptions, Expected, FsyncPolicy, PublishError, Staged, WriteState,
    file::remove, journal::JournalFile, redo::RedoRecord, redo::Slot, redo::roll_forward, redo::told,
    redo::withdraw,
};
use crate::disk::root::Root;
use stepmark_model::artifact::FileHash;

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

/// The locks at these places, which grow.
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
