//! Temporary files of processes that were killed, seen from a distance: whose they are, only their names and
//! locks tell.
#![expect(clippy::disallowed_methods, reason = "an edge module: left-over files are removed here")]

use std::{
    fs::{self, File},
    io,
    path::Path,
    time::Duration,
};

use crate::commit::{lock::ArtifactLock, lock::LockKey, lock::Note, names_in};
use crate::disk::{file_lock, local_state::StateFolder, own_file, own_file::Access, root::Root};
use stepmark_model::artifact::ProjectPath;

/// Returns whether the temporary file at `path` is nobody's any more. Nothing is made.
pub(crate) fn is_left_over(root: &Root, path: &str) -> bool {
    let Some((key, _)) = key_of(path).filter(|_| is_regular(root, path)) else { return false };
    let Ok(folder) = root.state().folder(StateFolder::Locks) else { return false };
    match own_file::open(&folder, format!("{key}.lock").as_ref(), Access::Change) {
        Ok(lock) => file_lock::try_exclusive(&lock).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Removes the temporary file at `path`, if it is nobody's any more, and returns whether it did.
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

/// Takes the lock of the file beside which the temporary file at `path` stands, and returns whether it did:
/// whoever has it next decides on a temporary file that was to be exchanged.
fn settle(root: &Root, path: &str, key: &LockKey) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let names = names_in(&root.path().join(folder)).unwrap_or_default();
    let mut paths = names.iter().map(|name| format!("{folder}/{name}").trim_start_matches('/').to_owned());
    let file = paths.find(|beside| LockKey::of(Path::new(beside)) == *key);
    let file = file.and_then(|file| ProjectPath::new(file).ok());
    file.is_some_and(|file| ArtifactLock::acquire(root, &file, Duration::ZERO).is_ok())
}

/// A link of such a name is a repository's: what it leads to is no temporary file.
fn is_regular(root: &Root, path: &str) -> bool {
    fs::symlink_metadata(root.path().join(path)).is_ok_and(|found| found.is_file())
}

fn key_of(path: &str) -> Option<(LockKey, &str)> {
    let name = path.rsplit('/').next()?;
    Some((LockKey::of_temporary_file(name)?, name))
}

/// Takes the lock, and returns whether nobody has it and the next holder does not decide on the file.
fn is_free(lock: &File, key: &LockKey, name: &str) -> bool {
    let is_announced =
        |note: Option<Note>| matches!(note, Some(Note::Exchanging { name: noted, .. }) if noted == name);
    file_lock::try_exclusive(lock).is_ok() && Note::read(lock, key).is_ok_and(|note| !is_announced(note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{scratch_project::PRD, scratch_project::ScratchProject};

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
