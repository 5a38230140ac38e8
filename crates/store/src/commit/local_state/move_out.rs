//! Moving the state of this clone out of the work tree, where earlier versions kept it, and where it stands
//! before a project has git: once, and only what this clone made.
#![expect(clippy::disallowed_methods, reason = "an edge module: files are moved here")]

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::commit::{FsyncPolicy, local_state::StateMove, local_state::state_file};
use crate::disk::git_folders::is_own;
use crate::disk::{local_state::LocalState, local_state::PLAIN_FOLDER, own_file, root::Root};
use crate::git::{process::answer, process::git};

/// The folder in which earlier versions kept what can be deleted at will.
const OLD_CACHE: &str = ".stepmark/cache";

/// The record of what was moved, beside the folders of this work tree.
const RECORD: &str = "moved-from-work-tree";

/// The content of the place where earlier versions kept the state of a clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldState {
    /// Nothing, or this project keeps its state there.
    None,
    /// This clone's own state: the next command that writes moves it.
    Own,
    /// Files that a repository brought, another user's, or a link: nothing of it is read.
    Foreign,
    /// Nobody can tell whose, since git cannot be started: nothing of it is read.
    Unverified,
    /// Files that came after the state was moved, or were left by that: nothing of it is read.
    Left,
}

/// Returns what stands at the old place.
pub fn old_state(root: &Root) -> OldState {
    let old = root.path().join(PLAIN_FOLDER);
    let Ok(found) = fs::symlink_metadata(&old) else { return OldState::None };
    if !root.state().is_in_git() {
        return OldState::None;
    }
    if record(root).exists() {
        return OldState::Left;
    }
    let is_plain = found.is_dir() && own_file::check_folder(root.path(), PLAIN_FOLDER.as_ref()).is_ok();
    // Of the files of a submodule this repository knows nothing.
    let is_submodule =
        [".stepmark/.git", ".stepmark/local/.git"].iter().any(|place| root.path().join(place).exists());
    if !is_plain || is_submodule || !is_own(&old) {
        return OldState::Foreign;
    }
    match is_unknown_to_git(root) {
        Ok(true) => OldState::Own,
        Ok(false) => OldState::Foreign,
        Err(_no_git) => OldState::Unverified,
    }
}

/// The state of this clone could not be moved into git's folder.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot move the state of this clone to where it belongs in git's folder: allow writing there and where it stands, and run the command again"
)]
pub struct LocalStateMoveError {
    /// The error of the system.
    #[from]
    source: io::Error,
}

/// Moves the state of this clone from the work tree into git's folder, if some stands there that can be
/// believed, and returns whether it did. Killed in between, the next call goes on.
///
/// # Errors
/// When a file cannot be moved; the others are moved by the next call.
pub fn move_local_state(root: &Root, fsync: FsyncPolicy) -> Result<bool, LocalStateMoveError> {
    Ok(move_own(root, fsync)?)
}

pub(in crate::commit) fn move_own(root: &Root, fsync: FsyncPolicy) -> io::Result<bool> {
    if old_state(root) != OldState::Own {
        return Ok(false);
    }
    let state = root.state();
    let _lock = StateMove::lock(root)?;
    // Another process may have done it meanwhile.
    if record(root).exists() {
        return Ok(true);
    }
    let moved = StateMove { root, from: &LocalState::without_git(root.path()), fsync }.run()?;
    let lines: String = moved.iter().map(|name| format!("{name}\n")).collect();
    state_file::replace(&state.top(false), RECORD, lines.as_bytes(), fsync)?;
    remove_remains(root.path());
    Ok(true)
}

/// Returns whether the state of this clone was moved out of the work tree, now or earlier.
pub fn is_state_moved(root: &Root) -> bool {
    root.state().is_in_git() && record(root).exists()
}

fn record(root: &Root) -> PathBuf {
    root.state().top(false).join(RECORD)
}

/// Returns whether no commit that this clone knows, and not the index, ever held a file at the old places:
/// then no checkout wrote there.
fn is_unknown_to_git(root: &Root) -> io::Result<bool> {
    let places = ["--", PLAIN_FOLDER, OLD_CACHE];
    let is_silent = |arguments: &[&str]| {
        // In any case of letters: a file system may take `.Stepmark` for the same folder.
        let arguments = [&["--no-literal-pathspecs", "--icase-pathspecs"], arguments, &places].concat();
        let mut command = git(root.path(), &arguments);
        // The repository around the project is asked, where the state goes, and none that a hook of another
        // one names.
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"] {
            command.env_remove(name);
        }
        let (status, printed) = answer(&mut command)?;
        Ok::<bool, io::Error>(status.success() && printed.is_empty())
    };
    Ok(is_silent(&["ls-files", "--cached", "-z"])?
        && is_silent(&["log", "--all", "--reflog", "--max-count=1", "--format=%H"])?)
}

/// Removes what earlier versions made and nobody needs any more. What is in the way stays; `doctor` names it.
fn remove_remains(root: &Path) {
    let old = root.join(PLAIN_FOLDER);
    for name in ["journal.lock", "leases.lock", "clone-key", ".gitignore", "sync.db-shm"] {
        let _may_be_missing = fs::remove_file(old.join(name));
    }
    for name in ["locks", "projections", "cache"] {
        let _may_be_missing = fs::remove_dir_all(old.join(name));
    }
    for name in ["redo", "redo-aside", "journal", "sealed", "leases"] {
        let _may_hold_more = fs::remove_dir(old.join(name));
    }
    let _may_hold_more = fs::remove_dir(&old);
    if own_file::check_folder(root, OLD_CACHE.as_ref()).is_ok() {
        let _may_be_missing = fs::remove_dir_all(root.join(OLD_CACHE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{
        Expected, SetAsideRepair, finish_interrupted, redo::RedoFile, redo::RedoRecord, redo::Slot,
        repair_commits_set_aside, scratch_project::OLD, scratch_project::PRD,
        scratch_project::ScratchProject, scratch_project::fast, scratch_project::named,
    };
    use crate::disk::local_state::StateFolder;
    use stepmark_model::journal::{Actor, Event, EventDraft, Kind};

    /// A project whose process died with a record, and which becomes a repository of git then.
    fn cut_off_before_git(is_signed: bool) -> (ScratchProject, Root) {
        let project = ScratchProject::new();
        let event = Event::new(
            EventDraft::new(Kind::CHANGE).with("path", PRD),
            Actor::human("Ada"),
            "2026-11-22T10:00:00Z".parse().unwrap(),
        );
        let file = RedoFile::new(named(PRD), Expected::of(Some(OLD)), Some(b"new".to_vec()));
        let record = RedoRecord { files: vec![file], events: vec![event.sealed()] };
        let mut slot = Slot::take(&project.root, FsyncPolicy::Never, std::time::Duration::ZERO).unwrap();
        slot.write(&record, FsyncPolicy::Never).unwrap();
        drop(slot);
        if !is_signed {
            let bytes = project.read(".stepmark/local/redo/0");
            let line = bytes.iter().position(|byte| *byte == b'\n').unwrap();
            let hash = stepmark_model::artifact::FileHash::of(&bytes[line + 1..]);
            let unsigned = [format!("stepmark-redo/1 {hash}\n").as_bytes(), &bytes[line + 1..]].concat();
            project.write(".stepmark/local/redo/0", &unsigned);
        }
        let made = git(project.root.path(), &["init", "--quiet"]).status().unwrap();
        assert!(made.success());
        let root = Root::open(project.root.path()).unwrap();
        (project, root)
    }

    #[test]
    fn a_commit_that_was_cut_off_is_finished_after_the_move() {
        let (project, root) = cut_off_before_git(true);
        fs::create_dir(project.place(".stepmark/local/projections")).unwrap();
        project.write(".stepmark/local/projections/catalogues.json", b"{}");
        assert_eq!(old_state(&root), OldState::Own);
        move_local_state(&root, FsyncPolicy::Never).unwrap();
        assert_eq!(old_state(&root), OldState::None);
        assert!(root.state().path(StateFolder::Projections).join("catalogues.json").exists());
        finish_interrupted(&root, &fast()).unwrap();
        assert_eq!(project.read(PRD), b"new");
        assert!(!project.place(".stepmark/local").exists());
    }

    /// It may have come in an archive, whose author can write events as well.
    #[test]
    fn a_record_without_a_signature_is_kept_and_never_carried_out() {
        let (project, root) = cut_off_before_git(false);
        let record = project.read(".stepmark/local/redo/0");
        move_local_state(&root, FsyncPolicy::Never).unwrap();
        finish_interrupted(&root, &fast()).unwrap();
        let repaired = repair_commits_set_aside(&root, &fast()).unwrap();
        let [SetAsideRepair::Dropped(aside, _)] = &repaired[..] else { panic!("{repaired:?}") };
        assert_eq!(fs::read(&aside.record).unwrap(), record);
        assert_eq!(project.read(PRD), OLD);
    }

    #[test]
    fn a_record_of_another_clone_is_kept_and_what_is_no_record_stops_nothing() {
        let (project, root) = cut_off_before_git(true);
        fs::create_dir(project.place(".stepmark/local/redo/folder")).unwrap();
        // As in a copy of the project: the key is another file.
        fs::write(project.place("key"), project.read(".stepmark/local/clone-key")).unwrap();
        fs::rename(project.place("key"), project.place(".stepmark/local/clone-key")).unwrap();
        let record = project.read(".stepmark/local/redo/0");
        move_local_state(&root, FsyncPolicy::Never).unwrap();
        assert_eq!(project.read(PRD), OLD);
        let aside = root.state().path(StateFolder::RedoAside);
        let kept: Vec<_> = fs::read_dir(aside).unwrap().map(|entry| entry.unwrap().path()).collect();
        let [kept] = &kept[..] else { panic!("{kept:?}") };
        assert_eq!(fs::read(kept).unwrap(), record);
        assert_eq!(old_state(&root), OldState::Left);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_at_the_old_place_is_a_strangers() {
        let (project, root) = cut_off_before_git(true);
        let outside = tempfile::tempdir().unwrap();
        fs::rename(project.place(".stepmark/local"), outside.path().join("local")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("local"), project.place(".stepmark/local")).unwrap();
        assert_eq!(old_state(&root), OldState::Foreign);
        move_local_state(&root, FsyncPolicy::Never).unwrap();
        assert!(outside.path().join("local/redo/0").exists());
        assert!(!root.state().path(StateFolder::Redo).exists());
    }

    /// Git keeps the name that was added, where the file system takes both names for one.
    #[test]
    fn what_git_knows_by_a_name_in_other_letters_is_a_strangers() {
        let (project, root) = cut_off_before_git(true);
        assert_eq!(old_state(&root), OldState::Own);
        fs::create_dir_all(project.place(".Stepmark/Local")).unwrap();
        project.write(".Stepmark/Local/file", b"a stranger's");
        let added = git(root.path(), &["add", "--force", ".Stepmark/Local/file"]).status().unwrap();
        assert!(added.success());
        assert_eq!(old_state(&root), OldState::Foreign);
    }
}
