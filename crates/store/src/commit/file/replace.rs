//! Replacing a file without losing another program's edit.
#![cfg_attr(
    all(test, target_os = "linux"),
    expect(clippy::disallowed_methods, reason = "tests write files as another program would")
)]

use std::{io, path::Path};

use crate::commit::{
    Expected, Found, PublishError, Published, Staged, file::Moment, file::finish, file::flush_folder,
    file::read_file, lock::Note, lock::file_name, lock::keep,
};
use stepmark_model::artifact::FileHash;

impl Staged<'_> {
    /// Exchanges the staged file with the target, which stays if the displaced bytes are those read.
    pub(in crate::commit) fn replace(
        mut self,
        before: FileHash,
        reached: &mut dyn FnMut(Moment),
    ) -> Result<Published, PublishError> {
        let expected = Expected::Hash(before);
        let note = Note::Exchanging { name: file_name(&self.temporary), before, after: self.after };
        note.write(&self.lock.lock_file).map_err(|source| self.rename_error(source))?;
        // From here on the temporary name may hold foreign bytes: no drop or panic may remove it.
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
        let displaced = read_file(&self.lock.path, &self.temporary).map(|file| file.map(|file| file.bytes));
        if !matches!(&displaced, Ok(Some(bytes)) if FileHash::of(bytes) == before) {
            reached(Moment::ForeignFound);
            return Err(self.give_back(expected, Found::of(displaced)));
        }
        let Self { lock, mut temporary, after, fsync } = self;
        // The replaced bytes. Removed before one flush for both; if that fails, the note is left.
        temporary.disable_cleanup(false);
        drop(temporary);
        finish(lock, expected, after, fsync)
    }

    /// Another program wrote between check and exchange: restores its file. Newer bytes, or those that cannot
    /// be restored since it removed the name, are kept beside it.
    fn give_back(mut self, expected: Expected, found: Found) -> PublishError {
        let returned = exchange(&self.temporary, &self.lock.target).is_ok();
        let ours = returned
            && matches!(read_file(&self.lock.path, &self.temporary),
                Ok(Some(file)) if FileHash::of(&file.bytes) == self.after);
        let kept = if ours {
            self.temporary.disable_cleanup(false);
            None
        } else {
            // If even renaming fails, the file keeps its temporary name, and the note is there.
            Some(keep(&self.temporary, &self.lock.target).unwrap_or_else(|_| self.temporary.to_path_buf()))
        };
        // The caller gets the conflict anyway; a flush error adds nothing.
        let _unflushed = flush_folder(self.lock.folder(), self.fsync);
        self.conflict(expected, found, kept)
    }
}

/// Nothing has changed then.
#[derive(Debug)]
pub(in crate::commit) enum ExchangeError {
    /// Not supported by the system or file system.
    Unsupported,
    /// Supported, but failed: for instance, a file is gone.
    Failed(io::Error),
}

/// Atomic: no write to either file is lost.
#[cfg(target_os = "linux")]
pub(in crate::commit) fn exchange(staged: &Path, target: &Path) -> Result<(), ExchangeError> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };

    renameat_with(CWD, staged, CWD, target, RenameFlags::EXCHANGE).map_err(|error| match error {
        // File systems without this flag answer `EINVAL`, kernels `ENOSYS`, some sandboxes `EPERM`. If it is
        // a real error, the plain rename that follows returns it again.
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM => ExchangeError::Unsupported,
        error => ExchangeError::Failed(error.into()),
    })
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
pub(in crate::commit) fn exchange(_staged: &Path, _target: &Path) -> Result<(), ExchangeError> {
    Err(ExchangeError::Unsupported)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{fs, io};

    use super::*;
    use crate::commit::{
        Conflict, FsyncPolicy, ReadError, scratch_project::OLD, scratch_project::PRD,
        scratch_project::ScratchProject,
    };

    const NEW: &[u8] = b"new\n";
    const THEIRS: &[u8] = b"theirs\n";

    fn expected() -> Expected {
        Expected::of(Some(OLD))
    }

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

    #[test]
    fn of_edits_before_and_after_the_exchange_none_is_lost() {
        let project = ScratchProject::new();
        let result = publish_while(&project, |moment| match moment {
            Moment::Checked => project.write(PRD, THEIRS),
            Moment::Fresh | Moment::Exchanged => {}
            Moment::ForeignFound => project.write(PRD, b"later theirs"),
        });
        let kept = conflict(result).kept.unwrap();
        assert_eq!(project.read(PRD), THEIRS);
        assert_eq!(fs::read(&kept).unwrap(), b"later theirs");
        assert!(kept.file_name().unwrap().to_str().unwrap().starts_with(".stepmark-kept-"));
        assert_eq!(project.names("docs").len(), 2);
    }

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
            Moment::Fresh | Moment::Exchanged => {}
            Moment::ForeignFound => fs::remove_file(project.place(PRD)).unwrap(),
        });
        let kept = conflict(edited_and_gone).kept.unwrap();
        assert_eq!(fs::read(&kept).unwrap(), THEIRS);
        assert_eq!(project.names("docs"), [kept.file_name().unwrap().to_str().unwrap()]);
    }

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
