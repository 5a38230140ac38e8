//! Files in the format of another system that follow the records of a project after each commit.
//!
//! What another program changed in such a file is never replaced silently: it is *drift*, told record by
//! record. A record in drift stays in the file as it is until a person imports or overwrites it; the others
//! go on.
//!
//! # Protocol
//! Under the lock of the projection, and those with which other programs write the files, where there are
//! such: the records are read (whoever comes last writes the latest state) → the
//! files are compared with the digests of what was written → the digest of what is about to be written is
//! noted → the files are replaced, unflushed → what the records say is kept, to tell later changes by. A kill
//! at any call leaves files that are known as written here; after a loss of power an older one may be told as
//! drift, and nothing is lost, since all of it can be made again.
#![expect(clippy::disallowed_methods, reason = "an edge module: lock files are opened here")]

use std::{
    fs::{self, File, OpenOptions},
    io, thread,
    time::Duration,
};

use super::{
    ProjectionError, others_locks,
    record_format::{DriftedRecord as _, Files, Followed, Overwrite, RecordFormat},
    written_files::WrittenFiles,
};
use crate::{
    commit::{CommitError, CommitOptions, Expected, FsyncPolicy, LockError, read_whole, replace_whole},
    disk::{Root, file_lock, local_state::StateFolder},
};
use stepmark_model::artifact::{FileHash, ProjectPath};

/// The number of times that files are compared anew where other programs write them meanwhile.
const ATTEMPTS: usize = 8;

/// The pause before a file that cannot be read is read again, up to the last attempt: a program without locks
/// writes in place, and may be half through.
const PAUSE: Duration = Duration::from_millis(20);

/// The treatment of a file that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Damage {
    IsWaitedFor,
    IsReplaced,
}

/// Makes the files of `format` follow its records.
///
/// # Errors
/// When the records cannot be read, a file of another program stands there that was never imported, or one
/// cannot be written.
pub(crate) fn follow<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
    overwrite: &Overwrite,
) -> Result<Followed<F::Drift>, F::Error> {
    let _lock = lock(root, format.name()).map_err(|source| local(format.name(), source))?;
    let mut last = None;
    for number in 1..=ATTEMPTS {
        let _others = others_locks::lock(root, options, format)?;
        let damage = if number < ATTEMPTS { Damage::IsWaitedFor } else { Damage::IsReplaced };
        match attempt(root, options, format, (overwrite, damage)) {
            Err(Attempted::Torn) => thread::sleep(PAUSE),
            Err(Attempted::Again(error)) => last = Some(error),
            Err(Attempted::Failed(error)) => return Err(error),
            Ok(followed) => return Ok(followed),
        }
    }
    let busy = || local(format.name(), io::ErrorKind::ResourceBusy.into());
    Err(last.unwrap_or_else(busy).into())
}

/// Compares the files of `format` with its records, and writes nothing.
///
/// # Errors
/// As of [`follow`].
pub(crate) fn drift<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
) -> Result<Vec<F::Drift>, F::Error> {
    let _others = others_locks::lock(root, options, format)?;
    let state = format.present()?;
    let written = WrittenFiles::of(root, format.name());
    let ours = format.render(&state);
    let found = found(root, format)?;
    Ok(compare(format, (&state, &ours), (&found, &written), &Overwrite::None)?.drift)
}

/// The records as they were written last, and as they are found.
pub(crate) type LastAndFound<S> = (Option<S>, Option<S>);

/// The records as they were written last, and as the files hold them now; nothing where they hold none.
///
/// # Errors
/// When a file cannot be read, or another program does not let go of it.
pub(crate) fn last_and_found<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
) -> Result<LastAndFound<F::State>, ProjectionError> {
    let _others = others_locks::lock(root, options, format)?;
    let last = WrittenFiles::of(root, format.name()).last(&format.paths());
    Ok((last.and_then(|last| format.read(&last)), format.read(&found(root, format)?)))
}

/// Takes files that say what the records say, and that another clone or build wrote, for what was written
/// last: to be called before a change, so that the change is not taken for theirs. Returns the records that
/// other programs changed.
///
/// # Errors
/// When the files cannot be read, or it cannot be noted.
pub(crate) fn adopt<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
) -> Result<Vec<F::Drift>, F::Error> {
    if foreign(&found(root, format)?, &WrittenFiles::of(root, format.name())).is_empty() {
        return Ok(Vec::new());
    }
    let _lock = lock(root, format.name()).map_err(|source| local(format.name(), source))?;
    let _others = others_locks::lock(root, options, format)?;
    // Whoever had the lock may have changed all of it.
    let (state, found) = (format.present()?, found(root, format)?);
    let (mut written, ours) = (WrittenFiles::of(root, format.name()), format.render(&state));
    let compared = compare(format, (&state, &ours), (&found, &written), &Overwrite::None)?;
    if !compared.adopted.is_empty() {
        note(&mut written, &compared.adopted, &ours).map_err(|source| local(format.name(), source))?;
    }
    Ok(compared.drift)
}

enum Attempted<E> {
    /// Another program may be writing a file just now.
    Torn,
    Again(ProjectionError),
    Failed(E),
}

impl<E: From<ProjectionError>> From<ProjectionError> for Attempted<E> {
    fn from(error: ProjectionError) -> Self {
        if error.is_conflict() { Self::Again(error) } else { Self::Failed(error.into()) }
    }
}

fn attempt<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
    (overwrite, damage): (&Overwrite, Damage),
) -> Result<Followed<F::Drift>, Attempted<F::Error>> {
    let state = format.present().map_err(Attempted::Failed)?;
    let mut written = WrittenFiles::of(root, format.name());
    let ours = format.render(&state);
    let found = found(root, format)?;
    let compared = compare(format, (&state, &ours), (&found, &written), overwrite)
        .map_err(Attempted::<F::Error>::from)?;
    if damage == Damage::IsWaitedFor && !compared.damaged.is_empty() {
        return Err(Attempted::Torn);
    }
    let mut followed =
        Followed { drift: compared.drift, overwritten: compared.overwritten, ..Followed::default() };
    for path in compared.damaged {
        let bytes = found.get(&path).cloned().unwrap_or_default();
        followed.kept.push(written.keep_copy(&path, &bytes).map_err(|source| local(format.name(), source))?);
    }
    // A file with records in drift is not noted as written here: the next comparison finds them again.
    written.intend(&ours, &compared.files).map_err(|source| local(format.name(), source))?;
    let unflushed = CommitOptions { fsync: FsyncPolicy::Never, ..*options };
    for (path, bytes) in &compared.files {
        let before = found.get(path);
        if before != Some(bytes) {
            let expected = Expected::of(before.map(Vec::as_slice));
            replace_whole(root, path, expected, bytes, &unflushed).map_err(ProjectionError::from)?;
            followed.written.push(path.clone());
        }
    }
    if !followed.written.is_empty() || !compared.adopted.is_empty() {
        note(&mut written, &compared.adopted, &ours).map_err(|source| local(format.name(), source))?;
    }
    Ok(followed)
}

/// Notes that `adopted` stand there, and keeps what the records say.
fn note(written: &mut WrittenFiles<'_>, adopted: &Files, ours: &Files) -> io::Result<()> {
    written.intend(adopted, &Files::new())?;
    written.keep(ours)
}

/// The files that are to stand there, and what was found out about those that do.
struct Compared<D> {
    files: Files,
    drift: Vec<D>,
    overwritten: Vec<D>,
    damaged: Vec<ProjectPath>,
    /// Files that say what the records say, in other bytes.
    adopted: Files,
}

/// The files that were not written here.
fn foreign(found: &Files, written: &WrittenFiles<'_>) -> Files {
    let is_foreign = |(path, bytes): &(&ProjectPath, &Vec<u8>)| !written.knows(path, FileHash::of(bytes));
    found.iter().filter(is_foreign).map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
}

fn compare<F: RecordFormat>(
    format: &F,
    (ours, rendered): (&F::State, &Files),
    (found, written): (&Files, &WrittenFiles<'_>),
    overwrite: &Overwrite,
) -> Result<Compared<F::Drift>, ProjectionError> {
    let mut compared = Compared {
        files: rendered.clone(),
        drift: Vec::new(),
        overwritten: Vec::new(),
        damaged: Vec::new(),
        adopted: Files::new(),
    };
    let mut foreign = foreign(found, written);
    let Some(first) = foreign.keys().next().cloned() else { return Ok(compared) };
    let not_imported = || ProjectionError::NotImported { path: first.clone(), import: format.import() };
    // What is missing in a set of files is as it was written last.
    let last = written.last(&format.paths()).unwrap_or_default();
    let base = format.read(&last);
    if base.is_some() {
        let is_readable = |path: &ProjectPath, bytes: &[u8]| {
            let with = last.iter().map(|(path, bytes)| (path.clone(), bytes.clone()));
            format.read(&with.chain([(path.clone(), bytes.to_vec())]).collect()).is_some()
        };
        foreign.retain(|path, bytes| {
            let is_readable = is_readable(path, bytes);
            compared.damaged.extend((!is_readable).then(|| path.clone()));
            is_readable
        });
    }
    let is_damaged = |path: &ProjectPath| compared.damaged.contains(path);
    let readable = found.iter().filter(|(path, _)| !is_damaged(path));
    let readable = readable.map(|(path, bytes)| (path.clone(), bytes.clone()));
    let theirs = format.read(&last.into_iter().chain(readable).collect()).ok_or_else(not_imported)?;
    if format.is_same(&theirs, ours) {
        // Another clone or build wrote the same: that stays.
        compared.files.retain(|path, _| !foreign.contains_key(path));
        compared.adopted = foreign;
        return Ok(compared);
    }
    let (merged, drift) = format.merge((base.as_ref(), &theirs, ours), &|id| overwrite.holds(id));
    (compared.overwritten, compared.drift) = drift.into_iter().partition(|drift| overwrite.holds(drift.id()));
    if base.is_none() && !compared.drift.is_empty() {
        return Err(not_imported());
    }
    compared.files = format.render(&merged);
    Ok(compared)
}

/// Takes away the files of `format` that nobody else has changed, and returns them.
///
/// # Errors
/// When one of them cannot be removed.
pub(crate) fn withdraw<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
) -> Result<Vec<ProjectPath>, ProjectionError> {
    let _lock = lock(root, format.name()).map_err(|source| local(format.name(), source))?;
    let _others = others_locks::lock(root, options, format)?;
    let written = WrittenFiles::of(root, format.name());
    let mut removed = Vec::new();
    for (path, bytes) in found(root, format)? {
        if written.knows(&path, FileHash::of(&bytes)) {
            remove(root, &path)?;
            removed.push(path);
        }
    }
    Ok(removed)
}

/// Removes the file at `path`.
///
/// # Errors
/// When it is there and cannot be removed.
pub(crate) fn remove(root: &Root, path: &ProjectPath) -> Result<(), ProjectionError> {
    let place =
        root.resolve_for_writing(path).map_err(|error| CommitError::from(LockError::Resolve(error)))?;
    match fs::remove_file(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| ProjectionError::Remove { path: path.clone(), source }),
    }
}

/// The bytes of those files that are there. A link is none: what it leads to is not the file of a projection.
fn found<F: RecordFormat>(root: &Root, format: &F) -> Result<Files, ProjectionError> {
    let mut found = Files::new();
    for path in format.paths() {
        if fs::symlink_metadata(root.path().join(path.as_str())).is_ok_and(|found| found.is_symlink()) {
            return Err(ProjectionError::Foreign { path });
        }
        if let Some(bytes) = read_whole(root, &path)? {
            found.insert(path, bytes);
        }
    }
    Ok(found)
}

/// Waits for the lock of the projection `name`, which is held until the file is dropped.
fn lock(root: &Root, name: &str) -> io::Result<File> {
    let folder = root.state().make(StateFolder::Projections).map_err(io::Error::other)?;
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(format!("{name}.lock")))?;
    file_lock::exclusive(&lock)?;
    Ok(lock)
}

fn local(name: &'static str, source: io::Error) -> ProjectionError {
    ProjectionError::Memory { name, source }
}
