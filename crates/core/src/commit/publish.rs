//! Giving staged content its name, if the file is still what it was.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests write files as another program would"))]

use std::{io, path::PathBuf};

use super::{
    Conflict, Expected, Found, FsyncPolicy, ReadError, Staged,
    exchange::{ExchangeError, exchange},
    folder::flush_folder,
    note::{Note, file_name},
    read::read_file,
    recover::keep,
};
use crate::{artifact::ProjectPath, document::FileHash};

/// A file was replaced or created: it holds the new bytes, on the disk where the policy asks for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// What the file held before.
    pub before: Expected,
    /// The hash of what it holds now.
    pub after: FileHash,
}

/// Why staged content did not get its name. Except after [`PublishError::Flush`], it is gone and the file has its old
/// bytes or another program's.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The file is not what was expected.
    #[error(transparent)]
    Conflict(Box<Conflict>),
    /// The file cannot be read again before it is replaced.
    #[error("cannot check `{path}` before replacing it; nothing was changed")]
    Check {
        /// The file.
        path: ProjectPath,
        /// Why it cannot be read.
        source: ReadError,
    },
    /// The system refuses to announce the replacement or to rename.
    #[error("cannot put the new content of `{path}` in place; nothing was changed")]
    Rename {
        /// The file.
        path: ProjectPath,
        /// What the system says.
        source: io::Error,
    },
    /// The new content is in place, but its folder could not be flushed.
    #[error(
        "`{path}` has its new content, but its folder could not be flushed: a loss of power may undo the change"
    )]
    Flush {
        /// The file.
        path: ProjectPath,
        /// What the system says.
        source: io::Error,
    },
}

/// The places of a publication between which another program may write. Tests write there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// The file was as expected; next it is replaced.
    Checked,
    /// The names are exchanged; next the displaced bytes are read.
    Exchanged,
    /// The displaced bytes are another program's; next the names are exchanged back.
    ForeignFound,
}

impl Staged<'_> {
    /// Replaces the file by the staged one, or creates it, if it is still what is `expected`.
    ///
    /// On Linux the two files change names, and what is displaced is read: what another program wrote after the last
    /// check is found there, and gets its place back. Elsewhere the staged file is renamed over the other one.
    ///
    /// # Errors
    /// A [`Conflict`] when the file is not what is expected; else what the system refuses.
    pub fn publish(self, expected: Expected) -> Result<Published, PublishError> {
        self.publish_watched(expected, &mut |_| {})
    }

    fn publish_watched(
        self,
        expected: Expected,
        reached: &mut dyn FnMut(Moment),
    ) -> Result<Published, PublishError> {
        let found = self.lock.read().map_err(|source| PublishError::Check { path: self.path(), source })?;
        if Expected::of(found.as_deref()) != expected {
            return Err(self.conflict(expected, Found::of(Ok(found)), None));
        }
        reached(Moment::Checked);
        match expected {
            Expected::Absent => self.create(),
            Expected::Hash(before) => self.replace(before, reached),
        }
    }

    /// Gives the name to the staged file, if no file has it.
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

    /// Exchanges the staged file and the target, and keeps that if the displaced bytes are those that were read.
    fn replace(
        mut self,
        before: FileHash,
        reached: &mut dyn FnMut(Moment),
    ) -> Result<Published, PublishError> {
        let expected = Expected::Hash(before);
        let note = Note::Exchanging { name: file_name(&self.temporary), before, after: self.after };
        note.write(&self.lock.lock_file).map_err(|source| self.rename_error(source))?;
        // From here on the temporary name may hold what another program wrote: no drop and no panic may remove that.
        self.temporary.disable_cleanup(true);
        if let Err(error) = exchange(&self.temporary, &self.lock.target) {
            self.temporary.disable_cleanup(false);
            return match error {
                ExchangeError::Unsupported => self.rename_over(before),
                ExchangeError::Failed(source) => Err(match self.lock.read() {
                    Ok(None) => self.conflict(expected, Found::Absent, None),
                    _ => self.rename_error(source),
                }),
            };
        }
        reached(Moment::Exchanged);
        let displaced = read_file(&self.lock.path, &self.temporary);
        if !matches!(&displaced, Ok(Some(bytes)) if FileHash::of(bytes) == before) {
            reached(Moment::ForeignFound);
            return Err(self.give_back(expected, Found::of(displaced)));
        }
        let Self { lock, mut temporary, after, fsync } = self;
        // What was read and is replaced now. Removed before the folder is flushed, so that one flush serves both; if
        // that fails, the note is still there for the next holder.
        temporary.disable_cleanup(false);
        drop(temporary);
        finish(lock, expected, after, fsync)
    }

    /// Another program wrote between the last check and the exchange: its file gets its place back. What was put on top
    /// of ours meanwhile, or cannot be put back because that program removed the name, is kept beside it.
    fn give_back(mut self, expected: Expected, found: Found) -> PublishError {
        let returned = exchange(&self.temporary, &self.lock.target).is_ok();
        let ours = returned
            && matches!(read_file(&self.lock.path, &self.temporary),
                Ok(Some(bytes)) if FileHash::of(&bytes) == self.after);
        let kept = if ours {
            self.temporary.disable_cleanup(false);
            None
        } else {
            // Where even the renaming fails, the file stays under its temporary name, and the note is still there.
            Some(keep(&self.temporary, &self.lock.target).unwrap_or_else(|_| self.temporary.to_path_buf()))
        };
        // The caller learns of the conflict in any case; that the folder is not flushed would add nothing to it.
        let _unflushed = flush_folder(self.lock.folder(), self.fsync);
        self.conflict(expected, found, kept)
    }

    /// Renames the staged file over the target, where names cannot be exchanged.
    fn rename_over(self, before: FileHash) -> Result<Published, PublishError> {
        let Self { lock, temporary, after, fsync } = self;
        match temporary.persist(&lock.target) {
            Ok(()) => finish(lock, Expected::Hash(before), after, fsync),
            Err(failed) => Err(PublishError::Rename { path: lock.path.clone(), source: failed.error }),
        }
    }

    fn path(&self) -> ProjectPath {
        self.lock.path.clone()
    }

    fn rename_error(&self, source: io::Error) -> PublishError {
        PublishError::Rename { path: self.path(), source }
    }

    fn conflict(&self, expected: Expected, found: Found, kept: Option<PathBuf>) -> PublishError {
        PublishError::Conflict(Box::new(Conflict { path: self.path(), expected, found, kept }))
    }
}

/// Makes the new name durable.
fn finish(
    lock: &super::ArtifactLock,
    before: Expected,
    after: FileHash,
    fsync: FsyncPolicy,
) -> Result<Published, PublishError> {
    flush_folder(lock.folder(), fsync)
        .map_err(|source| PublishError::Flush { path: lock.path.clone(), source })?;
    Ok(Published { before, after })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::commit::scratch_project::{OLD, PRD, ScratchProject};

    const NEW: &[u8] = b"new\n";
    const THEIRS: &[u8] = b"theirs\n";

    fn expected() -> Expected {
        Expected::of(Some(OLD))
    }

    /// Publishes [`NEW`] over [`OLD`], while another program does `interfere` at each moment.
    fn publish_while(
        project: &ScratchProject,
        mut interfere: impl FnMut(Moment),
    ) -> Result<Published, PublishError> {
        let mut lock = project.lock(PRD);
        lock.stage(NEW, FsyncPolicy::Never).unwrap().publish_watched(expected(), &mut interfere)
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

    #[cfg(target_os = "linux")]
    #[test]
    fn an_edit_after_the_last_check_wins() {
        type Edit = fn(&ScratchProject);
        let edits: [Edit; 2] = [
            |project| project.write(PRD, THEIRS),
            |project| {
                project.write("docs/editor", THEIRS);
                fs::rename(project.place("docs/editor"), project.place(PRD)).unwrap();
            },
        ];
        for edit in edits {
            let project = ScratchProject::new();
            let result = publish_while(&project, |moment| {
                if moment == Moment::Checked {
                    edit(&project);
                }
            });
            let conflict = conflict(result);
            assert!(matches!(&conflict.found, Found::Bytes(bytes) if bytes == THEIRS));
            assert_eq!(conflict.kept, None);
            assert_eq!(project.read(PRD), THEIRS);
            assert_eq!(project.names("docs"), ["prd.md"]);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_editor_that_wrote_into_the_displaced_file_wins() {
        let project = ScratchProject::new();
        let mut editor = fs::File::options().append(true).open(project.place(PRD)).unwrap();
        let result = publish_while(&project, |moment| {
            if moment == Moment::Exchanged {
                io::Write::write_all(&mut editor, THEIRS).unwrap();
            }
        });
        assert!(matches!(conflict(result).found, Found::Bytes(bytes) if bytes == b"old\ntheirs\n"));
        assert_eq!(project.read(PRD), b"old\ntheirs\n");
        assert_eq!(project.names("docs"), ["prd.md"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn of_edits_before_and_after_the_exchange_none_is_lost() {
        let project = ScratchProject::new();
        let result = publish_while(&project, |moment| match moment {
            Moment::Checked => project.write(PRD, THEIRS),
            Moment::Exchanged => {}
            Moment::ForeignFound => project.write(PRD, b"later theirs"),
        });
        let kept = conflict(result).kept.unwrap();
        assert_eq!(project.read(PRD), THEIRS);
        assert_eq!(fs::read(&kept).unwrap(), b"later theirs");
        assert!(kept.file_name().unwrap().to_str().unwrap().starts_with(".stepmark-kept-"));
        assert_eq!(project.names("docs").len(), 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_removal_during_the_exchange_loses_nothing() {
        let project = ScratchProject::new();
        let gone = publish_while(&project, |moment| {
            if moment == Moment::Checked {
                fs::remove_file(project.place(PRD)).unwrap();
            }
        });
        assert!(matches!(conflict(gone).found, Found::Absent));
        assert_eq!(project.names("docs"), [""; 0]);

        project.write(PRD, OLD);
        let edited_and_gone = publish_while(&project, |moment| match moment {
            Moment::Checked => project.write(PRD, THEIRS),
            Moment::Exchanged => {}
            Moment::ForeignFound => fs::remove_file(project.place(PRD)).unwrap(),
        });
        let kept = conflict(edited_and_gone).kept.unwrap();
        assert_eq!(fs::read(&kept).unwrap(), THEIRS);
        assert_eq!(project.names("docs"), [kept.file_name().unwrap().to_str().unwrap()]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_put_in_place_of_the_file_stays() {
        let project = ScratchProject::new();
        let result = publish_while(&project, |moment| {
            if moment == Moment::Checked {
                fs::remove_file(project.place(PRD)).unwrap();
                fs::create_dir(project.place(PRD)).unwrap();
            }
        });
        assert!(matches!(conflict(result).found, Found::Unreadable(ReadError::NotAFile { .. })));
        assert!(project.place(PRD).is_dir());
        assert_eq!(project.names("docs"), ["prd.md"]);
    }
}
