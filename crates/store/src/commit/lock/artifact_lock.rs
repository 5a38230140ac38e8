//! The right to replace one file.
#![expect(clippy::disallowed_methods, reason = "an edge module: the clock bounds the wait for a lock")]

use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::commit::{
    ReadError, file::FileContent, file::read_file, lock::LastEvent, lock::LockKey, lock::Note,
    lock::open_lock_file, lock::recover,
};
use crate::disk::{file_lock::exclusive_within, root::ResolveError, root::Root};
use stepmark_model::artifact::{FileHash, ProjectPath};

/// The lock of one file: whoever holds it is the only one, among all processes that use this module, who
/// replaces that file. It is advisory, is no obstacle to readers, and the kernel releases it when its holder
/// ends, however that ends.
///
/// It lives in a file of its own in the local state, never in the data file: that one is another inode after
/// every replacement. Two paths that lead to one file share its lock. It is not reentrant: to
/// acquire it twice in one thread waits for the timeout.
#[derive(Debug)]
#[must_use = "the lock is released when it is dropped"]
pub struct ArtifactLock {
    pub(in crate::commit) lock_file: File,
    pub(in crate::commit) key: LockKey,
    pub(in crate::commit) path: ProjectPath,
    pub(in crate::commit) target: PathBuf,
    /// The hash of what stepmark published last under this lock, as far as it is known. Bytes of that hash
    /// are whole.
    pub(in crate::commit) last_published: Option<FileHash>,
    /// The event that the journal was told last, when nothing was begun since.
    pub(in crate::commit) last_event: Option<LastEvent>,
}

/// A reason why a file could not be locked. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The file, or the folder of the locks, is not inside the project or cannot be reached.
    #[error(transparent)]
    Resolve(ResolveError),
    /// The lock file cannot be opened or made.
    #[error("cannot lock `{path}`: its lock file `{}` cannot be opened for writing", lock_file.display())]
    Open {
        /// The file to lock.
        path: ProjectPath,
        /// Its lock file.
        lock_file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file system has no locks, or ran out of them.
    #[error("cannot lock `{path}`: the file system refuses; keep the project on a disk of this machine")]
    Unsupported {
        /// The file to lock.
        path: ProjectPath,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process held the lock all the time.
    #[error(
        "cannot lock `{path}`: another stepmark process has held the lock for {:.1} s; \
         wait for it to end, or end it, and run the command again",
        waited.as_secs_f64()
    )]
    Timeout {
        /// The file to lock.
        path: ProjectPath,
        /// The time that this process waited.
        waited: Duration,
    },
    /// The remains of a killed process cannot be read or put in order.
    #[error("cannot put in order what a killed stepmark process left beside `{path}`")]
    Recover {
        /// The file to lock.
        path: ProjectPath,
        /// The error of the system.
        source: io::Error,
    },
    /// A stepmark process was killed while another program was writing the same file, and both wrote since:
    /// the bytes are kept. This is said once; the next attempt finds everything in order.
    #[error(
        "a stepmark process was killed while another program wrote `{path}`; the bytes of that program are kept in \
         `{}`: compare the two files, then run the command again",
        kept.display()
    )]
    Interrupted {
        /// The file to lock.
        path: ProjectPath,
        /// The path of the kept bytes.
        kept: PathBuf,
    },
}

impl ArtifactLock {
    /// Waits up to `timeout` (zero: does not wait) for the lock of the file at `path`, which need not exist,
    /// and then removes what a killed holder left: its temporary file, or, where it was killed in the middle
    /// of an exchange, what of the two files is not to stay.
    ///
    /// # Errors
    /// When the path leads out of the project, the lock cannot be had, or what was left needs a person.
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

    /// The path under which the file was locked.
    pub fn path(&self) -> &ProjectPath {
        &self.path
    }

    /// The file itself: absolute, links followed.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The whole content of the file; `None` where there is none.
    ///
    /// # Errors
    /// When it is no regular file, is larger than [`READ_LIMIT`](stepmark_model::artifact::READ_LIMIT), or
    /// cannot be read.
    pub fn read(&self) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.read_content()?.map(|content| content.bytes))
    }

    /// The same, and when the file was written.
    pub(in crate::commit) fn read_content(&self) -> Result<Option<FileContent>, ReadError> {
        read_file(&self.path, &self.target)
    }

    /// The folder in which the file is replaced.
    pub(in crate::commit) fn folder(&self) -> &Path {
        // `Root::resolve` gives places below the root only, so there is a folder.
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

#[cfg(test)]
mod tests {
    use std::{fs, sync::mpsc, thread};

    use super::*;
    use crate::commit::{scratch_project::PRD, scratch_project::ScratchProject, scratch_project::named};
    use crate::disk::file_lock::LONGEST_PAUSE;

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
        use std::os::unix::fs::symlink;
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
}
