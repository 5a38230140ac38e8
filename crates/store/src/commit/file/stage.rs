//! A file's new content, complete on the disk under another name.
#![expect(clippy::disallowed_methods, reason = "an edge module: temporary files are made here")]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use tempfile::{Builder, TempPath};

use crate::commit::{
    ArtifactLock, FsyncPolicy, file::Attributes, lock::LockKey, lock::Note, lock::file_name,
};
use stepmark_model::artifact::{FileHash, ProjectPath, READ_LIMIT};

/// New content in a temporary file beside the locked one: whole, with its mode and owner, flushed. Dropping
/// it removes the file; [`Staged::publish`] gives it its name.
#[derive(Debug)]
#[must_use = "staged bytes get their name only by `publish`"]
pub struct Staged<'lock> {
    pub(in crate::commit) lock: &'lock mut ArtifactLock,
    pub(in crate::commit) temporary: TempPath,
    pub(in crate::commit) after: FileHash,
    pub(in crate::commit) fsync: FsyncPolicy,
}

#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A rename would get around the read-only mark, so it is checked.
    #[error(
        "cannot change `{path}`: it is marked read-only; allow writing first, for instance with `chmod u+w`"
    )]
    ReadOnly { path: ProjectPath },
    #[error(
        "cannot write `{path}`: {size} bytes are more than the {READ_LIMIT} that stepmark reads; that file is as it was"
    )]
    TooLarge { path: ProjectPath, size: u64 },
    #[error("cannot write the new content of `{path}` to a temporary file beside it; that file is as it was")]
    Write { path: ProjectPath, source: io::Error },
    #[error("cannot flush the new content of `{path}` to the disk; that file is as it was")]
    Flush { path: ProjectPath, source: io::Error },
}

impl ArtifactLock {
    /// The target is not touched.
    pub fn stage(&mut self, bytes: &[u8], fsync: FsyncPolicy) -> Result<Staged<'_>, StageError> {
        self.stage_hashed((bytes, FileHash::of(bytes)), fsync)
    }

    pub(in crate::commit) fn stage_hashed(
        &mut self,
        (bytes, after): (&[u8], FileHash),
        fsync: FsyncPolicy,
    ) -> Result<Staged<'_>, StageError> {
        let failed = |source| StageError::Write { path: self.path.clone(), source };
        if bytes.len() as u64 > READ_LIMIT {
            return Err(StageError::TooLarge { path: self.path.clone(), size: bytes.len() as u64 });
        }
        let replaced = match fs::symlink_metadata(&self.target) {
            Ok(metadata) if metadata.permissions().readonly() => {
                return Err(StageError::ReadOnly { path: self.path.clone() });
            }
            Ok(metadata) => Some(Attributes::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        let (mut file, temporary) = Builder::new()
            .prefix(&self.key.temporary_prefix())
            .suffix(LockKey::TEMPORARY_SUFFIX)
            .make_in(self.folder(), |place| self.announce_and_make(place, replaced.as_ref()))
            .map_err(failed)?
            .into_parts();
        file.write_all(bytes).map_err(failed)?;
        if let Some(attributes) = replaced {
            attributes.apply(&file).map_err(failed)?;
        }
        if fsync == FsyncPolicy::Always {
            file.sync_all().map_err(|source| StageError::Flush { path: self.path.clone(), source })?;
        }
        Ok(Staged { lock: self, temporary, after, fsync })
    }

    /// Writes the note first: the next holder finds the file, however early this is killed.
    fn announce_and_make(&self, place: &Path, replaced: Option<&Attributes>) -> io::Result<File> {
        Note::Staging { name: file_name(place) }.write(&self.lock_file)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if let Some(attributes) = replaced {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, attributes.creation_mode());
        }
        options.open(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject};

    #[test]
    fn staged_bytes_stand_beside_the_file_until_they_are_dropped() {
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let staged = lock.stage(b"new", FsyncPolicy::Always).unwrap();
        let temporary = staged.temporary.to_path_buf();
        assert_eq!(temporary.parent(), Some(&*project.place("docs")));
        assert_eq!(fs::read(&temporary).unwrap(), b"new");
        assert_eq!(project.read(PRD), OLD);
        drop(staged);
        assert_eq!(project.names("docs"), ["prd.md"]);
    }

    #[test]
    fn what_cannot_be_written_leaves_no_trace() {
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let limit = usize::try_from(READ_LIMIT).unwrap();
        let refused = lock.stage(&vec![b'x'; limit + 1], FsyncPolicy::Never).unwrap_err();
        assert!(matches!(refused, StageError::TooLarge { .. }));
        let mut permissions = fs::metadata(project.place(PRD)).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(project.place(PRD), permissions).unwrap();
        let refused = lock.stage(b"new", FsyncPolicy::Never).unwrap_err();
        assert!(matches!(refused, StageError::ReadOnly { .. }));
        assert_eq!(project.names("docs"), ["prd.md"]);

        let mut lock = project.lock("absent/prd.md");
        let refused = lock.stage(b"new", FsyncPolicy::Never).unwrap_err();
        let StageError::Write { source, .. } = &refused else { panic!("{refused:?}") };
        assert_eq!(source.kind(), io::ErrorKind::NotFound);
        assert!(refused.to_string().contains("that file is as it was"));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_takes_no_new_file_leaves_the_old_one() {
        use std::os::unix::fs::PermissionsExt;
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let docs = project.place("docs");
        let allow = |mode| fs::set_permissions(&docs, fs::Permissions::from_mode(mode)).unwrap();
        allow(0o555);
        let superuser = File::create(docs.join("probe")).is_ok();
        let staged = lock.stage(b"new", FsyncPolicy::Always).map(drop);
        allow(0o755);
        assert_eq!(staged.is_ok(), superuser, "{staged:?}");
        if let Err(refused) = staged {
            assert!(
                matches!(&refused, StageError::Write { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
            );
            assert_eq!(project.names("docs"), ["prd.md"]);
        }
        assert_eq!(project.read(PRD), OLD);
    }
}
