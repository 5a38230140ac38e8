//! Files whose whole content the caller makes.

use crate::commit::{
    ArtifactLock, CommitError, CommitOptions, Conflict, Expected, Found, LockError, Outcome, PublishError,
    file::make_folders_to, file::read_file,
};
use crate::disk::root::Root;
use stepmark_model::artifact::{FileHash, ProjectPath};

/// Creates the file at `path`, and the folders that lead to it. A file that is there is a [`Conflict`].
pub fn create(
    root: &Root,
    path: &ProjectPath,
    bytes: &[u8],
    options: &CommitOptions,
) -> Result<Outcome, CommitError> {
    replace_whole(root, path, Expected::Absent, bytes, options)
}

/// Puts `bytes` at `path` if what is there is what is `expected`, and makes the folders that lead to it. For
/// files whose whole content the caller makes, such as manifests. Where the file holds these bytes already,
/// nothing is written.
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

/// Finds a file where none is expected before anything is made for it.
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
