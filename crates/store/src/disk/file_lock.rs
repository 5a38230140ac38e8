//! Advisory locks on open files (flock(2)), retried after signals.
#![expect(clippy::disallowed_methods, reason = "an edge module: the clock bounds the wait for a lock")]

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

/// Doubled after each attempt, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_micros(200);

/// Short against a commit (two flushes, about 10 ms), so that a free lock is taken soon.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_millis(4);

pub fn exclusive(file: &File) -> io::Result<()> {
    uninterrupted(|| file.lock())
}

pub fn try_exclusive(file: &File) -> Result<(), TryLockError> {
    try_uninterrupted(|| file.try_lock())
}

/// Polls, since the standard library has no timed lock.
pub fn exclusive_within(file: &File, timeout: Duration) -> Result<(), TryLockError> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match try_exclusive(file) {
            Err(TryLockError::WouldBlock) => {}
            answer => return answer,
        }
        let left = timeout.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Err(TryLockError::WouldBlock);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Releases the lock explicitly: a child process being started by another thread may have the file open, and
/// closing alone would leave the lock to it.
pub fn is_free(file: &File) -> bool {
    try_uninterrupted(|| file.try_lock_shared()).is_ok() && file.unlock().is_ok()
}

fn try_uninterrupted(call: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    loop {
        match call() {
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// Retries a system call after `EINTR`. The standard library does that for opening, reading, writing,
/// flushing and truncating, but not for locks and folders.
pub(crate) fn uninterrupted<T>(call: impl Fn() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// Sorted; empty if it is missing. Skips names that are not UTF-8, which are never stepmark's.
pub(crate) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match uninterrupted(|| fs::read_dir(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

/// Like `names_in`; also empty if a file is in place of the folder or of one above it.
pub(crate) fn names_in_place(folder: &Path) -> io::Result<Vec<String>> {
    match names_in(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(Vec::new()),
        names => names,
    }
}

/// In bytes, for `.git` and `commondir` files; Linux paths have at most 4,096.
const POINTER_LIMIT: u64 = 8 * 1024;

/// The git repository's folders (gitrepository-layout(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitFolders {
    pub(crate) top: PathBuf,
    /// `.git`, or `.git/worktrees/NAME` of a linked work tree.
    pub(crate) own: PathBuf,
    /// Shared by all work trees: the main repository's.
    pub(crate) common: PathBuf,
}

impl GitFolders {
    /// The repository around `folder` (absolute, without links). Only `.git` counts, a name that git never
    /// checks out: neither a bare repository among the files nor the environment can name another one.
    /// Another user's repository does not count, as for git (`safe.directory`).
    pub(crate) fn around(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::of_top)
    }

    fn of_top(top: &Path) -> Option<Self> {
        let place = top.join(".git");
        let found = fs::metadata(&place).ok()?;
        let own = if found.is_dir() {
            fs::canonicalize(&place).ok()?
        } else {
            let target = pointer(&place, "gitdir: ")?;
            fs::canonicalize(top.join(target)).ok()?
        };
        let common = match pointer(&own.join("commondir"), "") {
            Some(common) => fs::canonicalize(own.join(common)).ok()?,
            None => own.clone(),
        };
        let is_repository =
            own.join("HEAD").is_file() && common.join("objects").is_dir() && common.join("refs").is_dir();
        // In a shared folder anybody can create a `.git` that points to this user's repository.
        let is_trusted = || is_own(&place) && is_own(&common) || is_safe(top);
        (is_repository && is_trusted()).then(|| Self { top: top.to_owned(), own, common })
    }
}

fn pointer(place: &Path, prefix: &str) -> Option<String> {
    let found = fs::metadata(place).ok()?;
    if !found.is_file() || found.len() > POINTER_LIMIT {
        return None;
    }
    let text = fs::read_to_string(place).ok()?;
    let path = text.trim_end_matches(['\n', '\r']).strip_prefix(prefix)?;
    (!path.is_empty()).then(|| path.to_owned())
}

#[cfg(unix)]
pub(crate) fn is_own(place: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(place).is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw())
}

/// True if `safe.directory` of the user, system or environment (not of a repository) trusts `top`
/// (git-config(1)).
fn is_safe(top: &Path) -> bool {
    static NAMED: OnceLock<Vec<String>> = OnceLock::new();
    let named = NAMED.get_or_init(|| {
        let arguments = ["config", "--show-scope", "--get-all", "safe.directory"];
        let mut git = Command::new("git");
        let printed =
            git.args(arguments).current_dir("/").env_remove("GIT_DIR").stdin(Stdio::null()).output();
        let printed = printed.map(|output| output.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&printed).into_owned();
        let scoped = text.lines().filter_map(|line| line.split_once('\t'));
        let of_user = scoped.filter(|(scope, _)| !matches!(*scope, "local" | "worktree"));
        of_user.map(|(_, name)| name.to_owned()).collect()
    });
    // An empty value resets the list.
    let counted = named.rsplit(String::is_empty).next().unwrap_or_default();
    counted.iter().any(|name| {
        let is_below = |folder: &str| top.starts_with(folder);
        name == "*" || Path::new(name) == top || name.strip_suffix("/*").is_some_and(is_below)
    })
}

/// Other systems have no such owner.
#[cfg(not(unix))]
pub(crate) fn is_own(_place: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn who_only_asks_keeps_nobody_out() {
        let asked = tempfile::NamedTempFile::new().unwrap();
        let other = || File::open(asked.path()).unwrap();
        let file = other();
        let of_a_started_program = file.try_clone().unwrap();
        assert!(is_free(&file));
        drop(file);
        let holder = other();
        try_exclusive(&holder).unwrap();
        assert!(!is_free(&of_a_started_program));
    }

    #[test]
    fn an_interruption_is_no_answer() {
        let calls = Cell::new(0);
        let interrupted = |answer: fn() -> io::Result<()>| {
            calls.set(calls.get() + 1);
            if calls.get() % 3 == 0 { answer() } else { Err(io::ErrorKind::Interrupted.into()) }
        };
        let refused = || Err(io::ErrorKind::Unsupported.into());
        assert!(uninterrupted(|| interrupted(|| Ok(()))).is_ok());
        assert_eq!(uninterrupted(|| interrupted(refused)).unwrap_err().kind(), io::ErrorKind::Unsupported);
        let tried = |answer| try_uninterrupted(|| interrupted(answer).map_err(TryLockError::Error));
        assert!(tried(|| Ok(())).is_ok());
        assert!(
            matches!(tried(refused), Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported)
        );
        assert_eq!(calls.get(), 12);
        assert!(matches!(try_uninterrupted(|| Err(TryLockError::WouldBlock)), Err(TryLockError::WouldBlock)));
    }
}

#[cfg(test)]
mod git_folders_tests {
    use super::*;

    fn make_repository(place: &Path) {
        for folder in ["objects", "refs"] {
            fs::create_dir_all(place.join(folder)).unwrap();
        }
        fs::write(place.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let place = fs::canonicalize(folder.path()).unwrap();
        (folder, place)
    }

    #[test]
    fn finds_the_repository_around_a_folder() {
        let (_folder, place) = scratch();
        let deep = place.join("top/a/b");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(GitFolders::around(&deep), None);
        let own = place.join("top/.git");
        make_repository(&own);
        let found = GitFolders { top: place.join("top"), own: own.clone(), common: own };
        assert_eq!(GitFolders::around(&deep), Some(found.clone()));
        fs::create_dir(deep.join(".git")).unwrap();
        assert_eq!(GitFolders::around(&deep), Some(found), "a folder of that name is no repository");
    }

    #[test]
    fn a_linked_work_tree_shares_the_main_repository() {
        let (_folder, place) = scratch();
        let (main, own) = (place.join("main/.git"), place.join("main/.git/worktrees/other"));
        make_repository(&main);
        let top = place.join("other");
        for folder in [&own, &top] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(own.join("HEAD"), "ref: refs/heads/other\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(top.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        assert_eq!(GitFolders::around(&top), Some(GitFolders { top: top.clone(), own, common: main }));
        fs::write(top.join(".git"), "gitdir: ../absent\n").unwrap();
        assert_eq!(GitFolders::around(&top), None);
    }

    #[test]
    fn a_bare_repository_among_the_files_does_not_count() {
        let (_folder, place) = scratch();
        make_repository(&place.join("bare"));
        assert_eq!(GitFolders::around(&place.join("bare")), None);
    }
}
