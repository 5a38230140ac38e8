//! Giving staged content its name, if the file is unchanged.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests write files as another program would"))]

use std::{io, path::PathBuf};

use crate::commit::{
    ArtifactLock, Conflict, Expected, Found, FsyncPolicy, ReadError, Staged, file::flush_folder,
};
use stepmark_model::artifact::{FileHash, ProjectPath};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    pub before: Expected,
    pub after: FileHash,
}

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error(transparent)]
    Conflict(Box<Conflict>),
    #[error("cannot check `{path}` before replacing it; that file is as it was")]
    Check { path: ProjectPath, source: ReadError },
    #[error(
        "another program keeps writing `{path}`; our change is not written; wait for that program and run the command again"
    )]
    Busy { path: ProjectPath },
    #[error("cannot put the new content of `{path}` in place; that file is as it was")]
    Rename { path: ProjectPath, source: io::Error },
    #[error(
        "`{path}` is removed, but the temporary file with its old bytes is not: the next command that writes `{path}` removes that"
    )]
    Remains { path: ProjectPath, source: io::Error },
    #[error(
        "`{path}` has its new content, but its folder could not be flushed: a loss of power may undo the change"
    )]
    Flush { path: ProjectPath, source: io::Error },
}

/// Points in a publication at which another program may write; tests write there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commit) enum Moment {
    /// As expected, but recently written; the wait follows.
    Fresh,
    Checked,
    /// The names are exchanged; reading the displaced bytes follows.
    Exchanged,
    /// The displaced bytes are foreign; exchanging back follows.
    ForeignFound,
}

impl Staged<'_> {
    /// Replaces or creates the file if it is still `expected`.
    ///
    /// On Linux the two files exchange names: a write after the last check is found in the displaced file,
    /// and restored. Elsewhere the staged file is renamed over the other.
    pub fn publish(self, expected: Expected) -> Result<Published, PublishError> {
        self.publish_watched(expected, &mut |_| {})
    }

    pub(in crate::commit) fn publish_watched(
        self,
        expected: Expected,
        reached: &mut dyn FnMut(Moment),
    ) -> Result<Published, PublishError> {
        self.check_at_rest(expected, reached)?;
        reached(Moment::Checked);
        match expected {
            Expected::Absent => self.create(),
            Expected::Hash(before) => self.replace(before, reached),
        }
    }

    /// Fails if the name is taken.
    fn create(self) -> Result<Published, PublishError> {
        let Self { lock, temporary, after, fsync } = self;
        match temporary.persist_noclobber(&lock.target) {
            Ok(()) => {}
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                let staged = Self { lock, temporary: failed.path, after, fsync };
                let found = Found::of(staged.lock.read());
                return Err(staged.conflict(Expected::Absent, found, None));
            }
            Err(failed) => {
                return Err(PublishError::Rename { path: lock.path.clone(), source: failed.error });
            }
        }
        finish(lock, Expected::Absent, after, fsync)
    }

    pub(in crate::commit) fn rename_over(self, before: FileHash) -> Result<Published, PublishError> {
        let Self { lock, temporary, after, fsync } = self;
        match temporary.persist(&lock.target) {
            Ok(()) => finish(lock, Expected::Hash(before), after, fsync),
            Err(failed) => Err(PublishError::Rename { path: lock.path.clone(), source: failed.error }),
        }
    }

    pub(in crate::commit) fn path(&self) -> ProjectPath {
        self.lock.path.clone()
    }

    pub(in crate::commit) fn rename_error(&self, source: io::Error) -> PublishError {
        PublishError::Rename { path: self.path(), source }
    }

    pub(in crate::commit) fn conflict(
        &self,
        expected: Expected,
        found: Found,
        kept: Option<PathBuf>,
    ) -> PublishError {
        PublishError::Conflict(Box::new(Conflict { path: self.path(), expected, found, kept }))
    }
}

pub(in crate::commit) fn finish(
    lock: &mut ArtifactLock,
    before: Expected,
    after: FileHash,
    fsync: FsyncPolicy,
) -> Result<Published, PublishError> {
    lock.last_published = Some(after);
    flush_folder(lock.folder(), fsync)
        .map_err(|source| PublishError::Flush { path: lock.path.clone(), source })?;
    Ok(Published { before, after })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::commit::{scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject};

    const NEW: &[u8] = b"new\n";
    const THEIRS: &[u8] = b"theirs\n";

    fn expected() -> Expected {
        Expected::of(Some(OLD))
    }

    fn conflict(result: Result<Published, PublishError>) -> Conflict {
        match result {
            Err(PublishError::Conflict(conflict)) => *conflict,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn replaces_what_is_as_expected() {
        for fsync in [FsyncPolicy::Always, FsyncPolicy::Never] {
            let project = ScratchProject::new();
            let mut lock = project.lock(PRD);
            let published = lock.stage(NEW, fsync).unwrap().publish(expected()).unwrap();
            assert_eq!(published, Published { before: expected(), after: FileHash::of(NEW) });
            assert_eq!(project.read(PRD), NEW);
            assert_eq!(project.names("docs"), ["prd.md"]);
        }
    }

    #[test]
    fn renames_over_where_names_cannot_be_exchanged() {
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let staged = lock.stage(NEW, FsyncPolicy::Always).unwrap();
        staged.rename_over(FileHash::of(OLD)).unwrap();
        assert_eq!(project.read(PRD), NEW);
        assert_eq!(project.names("docs"), ["prd.md"]);
    }

    #[test]
    fn what_changed_since_it_was_read_stays() {
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let staged = lock.stage(NEW, FsyncPolicy::Never).unwrap();
        project.write(PRD, THEIRS);
        let conflict = conflict(staged.publish(expected()));
        assert!(matches!(&conflict.found, Found::Bytes(bytes) if bytes == THEIRS));
        assert_eq!((conflict.expected, conflict.kept.as_ref()), (expected(), None));
        assert_eq!(project.read(PRD), THEIRS);
        assert_eq!(project.names("docs"), ["prd.md"]);

        fs::remove_file(project.place(PRD)).unwrap();
        let staged = lock.stage(NEW, FsyncPolicy::Never).unwrap();
        let PublishError::Conflict(conflict) = staged.publish(expected()).unwrap_err() else { panic!() };
        assert!(matches!(conflict.found, Found::Absent));
        assert_eq!(project.names("docs"), [""; 0]);
    }

    #[test]
    fn creates_only_what_is_absent() {
        let project = ScratchProject::new();
        let mut lock = project.lock("docs/new.md");
        let published = lock.stage(NEW, FsyncPolicy::Always).unwrap().publish(Expected::Absent).unwrap();
        assert_eq!(published.before, Expected::Absent);
        assert_eq!(project.read("docs/new.md"), NEW);

        let staged = lock.stage(b"newer", FsyncPolicy::Never).unwrap();
        assert!(
            matches!(conflict(staged.publish(Expected::Absent)).found, Found::Bytes(bytes) if bytes == NEW)
        );

        let mut lock = project.lock("docs/late.md");
        let staged = lock.stage(NEW, FsyncPolicy::Never).unwrap();
        let raced = staged.publish_watched(Expected::Absent, &mut |_| project.write("docs/late.md", THEIRS));
        assert!(matches!(conflict(raced).found, Found::Bytes(bytes) if bytes == THEIRS));
        assert_eq!(project.read("docs/late.md"), THEIRS);
        assert_eq!(project.names("docs"), ["late.md", "new.md", "prd.md"]);
    }
}
