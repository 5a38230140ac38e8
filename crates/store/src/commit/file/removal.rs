//! Removing a file that is still what was read.
#![expect(clippy::disallowed_methods, reason = "an edge module: files are removed here")]

use std::{fs, io};

use crate::commit::{
    ArtifactLock, CommitError, Conflict, Expected, Found, FsyncPolicy, PublishError, file::flush_folder,
    file::read_file, lock::Note, lock::file_name, lock::keep,
};
use stepmark_model::artifact::FileHash;

/// Removes the file if its bytes have this hash. It first takes another name, as the staged file of a
/// replacement has, so that what another program wrote last is found and gets its place back; the note tells
/// the next holder.
pub(in crate::commit) fn remove(
    lock: &mut ArtifactLock,
    before: FileHash,
    fsync: FsyncPolicy,
) -> Result<(), CommitError> {
    let expected = Expected::Hash(before);
    let conflict = |lock: &ArtifactLock, found, kept| {
        let conflict = Conflict { path: lock.path.clone(), expected, found, kept };
        CommitError::Publish(PublishError::Conflict(Box::new(conflict)))
    };
    let failed =
        |lock: &ArtifactLock, source: io::Error| PublishError::Rename { path: lock.path.clone(), source };
    let found = lock.read()?;
    if found.as_deref().map(FileHash::of) != Some(before) {
        return Err(conflict(lock, Found::of(Ok(found)), None));
    }
    let temporary = lock.folder().join(lock.key.temporary_name(before));
    // The same hash twice: whatever stands under the name is this artifact's old bytes, or another program's.
    let note = Note::Exchanging { name: file_name(&temporary), before, after: before };
    note.write(&lock.lock_file).map_err(|source| failed(lock, source))?;
    fs::rename(&lock.target, &temporary).map_err(|source| failed(lock, source))?;
    let displaced = read_file(&lock.path, &temporary).map(|file| file.map(|file| file.bytes));
    if !matches!(&displaced, Ok(Some(bytes)) if FileHash::of(bytes) == before) {
        let found = Found::of(displaced);
        // Never over what was made meanwhile: a hard link refuses a name that is taken.
        let kept = match fs::hard_link(&temporary, &lock.target).and_then(|()| fs::remove_file(&temporary)) {
            Ok(()) => None,
            Err(_) => Some(keep(&temporary, &lock.target).unwrap_or(temporary)),
        };
        return Err(conflict(lock, found, kept));
    }
    fs::remove_file(&temporary)
        .map_err(|source| PublishError::Remains { path: lock.path.clone(), source })?;
    flush_folder(lock.folder(), fsync)
        .map_err(|source| PublishError::Flush { path: lock.path.clone(), source })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject};

    #[test]
    fn removes_only_what_was_read() {
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let refused = remove(&mut lock, FileHash::of(b"another"), FsyncPolicy::Never);
        assert!(matches!(refused, Err(CommitError::Publish(PublishError::Conflict(_)))));
        assert_eq!(project.read(PRD), OLD);
        remove(&mut lock, FileHash::of(OLD), FsyncPolicy::Always).unwrap();
        assert_eq!(project.names("docs"), [""; 0]);
        let refused = remove(&mut lock, FileHash::of(OLD), FsyncPolicy::Never);
        assert!(matches!(refused, Err(CommitError::Publish(PublishError::Conflict(_)))));
    }
}
