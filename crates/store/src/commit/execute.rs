//! Executing a decided commit: stage files, write the redo record, publish, append to the journal.

use std::{io, num::NonZeroU32, path::PathBuf, time::Duration};

use crate::{
    Error, ErrorKind,
    commit::{
        ArtifactLock, Conflict, Expected, FolderError, Found, FsyncPolicy, LockError, PublishError,
        ReadError, StageError, Staged,
        file::{make_folders_to, read_file, remove},
        journal::JournalFile,
        redo::{RedoRecord, Slot, roll_forward, told, withdraw},
    },
    disk::ResolveError,
    disk::root::Root,
    error::WriteState,
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::Ancestor,
};

/// `places` are the indices of the files' locks.
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
    // From here on the record stays after an error: the next commit finishes this one.
    let unfinished = |error| CommitError::Unfinished { path: first.path.clone(), source: Box::new(error) };
    let published = publish_in_order(prepared);
    let overtaken = match published {
        Ok(()) => Vec::new(),
        // Nothing is written yet, unless the first file has its new bytes.
        Err((0, error)) if error.write_state() != WriteState::Written => {
            return Err(withdraw(&mut slot, &first.path, error));
        }
        Err((_, CommitError::Publish(PublishError::Conflict(_) | PublishError::Busy { .. }))) => {
            roll_forward(&mut chosen(locks, places), record, fsync).map_err(unfinished)?
        }
        // With one file, its state is known.
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

/// Flushes a folder after its last file; an error says how many files came before.
fn publish_in_order(prepared: Vec<Prepared<'_>>) -> Result<(), (usize, CommitError)> {
    let folder = |prepared: &Prepared<'_>| match prepared {
        Prepared::Write(staged, _) => staged.lock.folder().to_owned(),
        Prepared::Remove(lock, ..) => lock.folder().to_owned(),
    };
    let folders: Vec<PathBuf> = prepared.iter().map(folder).collect();
    for (place, prepared) in prepared.into_iter().enumerate() {
        // Until then the redo record covers the others.
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
    /// For all locks together. 30 s by default: about a thousand commits of others.
    pub lock_timeout: Duration,
    /// Total attempts if another program changes the file meanwhile. 8 by default.
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
    /// The file was already as it should be.
    Unchanged,
    Written {
        before: Expected,
        after: FileHash,
        /// More than one if another program wrote meanwhile.
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
    /// Creates a missing file.
    Write(Vec<u8>),
    Delete,
}

impl FileDecision {
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
    /// `None` if there is no file.
    pub old: Option<&'a [u8]>,
    /// `None` if the file is removed.
    pub new: Option<&'a [u8]>,
    /// The event that led to the old bytes, if known and if no other in the journal can follow it.
    pub last_event: Option<Ancestor>,
}

pub enum Halt<E> {
    Refused(E),
    /// A slow query, as of git: the transaction releases its locks, runs it, and begins again.
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

/// Creates the file and its folders. An existing file is a [`Conflict`].
pub fn create(
    root: &Root,
    path: &ProjectPath,
    bytes: &[u8],
    options: &CommitOptions,
) -> Result<Outcome, CommitError> {
    replace_whole(root, path, Expected::Absent, bytes, options)
}

/// Creates the folders. Equal bytes are not written again. For files that the caller makes as a whole, such
/// as manifests.
pub fn replace_whole(
    root: &Root,
    path: &ProjectPath,
    expected: Expected,
    bytes: &[u8],
    options: &CommitOptions,
) -> Result<Outcome, CommitError> {
    replace_hashed(root, path, expected, (bytes, FileHash::of(bytes)), options)
}

pub(crate) fn replace_hashed(
    root: &Root,
    path: &ProjectPath,
    expected: Expected,
    (bytes, hash): (&[u8], FileHash),
    options: &CommitOptions,
) -> Result<Outcome, CommitError> {
    if expected == Expected::Absent {
        refuse_present(root, path)?;
        make_folders_to(root, path, options.fsync)?;
    }
    let mut lock = ArtifactLock::acquire(root, path, options.lock_timeout)?;
    if expected != Expected::Hash(hash) {
        let published = lock.stage_hashed((bytes, hash), options.fsync)?.publish(expected)?;
        return Ok(Outcome::Written { before: published.before, after: published.after, attempts: 1 });
    }
    match lock.read()? {
        Some(found) if found == bytes => Ok(Outcome::Unchanged),
        found => {
            let conflict = Conflict { path: path.clone(), expected, found: Found::of(Ok(found)), kept: None };
            Err(PublishError::Conflict(Box::new(conflict)).into())
        }
    }
}

pub(crate) fn read_whole(root: &Root, path: &ProjectPath) -> Result<Option<Vec<u8>>, CommitError> {
    let place = root.resolve_for_writing(path).map_err(LockError::Resolve)?;
    Ok(read_file(path, &place)?.map(|found| found.bytes))
}

/// Checked before anything is created.
fn refuse_present(root: &Root, path: &ProjectPath) -> Result<(), CommitError> {
    let place = root.resolve_for_writing(path).map_err(LockError::Resolve)?;
    match Found::of(read_file(path, &place).map(|found| found.map(|found| found.bytes))) {
        Found::Absent => Ok(()),
        found => {
            let conflict = Conflict { path: path.clone(), expected: Expected::Absent, found, kept: None };
            Err(PublishError::Conflict(Box::new(conflict)).into())
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    #[error("there is no file `{path}` in the project")]
    Missing { path: ProjectPath },
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Stage(#[from] StageError),
    /// May be caused by a [`Conflict`](crate::commit::Conflict).
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(
        "nothing was changed: {questions} times, git or another program was asked about {}, and another program wrote it \
         meanwhile",
        named(paths)
    )]
    OutdatedAnswers { paths: Vec<ProjectPath>, questions: u32 },
    #[error("`{path}` and `{other}` are the same file: name it once")]
    SameFile { path: ProjectPath, other: ProjectPath },
    #[error("cannot write the redo record of `{path}`; nothing was changed")]
    Redo { path: ProjectPath, source: io::Error },
    #[error(
        "`{path}` is changed, but the journal could not be written: the next command that writes completes the history"
    )]
    History { path: ProjectPath, source: io::Error },
    #[error(
        "`{path}` is changed and history tells of it, but the redo record could not be cleared: the next command that writes clears it"
    )]
    Record { path: ProjectPath, source: io::Error },
    #[error(
        "the commit of `{path}` was begun and is not finished, so it is unknown which of its files are changed: the next command \
         that writes finishes it"
    )]
    Unfinished { path: ProjectPath, source: Box<CommitError> },
    #[error("a commit that was cut off earlier cannot be finished yet; nothing else was changed")]
    Earlier { source: Box<CommitError> },
    /// The lease is unchanged.
    #[error("cannot write the lease of `{path}`")]
    Lease { path: ProjectPath, source: io::Error },
    #[error("cannot use the record of commits that were cut off; nothing was changed")]
    Recover { source: io::Error },
    #[error(
        "another program wrote `{path}` in the middle of the commit: its bytes stand, the other files of the commit are \
         changed, and the journal says so; look at it and run the command again"
    )]
    Overtaken { path: ProjectPath },
}

impl From<CommitError> for Error {
    fn from(error: CommitError) -> Self {
        let state = error.write_state();
        let told = match error {
            CommitError::Missing { path } => Self::missing(path),
            CommitError::Lock(LockError::Resolve(ref source)) => {
                let is_unreachable = matches!(source, ResolveError::Unreachable { .. });
                Self::told(if is_unreachable { ErrorKind::Io } else { ErrorKind::Usage }, error)
            }
            CommitError::Publish(PublishError::Conflict(_) | PublishError::Busy { .. })
            | CommitError::OutdatedAnswers { .. } => Self::told(ErrorKind::Conflict, error),
            error => Self::told(ErrorKind::Io, error),
        };
        told.wrote(state)
    }
}

impl From<FolderError> for Error {
    fn from(error: FolderError) -> Self {
        CommitError::from(error).into()
    }
}

impl Error {
    pub fn conflict(&self) -> Option<&Conflict> {
        match self.detail() {
            Some(CommitError::Publish(PublishError::Conflict(conflict))) if self.is_conflict() => {
                Some(conflict)
            }
            _ => None,
        }
    }
}

pub(crate) fn named(paths: &[ProjectPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}

impl PublishError {
    pub const fn write_state(&self) -> WriteState {
        match self {
            Self::Flush { .. } | Self::Remains { .. } => WriteState::Written,
            Self::Conflict(conflict) if conflict.kept.is_some() => WriteState::Unknown,
            Self::Conflict(_) | Self::Check { .. } | Self::Busy { .. } | Self::Rename { .. } => {
                WriteState::NotWritten
            }
        }
    }
}

impl CommitError {
    pub const fn write_state(&self) -> WriteState {
        match self {
            Self::Publish(error) => error.write_state(),
            Self::History { .. } | Self::Record { .. } | Self::Overtaken { .. } => WriteState::Written,
            Self::Unfinished { .. } => WriteState::Unknown,
            Self::Missing { .. }
            | Self::Lock(_)
            | Self::Read(_)
            | Self::Folder(_)
            | Self::Stage(_)
            | Self::OutdatedAnswers { .. }
            | Self::SameFile { .. }
            | Self::Redo { .. }
            | Self::Lease { .. }
            | Self::Recover { .. }
            | Self::Earlier { .. } => WriteState::NotWritten,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{
        scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject, scratch_project::fast,
        scratch_project::named,
    };

    #[test]
    fn creates_files_and_their_folders() {
        let project = ScratchProject::new();
        let path = named(".stepmark/manifests/files.csv");
        let options = CommitOptions::default();
        let created = create(&project.root, &path, b"a\n", &options).unwrap();
        assert!(matches!(created, Outcome::Written { before: Expected::Absent, attempts: 1, .. }));
        assert_eq!(project.read(path.as_str()), b"a\n");
        let again = create(&project.root, &path, b"b\n", &options).unwrap_err();
        assert!(matches!(again, CommitError::Publish(PublishError::Conflict(_))), "{again:?}");
        assert_eq!(project.read(path.as_str()), b"a\n");
    }

    #[test]
    fn replaces_a_whole_file_only_when_it_differs() {
        let project = ScratchProject::new();
        let replace =
            |expected, bytes: &[u8]| replace_whole(&project.root, &named(PRD), expected, bytes, &fast());
        let written = replace(Expected::of(Some(OLD)), b"new").unwrap();
        assert!(matches!(written, Outcome::Written { .. }));
        assert_eq!(replace(Expected::of(Some(b"new")), b"new").unwrap(), Outcome::Unchanged);
        for stale in [Expected::of(Some(OLD)), Expected::Absent] {
            let refused = replace(stale, OLD).unwrap_err();
            assert!(matches!(refused, CommitError::Publish(PublishError::Conflict(_))));
        }
        assert_eq!(project.read(PRD), b"new");
    }

    #[test]
    fn a_file_that_is_there_is_found_before_anything_is_made() {
        let project = ScratchProject::new();
        let refused = create(&project.root, &named(PRD), b"x", &fast());
        assert!(matches!(refused, Err(CommitError::Publish(PublishError::Conflict(_)))));
        assert_eq!(project.names(""), ["docs"]);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_made_outside_of_the_project() {
        let project = ScratchProject::new();
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), project.place("docs/out")).unwrap();
        assert!(create(&project.root, &named("docs/out/x.md"), b"ours", &fast()).is_err());
        assert_eq!(crate::commit::scratch_project::names_in(outside.path()), [""; 0]);
    }
}
