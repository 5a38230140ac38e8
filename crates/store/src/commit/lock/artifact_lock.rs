//! The right to replace one file.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the clock bounds the wait for a lock; left-over files are removed here"
)]

use std::{
    fmt,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    commit::{
        ReadError,
        file::{FileContent, read_file},
        lock::{LastEvent, Note, recover},
        names_in,
    },
    disk::{
        file_lock::{self, exclusive_within},
        local_state::StateFolder,
        own_file::{self, Access},
        root::{ResolveError, Root},
    },
};
use stepmark_model::artifact::{FileHash, ProjectPath};

/// The lock of one file: only its holder may replace the file, among processes that use this module. It is
/// advisory, does not stop readers, and the kernel releases it when its holder ends, however that ends.
///
/// The lock file is in the local state, since each replacement gives the data file a new inode. Two paths to
/// one file share its lock. It is not reentrant: a second acquire in one thread waits for the timeout.
#[derive(Debug)]
#[must_use = "the lock is released when it is dropped"]
pub struct ArtifactLock {
    pub(in crate::commit) lock_file: File,
    pub(in crate::commit) key: LockKey,
    pub(in crate::commit) path: ProjectPath,
    pub(in crate::commit) target: PathBuf,
    /// The hash of stepmark's last publication under this lock, if known: such bytes are whole.
    pub(in crate::commit) last_published: Option<FileHash>,
    /// The last event of the file, if nothing was begun since.
    pub(in crate::commit) last_event: Option<LastEvent>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    #[error(transparent)]
    Resolve(ResolveError),
    #[error("cannot lock `{path}`: its lock file `{}` cannot be opened for writing", lock_file.display())]
    Open { path: ProjectPath, lock_file: PathBuf, source: io::Error },
    #[error("cannot lock `{path}`: the file system refuses; keep the project on a disk of this machine")]
    Unsupported { path: ProjectPath, source: io::Error },
    #[error(
        "cannot lock `{path}`: another stepmark process has held the lock for {:.1} s; \
         wait for it to end, or end it, and run the command again",
        waited.as_secs_f64()
    )]
    Timeout { path: ProjectPath, waited: Duration },
    #[error("cannot put in order what a killed stepmark process left beside `{path}`")]
    Recover { path: ProjectPath, source: io::Error },
    /// A stepmark process was killed during another program's write, and both wrote since: the bytes are
    /// kept. Reported once; the next attempt finds everything in order.
    #[error(
        "a stepmark process was killed while another program wrote `{path}`; the bytes of that program are kept in \
         `{}`: compare the two files, then run the command again",
        kept.display()
    )]
    Interrupted { path: ProjectPath, kept: PathBuf },
}

impl ArtifactLock {
    /// Waits up to `timeout` (zero: not at all) for the lock of `path`, which need not exist. Cleans up after
    /// a killed holder: removes its temporary file, or settles an interrupted exchange.
    pub fn acquire(root: &Root, path: &ProjectPath, timeout: Duration) -> Result<Self, LockError> {
        let target = root.resolve_for_writing(path).map_err(LockError::Resolve)?;
        let key = LockKey::of(target.strip_prefix(root.path()).unwrap_or(&target));
        let lock_file = open_lock_file(root, path, &key)?;
        wait_for(&lock_file, path, timeout)?;
        let note = Note::read(&lock_file, &key)
            .map_err(|source| LockError::Recover { path: path.clone(), source })?;
        let mut lock =
            Self { lock_file, key, path: path.clone(), target, last_published: None, last_event: None };
        lock.last_published = recover(&lock, note.as_ref())?;
        if let Some(Note::Told(told)) = note {
            lock.last_event = Some(told);
        }
        Ok(lock)
    }

    pub fn path(&self) -> &ProjectPath {
        &self.path
    }

    /// Absolute, links followed.
    pub fn target(&self) -> &Path {
        &self.target
    }

    pub fn read(&self) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.read_content()?.map(|content| content.bytes))
    }

    pub(in crate::commit) fn read_content(&self) -> Result<Option<FileContent>, ReadError> {
        read_file(&self.path, &self.target)
    }

    pub(in crate::commit) fn folder(&self) -> &Path {
        // `Root::resolve` returns only paths below the root, so there is a folder.
        self.target.parent().unwrap_or(&self.target)
    }
}

fn wait_for(lock_file: &File, path: &ProjectPath, timeout: Duration) -> Result<(), LockError> {
    let started = Instant::now();
    exclusive_within(lock_file, timeout).map_err(|error| match error {
        TryLockError::WouldBlock => LockError::Timeout { path: path.clone(), waited: started.elapsed() },
        TryLockError::Error(source) => LockError::Unsupported { path: path.clone(), source },
    })
}

pub(crate) fn is_left_over(root: &Root, path: &str) -> bool {
    let Some((key, _)) = key_of(path).filter(|_| is_regular(root, path)) else { return false };
    let Ok(folder) = root.state().folder(StateFolder::Locks) else { return false };
    match own_file::open(&folder, format!("{key}.lock").as_ref(), Access::Change) {
        Ok(lock) => file_lock::is_free(&lock),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

pub(crate) fn remove_left_over(root: &Root, path: &str) -> bool {
    let Some((key, name)) = key_of(path).filter(|_| is_regular(root, path)) else { return false };
    if settle(root, path, &key) && !is_regular(root, path) {
        return true;
    }
    let Ok(folder) = root.state().make(StateFolder::Locks) else { return false };
    let lock = own_file::open(&folder, format!("{key}.lock").as_ref(), Access::ChangeOrMake);
    let place = ProjectPath::new(path).ok().and_then(|path| root.resolve_for_writing(&path).ok());
    lock.is_ok_and(|lock| {
        is_free(&lock, &key, name) && place.is_some_and(|place| fs::remove_file(place).is_ok())
    })
}

/// Takes the lock of the temporary file's target; the next holder settles an exchange.
fn settle(root: &Root, path: &str, key: &LockKey) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let names = names_in(&root.path().join(folder)).unwrap_or_default();
    let mut paths = names.iter().map(|name| format!("{folder}/{name}").trim_start_matches('/').to_owned());
    let file = paths.find(|beside| LockKey::of(Path::new(beside)) == *key);
    let file = file.and_then(|file| ProjectPath::new(file).ok());
    file.is_some_and(|file| ArtifactLock::acquire(root, &file, Duration::ZERO).is_ok())
}

/// A link is the repository's: its target is not a temporary file.
fn is_regular(root: &Root, path: &str) -> bool {
    fs::symlink_metadata(root.path().join(path)).is_ok_and(|found| found.is_file())
}

fn key_of(path: &str) -> Option<(LockKey, &str)> {
    let name = path.rsplit('/').next()?;
    Some((LockKey::of_temporary_file(name)?, name))
}

/// True if nobody holds the lock, and no exchange is left to the next holder.
fn is_free(lock: &File, key: &LockKey, name: &str) -> bool {
    let is_announced =
        |note: Option<Note>| matches!(note, Some(Note::Exchanging { name: noted, .. }) if noted == name);
    file_lock::try_exclusive(lock).is_ok() && Note::read(lock, key).is_ok_and(|note| !is_announced(note))
}

/// The name of a file's lock: the first 128 bits of the SHA-256 of its resolved path below the root, in
/// lower-case hexadecimal. Resolved, because two links to one file must share its lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commit) struct LockKey(String);

impl LockKey {
    pub(in crate::commit) fn of(place: &Path) -> Self {
        let mut digits = FileHash::of(place.as_os_str().as_encoded_bytes()).to_string();
        digits.truncate(32);
        Self(digits)
    }

    pub(in crate::commit) fn of_temporary_file(name: &str) -> Option<Self> {
        let (digits, _) = name.strip_prefix(".stepmark-")?.split_once('-')?;
        let is_key = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Self(digits.to_owned())).filter(|key| is_key && key.names_temporary_file(name))
    }

    pub(in crate::commit) fn temporary_prefix(&self) -> String {
        format!(".stepmark-{self}-")
    }

    pub(in crate::commit) fn temporary_name(&self, content: FileHash) -> String {
        let digits = content.to_string();
        format!(
            "{}{}{}",
            self.temporary_prefix(),
            digits.get(..12).unwrap_or(&digits),
            Self::TEMPORARY_SUFFIX
        )
    }

    pub(in crate::commit) const TEMPORARY_SUFFIX: &'static str = ".tmp";

    pub(in crate::commit) fn names_temporary_file(&self, name: &str) -> bool {
        name.strip_prefix(&self.temporary_prefix())
            .and_then(|rest| rest.strip_suffix(Self::TEMPORARY_SUFFIX))
            .is_some_and(|random| {
                !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
            })
    }
}

impl fmt::Display for LockKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Creates a missing lock file with its folder: locking works without `init`. Lock files stay, since removing
/// one races with those waiting for it.
pub(in crate::commit) fn open_lock_file(
    root: &Root,
    path: &ProjectPath,
    key: &LockKey,
) -> Result<File, LockError> {
    let name = format!("{key}.lock");
    let open = || {
        let folder = root.state().folder(StateFolder::Locks)?;
        own_file::open(&folder, name.as_ref(), Access::ChangeOrMake)
    };
    let opened = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // The first write of this work tree.
            root.state().make(StateFolder::Locks).map_err(io::Error::from).and_then(|_| open())
        }
        done => done,
    };
    opened.map_err(|source| {
        let lock_file = root.state().path(StateFolder::Locks).join(&name);
        LockError::Open { path: path.clone(), lock_file, source }
    })
}

/// If false, stepmark is not writing the file.
pub(in crate::commit) fn is_ever_locked(root: &Root, place: &Path) -> bool {
    let key = LockKey::of(place.strip_prefix(root.path()).unwrap_or(place));
    let lock_file = root.state().path(StateFolder::Locks).join(format!("{key}.lock"));
    // Any other error may hide a lock file.
    fs::symlink_metadata(lock_file).map_or_else(not_absent, |_| true)
}

fn not_absent(error: io::Error) -> bool {
    error.kind() != io::ErrorKind::NotFound
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::scratch_project::{PRD, ScratchProject, named};
    use crate::disk::file_lock::LONGEST_PAUSE;
    use std::{fs, os::unix::fs::symlink, sync::mpsc, thread};

    #[test]
    fn works_without_init_and_ignores_itself() {
        let project = ScratchProject::new();
        let lock = project.lock(PRD);
        assert_eq!(project.read(".stepmark/local/.gitignore"), b"*\n");
        let [name] = &project.names(".stepmark/local/locks")[..] else { panic!() };
        assert_eq!(*name, format!("{}.lock", lock.key));
        assert_eq!((name.len(), lock.path().as_str()), (32 + 5, PRD));
        assert_eq!(lock.target(), project.place(PRD));
        drop(lock);
        assert_eq!(project.names(".stepmark/local/locks").len(), 1, "lock files stay");
    }

    #[test]
    fn waits_no_longer_than_it_may() {
        let project = ScratchProject::new();
        let held = project.lock(PRD);
        for timeout in [Duration::ZERO, Duration::from_millis(30)] {
            let refused = ArtifactLock::acquire(&project.root, &named(PRD), timeout).unwrap_err();
            assert!(refused.to_string().contains(PRD), "{refused}");
            assert!(
                matches!(refused, LockError::Timeout { waited, .. } if waited >= timeout && waited < timeout * 20 + LONGEST_PAUSE * 50)
            );
        }
        let _another_file = project.lock("docs/ux.md");
        drop(held);
        let _free_again = project.lock(PRD);
    }

    #[test]
    fn is_had_as_soon_as_it_is_free() {
        let project = ScratchProject::new();
        let held = project.lock(PRD);
        let (waiting, waits) = mpsc::channel();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                waiting.send(()).unwrap();
                ArtifactLock::acquire(&project.root, &named(PRD), Duration::from_secs(60)).map(drop)
            });
            waits.recv().unwrap();
            thread::sleep(Duration::from_millis(20));
            assert!(!second.is_finished());
            drop(held);
            second.join().unwrap().unwrap();
        });
    }

    #[cfg(unix)]
    #[test]
    fn two_links_to_one_file_share_its_lock() {
        let project = ScratchProject::new();
        std::os::unix::fs::symlink("docs", project.place("link")).unwrap();
        let _held = project.lock(PRD);
        let refused = ArtifactLock::acquire(&project.root, &named("link/prd.md"), Duration::ZERO);
        assert!(matches!(refused, Err(LockError::Timeout { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_locked_outside() {
        let project = ScratchProject::new();
        let outside = tempfile::tempdir().unwrap();
        symlink(outside.path().join("x.md"), project.place("docs/out.md")).unwrap();
        let out = ArtifactLock::acquire(&project.root, &named("docs/out.md"), Duration::ZERO);
        assert!(matches!(out, Err(LockError::Resolve(ResolveError::Outside { .. }))));

        fs::create_dir(project.place(".stepmark")).unwrap();
        symlink(outside.path(), project.place(".stepmark/local")).unwrap();
        let local_out = ArtifactLock::acquire(&project.root, &named(PRD), Duration::ZERO);
        assert!(matches!(local_out, Err(LockError::Open { .. })), "{local_out:?}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_what_is_nobodys_is_removed() {
        let project = ScratchProject::new();
        let lock = project.lock(PRD);
        let name = format!("docs/{}R4nd0m.tmp", lock.key.temporary_prefix());
        project.write(&name, b"half");
        assert!(!is_left_over(&project.root, &name), "its process lives");
        drop(lock);
        project.write("docs/.stepmark-notes.tmp", b"another tool's");
        assert!(!remove_left_over(&project.root, "docs/.stepmark-notes.tmp"));
        assert!(is_left_over(&project.root, &name) && remove_left_over(&project.root, &name));
        assert_eq!(project.names("docs"), [".stepmark-notes.tmp", "prd.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_a_link_of_such_a_name_leads_to_stays() {
        let project = ScratchProject::new();
        let name = format!("docs/{}R4nd0m.tmp", project.lock(PRD).key.temporary_prefix());
        project.write("docs/own.md", b"nobody else has it");
        std::os::unix::fs::symlink("own.md", project.place(&name)).unwrap();
        assert!(!is_left_over(&project.root, &name) && !remove_left_over(&project.root, &name));
        assert_eq!(project.read("docs/own.md"), b"nobody else has it");
    }
}
