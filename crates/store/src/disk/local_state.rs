//! The folders of one clone's state: redo records, locks, live history, leases, the sync ledger, caches.
//!
//! With git they are in git's own folder, which no clone, checkout, stash or clean touches. Otherwise they
//! are in `.stepmark/local/`, refused if links or another user's; a repository's files there are not read.
#![expect(clippy::disallowed_methods, reason = "an edge module: these folders are looked at and made here")]

use std::{
    fs::{self, DirBuilder},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::disk::file_lock::{GitFolders, is_own};
use crate::{Error, ErrorKind};
use stepmark_model::artifact::FileHash;

/// The local state without git, relative to the project root.
pub(crate) const PLAIN_FOLDER: &str = ".stepmark/local";

const GIT_FOLDER: &str = "stepmark";

const PROJECTS: &str = "projects";

const EXCLUDED: [&str; 2] = [".stepmark-*.tmp", "**/.stepmark/journal/.*.tmp"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateFolder {
    /// Live journal segments; shared by all work trees.
    Journal,
    /// This clone's copies of sealed segments; shared.
    SealedCopies,
    /// Shared.
    Leases,
    /// The sync ledger; shared.
    Sync,
    Redo,
    /// Records of commits that cannot be finished.
    RedoAside,
    Locks,
    /// The last written projections.
    Projections,
    Signals,
    Proposals,
    /// Files that may be deleted at any time.
    Cache,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalState {
    /// Git's folder, or the project root; absolute, without links.
    base: PathBuf,
    common_base: PathBuf,
    below: PathBuf,
    /// Relative to the top of git's work tree.
    project: PathBuf,
    is_in_git: bool,
}

impl LocalState {
    /// `root` must be absolute and without links. Creates nothing.
    pub(crate) fn of(root: &Path) -> Self {
        GitFolders::around(root).map_or_else(|| Self::without_git(root), |git| Self::in_git(git, root))
    }

    pub(crate) fn in_git(git: GitFolders, root: &Path) -> Self {
        let project = root.strip_prefix(&git.top).unwrap_or(root).to_owned();
        Self { base: git.own, common_base: git.common, below: below_git(&project), project, is_in_git: true }
    }

    pub(crate) fn without_git(root: &Path) -> Self {
        Self {
            base: root.to_owned(),
            common_base: root.to_owned(),
            below: PathBuf::from(PLAIN_FOLDER),
            project: PathBuf::new(),
            is_in_git: false,
        }
    }

    /// False if it is among the project's files.
    pub const fn is_in_git(&self) -> bool {
        self.is_in_git
    }

    /// `place` must be absolute and without links.
    pub(crate) fn is_git_folder(&self, place: &Path) -> bool {
        let is_below = |base: &Path| place.starts_with(base);
        let is_shared = || self.common_base != self.base && is_below(&self.common_base);
        self.is_in_git && (is_below(&self.base) || is_shared())
    }

    /// Unchecked and possibly missing: for messages and watching.
    pub fn path(&self, folder: StateFolder) -> PathBuf {
        let (base, name) = self.parts(folder);
        let top = base.join(&self.below);
        if name.is_empty() { top } else { top.join(name) }
    }

    /// Checked for reading and writing; may be missing.
    pub fn folder(&self, folder: StateFolder) -> Result<PathBuf, Error> {
        let (base, name) = self.parts(folder);
        let mut place = base.to_owned();
        for part in self.below.iter().chain(Path::new(name)) {
            place.push(part);
            if !check(&place, !self.is_in_git)? {
                break;
            }
        }
        Ok(self.path(folder))
    }

    /// Readable by this user alone.
    pub fn make(&self, folder: StateFolder) -> Result<PathBuf, Error> {
        let place = self.folder(folder)?;
        let (base, _) = self.parts(folder);
        // Another user's checkout, which git does not trust: its history is in its repository.
        let git = base.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists());
        if let Some(place) = git.filter(|_| !self.is_in_git && !is_own(base)) {
            return Err(foreign_owner(&place));
        }
        let state = base.join(&self.below);
        // The ignore file comes before the folder, whose presence means that all is done: a process killed
        // here leaves it to the next.
        let make = || {
            if self.is_in_git && !state.is_dir() {
                exclude_temporary_files(&self.common_base)?;
            }
            make_private(&state)?;
            self.keep_out_of_git(&state)?;
            make_private(&place)
        };
        make().map_err(|source| {
            let message = format!(
                "cannot make the folder `{}` for the state of this clone: allow writing there, and run the command \
                 again",
                place.display()
            );
            Error::io(message, source)
        })?;
        Ok(place)
    }

    fn keep_out_of_git(&self, state: &Path) -> io::Result<()> {
        let ignore = state.join(".gitignore");
        let is_there = fs::symlink_metadata(&ignore).is_ok_and(|found| found.len() > 0);
        if self.is_in_git || is_there { Ok(()) } else { fs::write(&ignore, "*\n") }
    }

    /// The parent of this work tree's folders; with `is_common`, of the shared ones.
    #[cfg(feature = "write")]
    pub(crate) fn top(&self, is_common: bool) -> PathBuf {
        let base = if is_common { &self.common_base } else { &self.base };
        base.join(&self.below)
    }

    fn parts(&self, folder: StateFolder) -> (&Path, &'static str) {
        match folder {
            StateFolder::Journal => (&self.common_base, "journal"),
            StateFolder::SealedCopies => (&self.common_base, "sealed"),
            StateFolder::Leases => (&self.common_base, "leases"),
            StateFolder::Sync => (&self.common_base, ""),
            StateFolder::Redo => (&self.base, "redo"),
            StateFolder::RedoAside => (&self.base, "redo-aside"),
            StateFolder::Locks => (&self.base, "locks"),
            StateFolder::Projections => (&self.base, "projections"),
            StateFolder::Proposals => (&self.base, "proposals"),
            StateFolder::Signals => (&self.common_base, "signals"),
            StateFolder::Cache => (&self.base, "cache"),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = error.detail().map_or(io::ErrorKind::Other, Self::kind);
        Self::new(kind, error)
    }
}

/// Covers those of killed processes (gitignore(5), "info/exclude").
fn exclude_temporary_files(git: &Path) -> io::Result<()> {
    let place = git.join("info/exclude");
    let before = match fs::read_to_string(&place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        // Anything else there is the user's.
        Err(_) => return Ok(()),
        Ok(text) => text,
    };
    let missing: String = EXCLUDED
        .iter()
        .filter(|line| !before.lines().any(|known| known == **line))
        .map(|line| format!("{line}\n"))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(git.join("info"))?;
    let separator = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let mut file = fs::OpenOptions::new().append(true).create(true).open(place)?;
    file.write_all(format!("{separator}{missing}").as_bytes())
}

fn below_git(inside: &Path) -> PathBuf {
    let folder = PathBuf::from(GIT_FOLDER);
    if inside.as_os_str().is_empty() {
        return folder;
    }
    let mut digits = FileHash::of(inside.as_os_str().as_encoded_bytes()).to_string();
    digits.truncate(16);
    folder.join(PROJECTS).join(digits)
}

fn foreign_owner(place: &Path) -> Error {
    let message = format!(
        "`{}` belongs to another user, so it is not used as the state of this clone: give it to this user (it may hold \
         history that stands nowhere else), or in a repository of git tell git to trust it, `git config --global --add \
         safe.directory FOLDER`, and run the command again",
        place.display()
    );
    Error::new(ErrorKind::Io, message)
}

/// True if `place` exists; then it must be a folder, and with `is_private` this user's.
fn check(place: &Path, is_private: bool) -> Result<bool, Error> {
    match fs::symlink_metadata(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => {
            let place = place.display();
            let message = format!("cannot look at `{place}`, where the state of this clone stands");
            Err(Error::io(message, source))
        }
        Ok(found) if !found.is_dir() => {
            let message = format!(
                "`{}` is a link or no folder, so what it leads to is not used as the state of this clone: remove it, \
                 and run the command again",
                place.display()
            );
            Err(Error::new(ErrorKind::Io, message))
        }
        Ok(_) if is_private && !is_own(place) => Err(foreign_owner(place)),
        Ok(_) => Ok(true),
    }
}

fn make_private(place: &Path) -> io::Result<()> {
    if place.is_dir() {
        return Ok(());
    }
    if let Some(parent) = place.parent() {
        // `.stepmark` is shared with everybody who reads the project.
        fs::create_dir_all(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(place) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let place = fs::canonicalize(folder.path()).unwrap();
        (folder, place)
    }

    fn make_repository(top: &Path) {
        for folder in [".git/objects", ".git/refs"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        fs::write(top.join(".git/HEAD"), "").unwrap();
    }

    #[test]
    fn stands_in_gits_folder_for_each_project_apart() {
        let (_folder, top) = scratch();
        make_repository(&top);
        let state = LocalState::of(&top);
        assert_eq!(state.path(StateFolder::Redo), top.join(".git/stepmark/redo"));
        let below = LocalState::of(&top.join("packages/one"));
        let other = LocalState::of(&top.join("packages/two"));
        assert!(below.path(StateFolder::Redo).starts_with(top.join(".git/stepmark/projects")));
        assert_ne!(below, other);
        assert_eq!(state.make(StateFolder::Leases).unwrap(), top.join(".git/stepmark/leases"));
        assert!(!top.join(".stepmark").exists());
        other.make(StateFolder::Locks).unwrap();
        let excluded = fs::read_to_string(top.join(".git/info/exclude")).unwrap();
        assert_eq!(excluded, EXCLUDED.map(|line| format!("{line}\n")).concat(), "once");
    }

    #[cfg(unix)]
    #[test]
    fn without_git_it_is_for_this_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, top) = scratch();
        let place = LocalState::of(&top).make(StateFolder::Locks).unwrap();
        assert_eq!(place, top.join(".stepmark/local/locks"));
        let mode = fs::metadata(top.join(".stepmark/local")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(fs::read(top.join(".stepmark/local/.gitignore")).unwrap(), b"*\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_its_place_is_refused() {
        for link in [".stepmark", ".stepmark/local", ".stepmark/local/redo"] {
            let ((_folder, top), (_elsewhere, outside)) = (scratch(), scratch());
            fs::create_dir_all(top.join(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&outside, top.join(link)).unwrap();
            let state = LocalState::of(&top);
            let refused = state.folder(StateFolder::Redo).unwrap_err();
            assert!(refused.to_string().starts_with(&format!("`{}` is a link", top.join(link).display())));
            assert!(state.make(StateFolder::Redo).is_err());
            assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        }
    }
}
