//! Changing one file from beginning to end.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests write files as another program would"))]

use std::{io, num::NonZeroU32, thread, time::Duration};

use crate::commit::{
    ArtifactLock, Deliberation, Expected, FileDecision, FileTransition, FolderError, FsyncPolicy, LockError,
    PublishError, ReadError, StageError, file::FileContent, file::read_file, lock::is_ever_locked, transact,
};
use crate::disk::root::Root;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::Event,
};

/// The options of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOptions {
    /// The longest wait for the lock of the file. 30 s by default: about a thousand commits of others.
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

/// A reason why a commit did not end well. [`CommitError::write_state`] says whether its files are changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// There is no such file.
    #[error("there is no file `{path}` in the project")]
    Missing {
        /// The path inside the project.
        path: ProjectPath,
    },
    /// Its lock could not be had, or it is not inside the project.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its folder cannot be made.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The new content cannot be written.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The new content did not get its name; a [`Conflict`](crate::commit::Conflict) among the reasons.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// Two paths of one commit lead to the same file.
    #[error("`{path}` and `{other}` are the same file: name it once")]
    SameFile {
        /// One path.
        path: ProjectPath,
        /// The other.
        other: ProjectPath,
    },
    /// The commit was not begun, since it could not be noted what it is about to do.
    #[error("cannot write the redo record of `{path}`; nothing was changed")]
    Redo {
        /// The first file of the commit.
        path: ProjectPath,
        /// The error of the system.
        source: io::Error,
    },
    /// All files are changed, but the event could not be added to the journal.
    #[error(
        "`{path}` is changed, but the journal could not be written: the next command that writes completes the history"
    )]
    History {
        /// The first file of the commit.
        path: ProjectPath,
        /// The error of the system.
        source: io::Error,
    },
    /// All files are changed and history tells of it, but the note of the commit could not be cleared.
    #[error(
        "`{path}` is changed and history tells of it, but the redo record could not be cleared: the next command that writes clears it"
    )]
    Record {
        /// The first file of the commit.
        path: ProjectPath,
        /// The error of the system.
        source: io::Error,
    },
    /// The commit was begun, and is neither finished nor undone.
    #[error(
        "the commit of `{path}` was begun and is not finished, so it is unknown which of its files are changed: the next command \
         that writes finishes it"
    )]
    Unfinished {
        /// The first file of the commit.
        path: ProjectPath,
        /// The error that kept it from being finished.
        source: Box<CommitError>,
    },
    /// A commit of the same files that was cut off earlier cannot be finished yet.
    #[error("a commit that was cut off earlier cannot be finished yet; nothing else was changed")]
    Earlier {
        /// The error that keeps it from being finished.
        source: Box<CommitError>,
    },
    /// A lease could not be written; it is as it was.
    #[error("cannot write the lease of `{path}`")]
    Lease {
        /// The artifact.
        path: ProjectPath,
        /// The error of the system.
        source: io::Error,
    },
    /// A commit that was cut off earlier cannot be finished.
    #[error("cannot finish a commit that was cut off earlier; nothing else was changed")]
    Recover {
        /// The error of the system.
        source: io::Error,
    },
    /// Another program wrote one file of several in the instants of the commit.
    #[error(
        "another program wrote `{path}` in the middle of the commit: its bytes stand, the other files of the commit are \
         changed, and the journal says so; look at it and run the command again"
    )]
    Overtaken {
        /// The file.
        path: ProjectPath,
    },
}

/// A reason why an update was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError<E: std::error::Error + 'static> {
    /// The caller's decision.
    #[error(transparent)]
    Decide(E),
    /// The commit.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// Reads the file at `path`, lets `decide` make its new content (`None`: leave it), and replaces it. It holds the lock of
/// the file meanwhile; when a program without that lock changes the file, it starts again with a new reading, so `decide`
/// must depend on the bytes that it is given alone. It also does when `decide` refuses what an editor had only half written.
///
/// A first decision is made before the lock is taken: what is refused leaves no trace, not even a lock file.
///
/// # Errors
/// What `decide` answers; or why the file was not committed: for instance a [`Conflict`](crate::commit::Conflict) in the last attempt.
pub fn update<E: std::error::Error + 'static>(
    root: &Root,
    path: &ProjectPath,
    options: &CommitOptions,
    decide: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, E>,
) -> Result<Outcome, UpdateError<E>> {
    update_and_record(root, path, options, decide, |_| Ok(Vec::new()))
}

/// The same, and `record` tells the journal of the change: it is asked under the lock, when the change is about to be made.
///
/// # Errors
/// Those of [`update`], and what `record` answers.
pub fn update_and_record<E: std::error::Error + 'static>(
    root: &Root,
    path: &ProjectPath,
    options: &CommitOptions,
    mut decide: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, E>,
    record: impl FnMut(FileTransition<'_>) -> Result<Vec<Event>, E>,
) -> Result<Outcome, UpdateError<E>> {
    let decided = match look(root, path, &mut decide)? {
        FirstLook::Unchanged => return Ok(Outcome::Unchanged),
        FirstLook::Change { old, new } => Some((old, new)),
        FirstLook::Unsure => None,
    };
    let mut single = Single { path, decided, decide, record };
    let outcomes = transact(root, std::slice::from_ref(path), options, &mut single);
    match outcomes {
        Ok(outcomes) => Ok(outcomes.into_iter().next().unwrap_or(Outcome::Unchanged)),
        Err(UpdateError::Commit(error)) => Err(UpdateError::Commit(error)),
        Err(UpdateError::Decide(SingleRefusal::Caller(refusal))) => Err(UpdateError::Decide(refusal)),
        Err(UpdateError::Decide(SingleRefusal::Missing(path))) => Err(CommitError::Missing { path }.into()),
    }
}

/// The deliberation on one file that must exist.
struct Single<'a, D, R> {
    path: &'a ProjectPath,
    /// The change that was decided without the lock: these bytes become those.
    decided: Option<(Vec<u8>, Vec<u8>)>,
    decide: D,
    record: R,
}

/// A reason why one file is not changed.
#[derive(Debug, thiserror::Error)]
enum SingleRefusal<E: std::error::Error + 'static> {
    #[error(transparent)]
    Caller(E),
    #[error("there is no file `{0}` in the project")]
    Missing(ProjectPath),
}

impl<E, D, R> Deliberation for Single<'_, D, R>
where
    E: std::error::Error + 'static,
    D: FnMut(&[u8]) -> Result<Option<Vec<u8>>, E>,
    R: FnMut(FileTransition<'_>) -> Result<Vec<Event>, E>,
{
    type Refusal = SingleRefusal<E>;

    fn decide(&mut self, found: &[Option<&[u8]>]) -> Result<Vec<FileDecision>, Self::Refusal> {
        let Some(Some(found)) = found.first() else { return Err(SingleRefusal::Missing(self.path.clone())) };
        let new = match self.decided.take() {
            Some((old, new)) if old == *found => Some(new),
            _ => (self.decide)(found).map_err(SingleRefusal::Caller)?,
        };
        Ok(vec![new.map_or(FileDecision::Keep, FileDecision::Write)])
    }

    fn record(&mut self, changed: &[FileTransition<'_>]) -> Result<Vec<Event>, Self::Refusal> {
        let events = changed.iter().map(|change| (self.record)(*change));
        events.collect::<Result<Vec<_>, E>>().map(|events| events.concat()).map_err(SingleRefusal::Caller)
    }
}

/// The result of a decision without the lock.
enum FirstLook {
    /// There is nothing to write.
    Unchanged,
    /// These bytes become those, if they are still there under the lock.
    Change { old: Vec<u8>, new: Vec<u8> },
    /// Only the holder of the lock can tell.
    Unsure,
}

fn look<E: std::error::Error + 'static>(
    root: &Root,
    path: &ProjectPath,
    decide: &mut impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, E>,
) -> Result<FirstLook, UpdateError<E>> {
    let place = root.resolve(path).map_err(|error| CommitError::from(LockError::Resolve(error)))?;
    let read = || read_file(path, &place).map_err(CommitError::from);
    let Some(found) = read()? else { return Err(CommitError::Missing { path: path.clone() }.into()) };
    match decide(&found.bytes) {
        Ok(Some(new)) if new != found.bytes => Ok(FirstLook::Change { old: found.bytes, new }),
        // Another holder may have put these bytes here without having flushed them yet; then its lock file is there.
        Ok(_) if is_ever_locked(root, &place) => Ok(FirstLook::Unsure),
        Ok(_) => Ok(FirstLook::Unchanged),
        Err(refusal) => match found.unsettled(None) {
            None => Err(UpdateError::Decide(refusal)),
            Some(fresh) => {
                thread::sleep(fresh.rest);
                let is_same = read()?.is_some_and(|again| again.bytes == found.bytes);
                if is_same { Err(UpdateError::Decide(refusal)) } else { Ok(FirstLook::Unsure) }
            }
        },
    }
}

/// Waits until `found` has settled, if another program wrote it just now, and tells whether it changed meanwhile.
pub(super) fn changes_soon(lock: &ArtifactLock, found: &FileContent) -> bool {
    found.unsettled(lock.last_published).is_some_and(|fresh| {
        thread::sleep(fresh.rest);
        // What cannot be read any more has changed too; the next reading says how.
        !matches!(lock.read(), Ok(Some(bytes)) if bytes == found.bytes)
    })
}

pub(super) fn write(
    lock: &mut ArtifactLock,
    expected: Expected,
    bytes: &[u8],
    fsync: FsyncPolicy,
    attempts: u32,
) -> Result<Outcome, CommitError> {
    let published = lock.stage(bytes, fsync)?.publish(expected)?;
    Ok(Outcome::Written { before: published.before, after: published.after, attempts })
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, fs};

    use super::*;
    use crate::commit::{
        scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject, scratch_project::fast,
        scratch_project::named,
    };

    fn append(project: &ScratchProject, line: &str) -> Result<Outcome, UpdateError<Infallible>> {
        update(&project.root, &named(PRD), &fast(), |old| Ok(Some([old, line.as_bytes()].concat())))
    }

    #[test]
    fn writes_what_is_decided_and_nothing_else() {
        let project = ScratchProject::new();
        let written = append(&project, "more\n").unwrap();
        let after = FileHash::of(b"old\nmore\n");
        assert_eq!(written, Outcome::Written { before: Expected::of(Some(OLD)), after, attempts: 1 });
        assert_eq!(project.read(PRD), b"old\nmore\n");

        let modified = || fs::metadata(project.place(PRD)).unwrap().modified().unwrap();
        let before = modified();
        assert_eq!(append(&project, "").unwrap(), Outcome::Unchanged);
        let nothing = update(&project.root, &named(PRD), &fast(), |_| Ok::<_, Infallible>(None)).unwrap();
        assert_eq!((nothing, modified()), (Outcome::Unchanged, before));

        let refused = update(&project.root, &named(PRD), &fast(), |_| Err(io::Error::other("no")));
        assert!(matches!(refused, Err(UpdateError::Decide(_))));
        let missing = update(&project.root, &named("x.md"), &fast(), |_| Ok::<_, Infallible>(None));
        assert!(matches!(missing, Err(UpdateError::Commit(CommitError::Missing { .. }))));
        assert_eq!(project.names("docs"), ["prd.md"]);
    }

    #[test]
    fn what_is_not_to_be_changed_leaves_no_trace() {
        let project = ScratchProject::new();
        let refuse = |_: &[u8]| Err::<Option<Vec<u8>>, _>(io::Error::other("no"));
        assert!(matches!(update(&project.root, &named(PRD), &fast(), refuse), Err(UpdateError::Decide(_))));
        assert_eq!(append(&project, "").unwrap(), Outcome::Unchanged);
        let nothing = |_: &[u8]| Ok::<_, Infallible>(None);
        for path in ["x.md", "docs"] {
            let refused = update(&project.root, &named(path), &fast(), nothing);
            assert!(matches!(refused, Err(UpdateError::Commit(_))), "{path}: {refused:?}");
        }
        assert_eq!(project.names(""), ["docs"]);
    }

    #[test]
    fn what_a_writer_has_not_flushed_yet_is_waited_for() {
        let project = ScratchProject::new();
        let held = project.lock(PRD);
        let hurried = CommitOptions { lock_timeout: Duration::from_millis(1), ..fast() };
        let nothing = |_: &[u8]| Ok::<_, Infallible>(None);
        let waited = update(&project.root, &named(PRD), &hurried, nothing);
        assert!(matches!(waited, Err(UpdateError::Commit(CommitError::Lock(LockError::Timeout { .. })))));
        drop(held);
        assert_eq!(append(&project, "").unwrap(), Outcome::Unchanged);
    }

    #[test]
    fn starts_again_from_what_another_program_wrote() {
        let project = ScratchProject::new();
        let mut edits = 0;
        let outcome = update(&project.root, &named(PRD), &fast(), |old| {
            if edits < 3 {
                edits += 1;
                project.write(PRD, format!("edit {edits}\n").as_bytes());
            }
            Ok::<_, Infallible>(Some([old, b"ours\n"].concat()))
        });
        // The first of the three fell into the time before the lock was taken.
        assert!(matches!(outcome.unwrap(), Outcome::Written { attempts: 3, .. }));
        assert_eq!(project.read(PRD), b"edit 3\nours\n");
    }

    #[test]
    fn a_refusal_of_what_is_half_written_is_not_final() {
        let project = ScratchProject::new();
        project.write(PRD, b"");
        let mut readings = Vec::new();
        let outcome = update(&project.root, &named(PRD), &fast(), |old| {
            readings.push(old.to_vec());
            if old.is_empty() {
                project.write(PRD, b"whole\n");
                return Err(io::Error::other("no frontmatter"));
            }
            Ok(Some(b"ours\n".to_vec()))
        });
        assert!(matches!(outcome.unwrap(), Outcome::Written { attempts: 1, .. }));
        assert_eq!(readings, [&b""[..], b"whole\n"]);

        let mut calls = 0;
        let refused = update(&project.root, &named(PRD), &fast(), |_| {
            calls += 1;
            Err(io::Error::other("no"))
        });
        assert!(matches!(refused, Err(UpdateError::Decide(_))));
        assert_eq!(calls, 1, "what stays as it is was whole");
    }

    #[test]
    fn gives_up_when_the_other_program_does_not_stop() {
        let project = ScratchProject::new();
        let mut calls = 0;
        let refused = update(&project.root, &named(PRD), &fast(), |old| {
            calls += 1;
            project.write(PRD, format!("edit {calls}\n").as_bytes());
            Ok::<_, Infallible>(Some([old, b"ours\n"].concat()))
        });
        let Err(UpdateError::Commit(CommitError::Publish(PublishError::Conflict(conflict)))) = refused else {
            panic!("{refused:?}")
        };
        assert!(matches!(&conflict.found, crate::commit::Found::Bytes(bytes) if bytes == b"edit 9\n"));
        assert_eq!((calls, project.read(PRD).as_slice()), (9, &b"edit 9\n"[..]));
    }

    #[test]
    fn no_append_of_many_threads_is_lost() {
        let project = ScratchProject::new();
        thread::scope(|scope| {
            for writer in 0..8 {
                let project = &project;
                scope.spawn(move || {
                    for number in 0..20 {
                        append(project, &format!("{writer}-{number}\n")).unwrap();
                    }
                });
            }
        });
        let text = String::from_utf8(project.read(PRD)).unwrap();
        let mut lines: Vec<&str> = text.lines().skip(1).collect();
        lines.sort_unstable();
        let mut wanted: Vec<String> =
            (0..8).flat_map(|writer| (0..20).map(move |number| format!("{writer}-{number}"))).collect();
        wanted.sort_unstable();
        assert_eq!(lines, wanted);
        assert_eq!(project.names("docs"), ["prd.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn keeps_mode_and_owner_and_link() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let project = ScratchProject::new();
        let metadata = || fs::metadata(project.place(PRD)).unwrap();
        symlink("prd.md", project.place("docs/link.md")).unwrap();
        for mode in [0o664, 0o600, 0o755, 0o2644] {
            fs::set_permissions(project.place(PRD), fs::Permissions::from_mode(mode)).unwrap();
            let (owner, group, inode) = (metadata().uid(), metadata().gid(), metadata().ino());
            let change = |old: &[u8]| Ok::<_, Infallible>(Some([old, b"x"].concat()));
            update(&project.root, &named("docs/link.md"), &fast(), change).unwrap();
            assert_eq!(metadata().mode() & 0o7777, mode, "{mode:o}");
            assert_eq!((metadata().uid(), metadata().gid()), (owner, group));
            assert_ne!(metadata().ino(), inode, "the file is replaced, not written in place");
        }
        assert_eq!(fs::read_link(project.place("docs/link.md")).unwrap().to_str(), Some("prd.md"));
        assert_eq!(project.read(PRD), b"old\nxxxx");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_is_refused() {
        let project = ScratchProject::new();
        let outside = tempfile::NamedTempFile::new().unwrap();
        fs::write(outside.path(), "theirs").unwrap();
        std::os::unix::fs::symlink(outside.path(), project.place("docs/out.md")).unwrap();
        let change = |_: &[u8]| Ok::<_, Infallible>(Some(b"ours".to_vec()));
        let refused = update(&project.root, &named("docs/out.md"), &fast(), change);
        assert!(matches!(refused, Err(UpdateError::Commit(CommitError::Lock(LockError::Resolve(_))))));
        assert_eq!(fs::read(outside.path()).unwrap(), b"theirs");
    }
}
