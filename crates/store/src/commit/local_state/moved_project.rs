//! The state of a project whose folder got another name, or a repository of its own: it is found by what its
//! history knows of the files.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: git's folders and work trees are looked at here"
)]

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use crate::commit::{
    FsyncPolicy, LocalStateMoveError, local_state::StateMove, local_state::names_in, redo::LIMIT,
};
use crate::disk::git_folders::GitFolders;
use crate::disk::{
    local_state::LocalState, local_state::PROJECT_FILE, local_state::StateFolder, own_file, root::Root,
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::{Digests, Event, Line},
};

/// Folders of a state that is left whose files can be made anew.
const MADE_ANEW: [StateFolder; 3] = [StateFolder::Locks, StateFolder::Projections, StateFolder::Cache];

/// The state of this project, where it stood under another name or in the repository around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedProject {
    /// The folder that it was for, seen from the top of the work tree.
    pub folder: PathBuf,
    state: LocalState,
}

/// Finds the states of projects that are in no work tree any more and whose history led to a file of this
/// one; and that of this folder in the repository around, where it had no `.git` of its own before. Reads
/// only.
///
/// # Errors
/// When git's folder or a segment in it cannot be read.
pub fn moved_projects(root: &Root) -> Result<Vec<MovedProject>, LocalStateMoveError> {
    Ok(find(root)?)
}

/// Takes the state of `moved` as that of this project; what has its name here already stays there.
///
/// # Errors
/// When a file cannot be moved; the others are moved by the next call.
pub fn take_state(root: &Root, moved: &MovedProject, fsync: FsyncPolicy) -> Result<(), LocalStateMoveError> {
    Ok(take(root, moved, fsync)?)
}

fn find(root: &Root) -> io::Result<Vec<MovedProject>> {
    let Some(git) = GitFolders::around(root.path()) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let tops = work_trees(&git)?;
    for (folder, state) in root.state().of_other_projects()? {
        if !tops.iter().any(|top| top.join(&folder).exists()) && led_to_files_of(root, &state)? {
            found.push(MovedProject { folder, state });
        }
    }
    if let Some(outer) = git.top.parent().and_then(GitFolders::around) {
        let folder = root.path().strip_prefix(&outer.top).unwrap_or(root.path()).to_owned();
        let state = LocalState::in_git(outer, root.path());
        if led_to_files_of(root, &state)? {
            found.push(MovedProject { folder, state });
        }
    }
    Ok(found)
}

/// The tops of all work trees of a repository, of which some may be gone (gitrepository-layout(5),
/// "worktrees").
fn work_trees(git: &GitFolders) -> io::Result<Vec<PathBuf>> {
    let mut tops = vec![git.top.clone()];
    tops.extend(git.common.parent().map(Path::to_owned));
    let linked = git.common.join("worktrees");
    for name in names_in(&linked)? {
        if let Ok(pointer) = fs::read_to_string(linked.join(name).join("gitdir")) {
            tops.extend(Path::new(pointer.trim_end()).parent().map(Path::to_owned));
        }
    }
    Ok(tops)
}

/// Returns whether an event of `state` led to the bytes that an artifact of this project has, or had before
/// the first event that is told here.
fn led_to_files_of(root: &Root, state: &LocalState) -> io::Result<bool> {
    // What was only seen may be the same text in many projects.
    let led_to = hashes_told(state, |event| {
        event.after.filter(|after| event.before.is_some_and(|before| before != *after))
    })?;
    if led_to.is_empty() {
        return Ok(false);
    }
    let began_with = hashes_told(root.state(), |event| event.before)?;
    Ok(led_to.iter().any(|(path, hashes)| {
        let bytes = root.resolve(path).ok().and_then(|place| fs::read(place).ok());
        let now = bytes.map(|bytes| FileHash::of(&bytes));
        now.iter().chain(began_with.get(path).into_iter().flatten()).any(|hash| hashes.contains(hash))
    }))
}

/// One side of all events in live history and in copies of sealed segments, by artifact.
fn hashes_told(
    state: &LocalState,
    side: impl Fn(&Event) -> Option<Digests>,
) -> io::Result<BTreeMap<ProjectPath, Vec<FileHash>>> {
    let mut told: BTreeMap<ProjectPath, Vec<FileHash>> = BTreeMap::new();
    for folder in [StateFolder::SealedCopies, StateFolder::Journal].map(|folder| state.path(folder)) {
        for name in names_in(&folder)?.into_iter().filter(|name| name.ends_with(".jsonl")) {
            let bytes = own_file::read(&folder, name.as_ref(), LIMIT)?;
            for line in bytes.split(|byte| *byte == b'\n') {
                // Headers and torn lines tell of nothing.
                let Ok(Line { event, .. }) = serde_json::from_slice(line) else { continue };
                if let (Some(digests), Some(artifact)) = (side(&event), event.artifact) {
                    told.entry(artifact.path).or_default().push(digests.file);
                }
            }
        }
    }
    Ok(told)
}

fn take(root: &Root, moved: &MovedProject, fsync: FsyncPolicy) -> io::Result<()> {
    let _lock = StateMove::lock(root)?;
    let state = &moved.state;
    StateMove { root, from: state, fsync }.run()?;
    for folder in MADE_ANEW {
        let _may_be_missing = fs::remove_dir_all(state.path(folder));
    }
    for top in [state.top(true), state.top(false)] {
        for folder in names_in(&top)? {
            let _may_hold_more = fs::remove_dir(top.join(folder));
        }
        let is_plain = |name: &String| name.ends_with(".lock") || name == "clone-key" || name == PROJECT_FILE;
        // Where something is left that has its name here already, the next diagnosis finds it again.
        if top.exists() && names_in(&top)?.iter().all(is_plain) {
            fs::remove_dir_all(&top)?;
        }
    }
    Ok(())
}
