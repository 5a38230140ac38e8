//! Files in other systems' formats, written from a project's records after each commit.
//!
//! Foreign changes in such a file are never silently replaced: they are *drift*, reported for each record. A
//! record in drift stays in the file until a person imports or overwrites it; the others are updated.
//!
//! # Protocol
//! Under the projection's lock, and those of the other programs, if any: read the records (the last process
//! writes the latest state) → compare the files with the digests written → note the digest to be written →
//! replace the files, unflushed → keep copies, to detect later changes. A kill at any point leaves files
//! known as ours; after a power loss an older one may be reported as drift, and nothing is lost, since all
//! can be rebuilt. An older one that somebody restores is drift, too.
#![expect(clippy::disallowed_methods, reason = "an edge module: lock files are opened here")]

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io,
    path::Path,
    thread,
    time::Duration,
};

use super::{
    file_findings::{compare, foreign},
    found_files::{FoundFiles, hashed, hashes},
    others_locks,
    pack_files::{DriftOf, Followed, Overwrite, RecordFormat},
    publish::WrittenFiles,
};
use crate::{
    Error,
    commit::{CommitError, CommitOptions, Expected, FsyncPolicy, LockError, replace_hashed},
    disk::{Root, file_lock, local_state::StateFolder},
};
use stepmark_model::artifact::ProjectPath;

/// Retries if other programs write meanwhile.
const ATTEMPTS: usize = 8;

/// The pause before an unreadable file is read again, until the last attempt: a program without locks may be
/// writing it in place.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Damage {
    IsWaitedFor,
    IsReplaced,
}

pub(crate) fn follow<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
    overwrite: &Overwrite,
    found: &mut FoundFiles,
) -> Result<Followed<DriftOf<F>>, Error> {
    let _lock = lock(root, format.name()).map_err(|source| local(format.name(), source))?;
    let mut last = None;
    for number in 1..=ATTEMPTS {
        let _others = others_locks::lock(root, options, format)?;
        let damage = if number < ATTEMPTS { Damage::IsWaitedFor } else { Damage::IsReplaced };
        match attempt(root, options, format, (overwrite, damage), found) {
            Err(Attempted::Torn) => {
                *found = FoundFiles::default();
                thread::sleep(PAUSE);
            }
            Err(Attempted::Again(error)) => {
                *found = FoundFiles::default();
                last = Some(error);
            }
            Err(Attempted::Failed(error)) => return Err(error),
            Ok(followed) => return Ok(followed),
        }
    }
    let busy = || local(format.name(), io::ErrorKind::ResourceBusy.into());
    Err(last.unwrap_or_else(busy))
}

pub(crate) fn drift<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
) -> Result<Vec<DriftOf<F>>, Error> {
    let compared = || -> Result<Vec<DriftOf<F>>, Error> {
        let _others = others_locks::lock(root, options, format)?;
        let (state, written) = (format.present()?, WrittenFiles::of(root, format.name()));
        let mut found = FoundFiles::default();
        found.read(root, format.paths())?;
        Ok(compare(format, &state, (&found, &written), &Overwrite::None)?.drift)
    };
    let drift = compared()?;
    if drift.is_empty() {
        return Ok(drift);
    }
    // stepmark may have written between the two readings: real drift persists under the lock. Without a lock
    // file nobody has written here.
    match root.state().folder(StateFolder::Projections).map(|folder| existing_lock(&folder, format.name())) {
        Ok(Ok(_lock)) => compared(),
        _ => Ok(drift),
    }
}

pub(crate) type LastAndFound<S> = (Option<S>, Option<S>);

/// The records as last written, and as in the files now; `None` if they have none.
pub(crate) fn last_and_found<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
) -> Result<LastAndFound<F::State>, Error> {
    let _others = others_locks::lock(root, options, format)?;
    let last = WrittenFiles::of(root, format.name()).last(&format.paths());
    let mut found = FoundFiles::default();
    found.read(root, format.paths())?;
    let found = found.iter().map(|(path, found)| (path.clone(), found.bytes.clone())).collect();
    Ok((last.and_then(|last| format.read(&last)), format.read(&found)))
}

/// Accepts files that agree with the records, from another clone or build, as last written: call it before a
/// change, so that this is not mistaken for theirs. Returns the records changed by other programs.
pub(crate) fn adopt<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
    found: &mut FoundFiles,
) -> Result<Vec<DriftOf<F>>, Error> {
    found.read(root, format.paths())?;
    if foreign(found, &WrittenFiles::of(root, format.name())).next().is_none() {
        return Ok(Vec::new());
    }
    let failed = |source| local(format.name(), source);
    let _lock = lock(root, format.name()).map_err(failed)?;
    let _others = others_locks::lock(root, options, format)?;
    // The lock's former holder may have changed everything.
    let state = format.present()?;
    found.read(root, format.paths())?;
    let mut written = WrittenFiles::of(root, format.name());
    let compared = compare(format, &state, (found, &written), &Overwrite::None)?;
    if !compared.adopted.is_empty() {
        written.intend(&compared.adopted, &BTreeMap::new()).map_err(failed)?;
        written.keep(&hashed(format.render(&state)), found, &compared.adopted).map_err(failed)?;
    }
    Ok(compared.drift)
}

enum Attempted {
    /// Another program may be writing it.
    Torn,
    Again(Error),
    Failed(Error),
}

impl From<Error> for Attempted {
    fn from(error: Error) -> Self {
        let is_conflict = error.is_conflict();
        if is_conflict { Self::Again(error.in_system()) } else { Self::Failed(error.in_system()) }
    }
}

fn attempt<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
    (overwrite, damage): (&Overwrite, Damage),
    found: &mut FoundFiles,
) -> Result<Followed<DriftOf<F>>, Attempted> {
    let failed = |source| local(format.name(), source);
    let state = format.present().map_err(Attempted::Failed)?;
    let mut written = WrittenFiles::of(root, format.name());
    found.read(root, format.paths())?;
    let compared = compare(format, &state, (found, &written), overwrite)?;
    if damage == Damage::IsWaitedFor && !compared.damaged.is_empty() {
        return Err(Attempted::Torn);
    }
    let ours = hashed(format.render(&state));
    let mut followed =
        Followed { drift: compared.drift, overwritten: compared.overwritten, ..Followed::default() };
    for path in compared.damaged {
        let bytes = found.get(&path).map_or(&[][..], |found| &found.bytes);
        followed.kept.push(written.keep_copy(&path, bytes).map_err(failed)?);
    }
    // A file with drift is not noted as ours, so that the next comparison finds it again.
    let mixed = compared.files.as_ref().map(hashes).unwrap_or_default();
    written.intend(&hashes(&ours), &mixed).map_err(failed)?;
    let unflushed = CommitOptions { fsync: FsyncPolicy::Never, ..*options };
    let stays = |path: &ProjectPath| compared.adopted.contains_key(path);
    for (path, file) in compared.files.as_ref().unwrap_or(&ours).iter().filter(|(path, _)| !stays(path)) {
        let before = found.get(path).map(|found| found.hash);
        if before != Some(file.hash) {
            let expected = before.map_or(Expected::Absent, Expected::Hash);
            replace_hashed(root, path, expected, (&file.bytes, file.hash), &unflushed)
                .map_err(Error::from)?;
            followed.written.push(path.clone());
        }
    }
    if !followed.written.is_empty() || !compared.adopted.is_empty() {
        written.intend(&compared.adopted, &BTreeMap::new()).map_err(failed)?;
        written.keep(&ours, found, &compared.adopted).map_err(failed)?;
    }
    Ok(followed)
}

/// Only files that nobody else has changed.
pub(crate) fn withdraw<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
) -> Result<Vec<ProjectPath>, Error> {
    let _lock = lock(root, format.name()).map_err(|source| local(format.name(), source))?;
    let _others = others_locks::lock(root, options, format)?;
    let written = WrittenFiles::of(root, format.name());
    let (mut found, mut removed) = (FoundFiles::default(), Vec::new());
    found.read(root, format.paths())?;
    for (path, _) in found.iter().filter(|(path, found)| written.knows(path, found.hash, &found.bytes)) {
        remove(root, path)?;
        removed.push(path.clone());
    }
    Ok(removed)
}

pub(crate) fn remove(root: &Root, path: &ProjectPath) -> Result<(), Error> {
    let place = root
        .resolve_for_writing(path)
        .map_err(|error| Error::from(CommitError::from(LockError::Resolve(error))).in_system())?;
    match fs::remove_file(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| Error::io(format!("cannot remove `{path}`"), source).in_system()),
    }
}

pub(super) fn lock(root: &Root, name: &str) -> io::Result<File> {
    let folder = root.state().make(StateFolder::Projections).map_err(io::Error::other)?;
    locked(OpenOptions::new().write(true).create(true).truncate(false), &folder, name)
}

fn existing_lock(folder: &Path, name: &str) -> io::Result<File> {
    locked(OpenOptions::new().write(true), folder, name)
}

fn locked(options: &OpenOptions, folder: &Path, name: &str) -> io::Result<File> {
    let lock = options.open(folder.join(format!("{name}.lock")))?;
    file_lock::exclusive(&lock)?;
    Ok(lock)
}

fn local(name: &'static str, source: io::Error) -> Error {
    Error::io(format!("cannot note what is written for `{name}`; nothing was changed"), source).in_system()
}
