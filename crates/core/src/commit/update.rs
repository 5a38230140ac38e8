//! Changing one file from beginning to end.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests write files as another program would"))]

use std::{num::NonZeroU32, thread, time::Duration};

use super::{
    ArtifactLock, Conflict, Expected, FolderError, Found, FsyncPolicy, LockError, PublishError, ReadError,
    StageError, folder::make_folders_to, read::FileContent,
};
use crate::{artifact::ProjectPath, document::FileHash, workspace::Root};

/// How a commit is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOptions {
    /// How long to wait for the lock of the file. 30 s by default: about a thousand commits of others.
    pub lock_timeout: Duration,
    /// How often to start again when another program changes the file meanwhile. 8 times in all by default.
    pub attempts: NonZeroU32,
    /// Whether to wait for the disk.
    pub fsync: FsyncPolicy,
}

impl Default for CommitOptions {
    fn default() -> Self {
        let attempts = NonZeroU32::MIN.saturating_add(7);
        Self { lock_timeout: Duration::from_secs(30), attempts, fsync: FsyncPolicy::Always }
    }
}

/// What a commit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The file is as it should be; no byte was written.
    Unchanged,
    /// The file was replaced or created.
    Written {
        /// What it held before.
        before: Expected,
        /// The hash of what it holds now.
        after: FileHash,
        /// How many attempts it took: more than one when another program wrote meanwhile.
        attempts: u32,
    },
}

/// Why a file was not committed. Whether something has changed, the error of the step says.
#[derive(Debug, thiserror::Error)]
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
    /// The new content did not get its name; a [`Conflict`] among the reasons.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

/// Why an update was not made.
#[derive(Debug, thiserror::Error)]
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
/// # Errors
/// What `decide` answers; or why the file was not committed: for instance a [`Conflict`] in the last attempt.
pub fn update<E: std::error::Error + 'static>(
    root: &Root,
    path: &ProjectPath,
    options: &CommitOptions,
    mut decide: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, E>,
) -> Result<Outcome, UpdateError<E>> {
    let mut lock = ArtifactLock::acquire(root, path, options.lock_timeout).map_err(CommitError::from)?;
    let mut attempts = 1;
    loop {
        let Some(found) = lock.read_content().map_err(CommitError::from)? else {
            return Err(CommitError::Missing { path: path.clone() }.into());
        };
        let old = &found.bytes;
        let new = match decide(old) {
            Ok(Some(new)) if new != *old => new,
            Ok(_) => return Ok(Outcome::Unchanged),
            Err(_) if attempts < options.attempts.get() && changes_soon(&lock, &found) => {
                attempts += 1;
                continue;
            }
            Err(refusal) => return Err(UpdateError::Decide(refusal)),
        };
        match write(&mut lock, Expected::of(Some(old)), &new, options.fsync, attempts) {
            Err(CommitError::Publish(PublishError::Conflict(conflict)))
                if conflict.kept.is_none() && attempts < options.attempts.get() =>
            {
                attempts += 1;
            }
            done => return Ok(done?),
        }
    }
}

/// Waits until `found` has settled, if another program wrote it just now, and tells whether it changed meanwhile.
fn changes_soon(lock: &ArtifactLock, found: &FileContent) -> bool {
    lock.unsettled(found).is_some_and(|fresh| {
        thread::sleep(fresh.rest);
        // What cannot be read any more has changed too; the next reading says how.
        !matches!(lock.read(), Ok(Some(bytes)) if bytes == found.bytes)
    })
}

/// Creates the file at `path`, and the folders that lead to it. A file that is there is a [`Conflict`].
///
/// # Errors
/// Why the file was not created.
pub fn create(
    root: &Root,
    path: &ProjectPath,
    bytes: &[u8],
    options: &CommitOptions,
) -> Result<Outcome, CommitError> {
    replace_whole(root, path, Expected::Absent, bytes, options)
}

/// Puts `bytes` at `path` if what is there is what is `expected`, and makes the folders that lead to it. For files whose
/// whole content the caller makes, such as manifests. Where the file holds these bytes already, nothing is written.
///
/// # Errors
/// Why the file was not written; a [`Conflict`] where it is not what is expected. Folders that were made stay.
pub fn replace_whole(
    root: &Root,
    path: &ProjectPath,
    expected: Expected,
    bytes: &[u8],
    options: &CommitOptions,
) -> Result<Outcome, CommitError> {
    if expected == Expected::Absent {
        make_folders_to(root, path, options.fsync)?;
    }
    let mut lock = ArtifactLock::acquire(root, path, options.lock_timeout)?;
    if expected != Expected::of(Some(bytes)) {
        return write(&mut lock, expected, bytes, options.fsync, 1);
    }
    match lock.read()? {
        Some(found) if found == bytes => Ok(Outcome::Unchanged),
        found => {
            let conflict = Conflict { path: path.clone(), expected, found: Found::of(Ok(found)), kept: None };
            Err(PublishError::Conflict(Box::new(conflict)).into())
        }
    }
}

fn write(
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
    use std::{convert::Infallible, fs, io};

    use super::*;
    use crate::commit::scratch_project::{OLD, PRD, ScratchProject, fast, named};

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
        assert!(matches!(outcome.unwrap(), Outcome::Written { attempts: 4, .. }));
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
        assert!(matches!(outcome.unwrap(), Outcome::Written { attempts: 2, .. }));
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
        assert!(matches!(&conflict.found, Found::Bytes(bytes) if bytes == b"edit 8\n"));
        assert_eq!((calls, project.read(PRD).as_slice()), (8, &b"edit 8\n"[..]));
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
        let refused = create(&project.root, &named("docs/out.md/x.md"), b"ours", &fast());
        assert!(refused.is_err());
        assert_eq!(fs::read(outside.path()).unwrap(), b"theirs");
    }

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
}
