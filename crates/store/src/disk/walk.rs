//! A parallel walk below a root.

use std::{
    collections::HashSet,
    io,
    num::NonZero,
    ops::Range,
    panic,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use crate::Error;
use crate::disk::folder::{EntryKind, Folder};
use ignore::{WalkBuilder, WalkState};

const PIECE: usize = 2048;

/// Processes the files of folders; every thread has its own.
pub(crate) trait Visitor: Send {
    /// `places` is a part of the folder's indices, in order.
    fn visit(&mut self, folder: &Folder, places: Range<usize>);
}

#[derive(Debug)]
pub(crate) struct Walked<V> {
    pub(crate) visitors: Vec<V>,
    /// Relative to the root (the empty path), unordered.
    pub(crate) folders: Vec<String>,
    /// Unordered.
    pub(crate) problems: Vec<WalkProblem>,
}

/// A place that a walk skipped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalkProblem {
    /// Relative to the root, with `/`; invalid UTF-8 becomes U+FFFD.
    pub path: String,
    pub kind: WalkProblemKind,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum WalkProblemKind {
    #[error("the folder cannot be read: {reason}")]
    ClosedFolder { reason: String },
    /// Not UTF-8; no manifest can hold it.
    #[error("the name is not UTF-8, so no manifest can list it")]
    NameNotUtf8,
    /// A symbolic link to a folder: not entered, so links cannot form loops.
    #[error("a link to a folder is not followed")]
    LinkedFolder,
    #[error("the link leads to no file: {reason}")]
    BrokenLink { reason: String },
}

/// Uses one thread a processor. `enters` decides on each folder or link, and must accept finitely many links.
pub(crate) fn walk<V: Visitor>(
    root: &Path,
    enters: &(dyn Fn(&str, EntryKind) -> bool + Sync),
    new_visitor: &(dyn Fn() -> V + Sync),
) -> Result<Walked<V>, Error> {
    let first = Folder::open(root, String::new()).map_err(|source| {
        let message =
            format!("cannot list the files of `{}`: name a folder that can be read", root.display());
        Error::io(message, source)
    })?;
    let walk = Walk { root, enters, queue: Queue::default() };
    walk.queue.push(Job::Visit(Arc::new(first)));
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let parts = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| walk.work(new_visitor()))).collect();
        let mut parts = vec![walk.work(new_visitor())];
        for thread in others {
            parts.push(thread.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)));
        }
        parts
    });
    let mut walked = Walked { visitors: Vec::new(), folders: Vec::new(), problems: Vec::new() };
    for part in parts {
        walked.visitors.extend(part.visitors);
        walked.folders.extend(part.folders);
        walked.problems.extend(part.problems);
    }
    Ok(walked)
}

struct Walk<'a> {
    root: &'a Path,
    enters: &'a (dyn Fn(&str, EntryKind) -> bool + Sync),
    queue: Queue,
}

enum Job {
    Open(String),
    Visit(Arc<Folder>),
    Piece(Arc<Folder>, Range<usize>),
}

impl Walk<'_> {
    fn work<V: Visitor>(&self, mut visitor: V) -> Walked<V> {
        let mut walked = Walked { visitors: Vec::new(), folders: Vec::new(), problems: Vec::new() };
        while let Some(taken) = self.queue.take() {
            match taken.job {
                Job::Open(path) => match Folder::open(self.root, path.clone()) {
                    Ok(folder) => self.enter(folder.into(), &mut visitor, &mut walked),
                    // Gone since its name was read.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => {
                        let kind = WalkProblemKind::ClosedFolder { reason: error.to_string() };
                        walked.problems.push(WalkProblem { path, kind });
                    }
                },
                Job::Visit(folder) => self.enter(folder, &mut visitor, &mut walked),
                Job::Piece(folder, places) => visitor.visit(&folder, places),
            }
        }
        walked.visitors.push(visitor);
        walked
    }

    fn enter<V: Visitor>(&self, folder: Arc<Folder>, visitor: &mut V, walked: &mut Walked<V>) {
        for name in folder.names_not_utf8() {
            let path = folder.path_of(name);
            walked.problems.push(WalkProblem { path, kind: WalkProblemKind::NameNotUtf8 });
        }
        for place in 0..folder.len() {
            let kind = folder.kind(place);
            if matches!(kind, EntryKind::Folder | EntryKind::Link) {
                let path = folder.path_of(folder.name(place));
                if (self.enters)(&path, kind) {
                    self.queue.push(Job::Open(path));
                }
            }
        }
        walked.folders.push(folder.path().to_owned());
        let mut end = folder.len();
        while end > PIECE {
            let start = (end - 1) / PIECE * PIECE;
            self.queue.push(Job::Piece(Arc::clone(&folder), start..end));
            end = start;
        }
        visitor.visit(&folder, 0..end);
    }
}

/// Last in, first out, so that few folders are open at once.
#[derive(Default)]
struct Queue {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: Vec<Job>,
    /// Running jobs may push others.
    running: usize,
}

struct Taken<'queue> {
    job: Job,
    _running: Running<'queue>,
}

struct Running<'queue>(&'queue Queue);

impl Queue {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        // A panic leaves the list whole, so a poisoned lock is valid.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job) {
        self.jobs().waiting.push(job);
        self.changed.notify_one();
    }

    /// Waits while running jobs may push more; `None` when all are done.
    fn take(&self) -> Option<Taken<'_>> {
        let mut jobs = self.jobs();
        loop {
            if let Some(job) = jobs.waiting.pop() {
                jobs.running += 1;
                return Some(Taken { job, _running: Running(self) });
            }
            if jobs.running == 0 {
                return None;
            }
            jobs = self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut jobs = self.0.jobs();
        jobs.running -= 1;
        if jobs.running == 0 {
            self.0.changed.notify_all();
        }
    }
}

/// Files and folders that git's ignore files, `.ignore` included, do not exclude; relative to the root, with
/// `/`. Hidden files are not ignored as such.
#[derive(Debug, Default)]
pub(crate) struct Unignored {
    paths: HashSet<String>,
}

impl Unignored {
    /// Skips the unreadable, which the walk itself reports.
    pub(crate) fn below(root: &Path) -> Self {
        let all = Mutex::new(HashSet::new());
        let walk = WalkBuilder::new(root).hidden(false).require_git(false).build_parallel();
        walk.run(|| {
            let mut found = Batch { all: &all, paths: Vec::new() };
            Box::new(move |entry| {
                let path = entry
                    .ok()
                    .and_then(|entry| Some(entry.path().strip_prefix(root).ok()?.to_str()?.to_owned()));
                found.paths.extend(path.map(with_slashes));
                WalkState::Continue
            })
        });
        Self { paths: all.into_inner().unwrap_or_else(PoisonError::into_inner) }
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.paths.contains(path)
    }
}

/// One thread's paths, handed over at its end.
struct Batch<'all> {
    all: &'all Mutex<HashSet<String>>,
    paths: Vec<String>,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).extend(self.paths.drain(..));
    }
}

fn with_slashes(path: String) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests make the folders that they walk")]
mod tests {
    use std::fs;

    use super::*;

    #[derive(Debug, Default)]
    struct Names(Vec<String>);

    impl Visitor for Names {
        fn visit(&mut self, folder: &Folder, places: Range<usize>) {
            self.0.extend(places.map(|place| folder.path_of(folder.name(place))));
        }
    }

    fn names(walked: &Walked<Names>) -> Vec<&str> {
        let mut names: Vec<_> =
            walked.visitors.iter().flat_map(|visitor| &visitor.0).map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    const FOLDERS_ONLY: fn(&str, EntryKind) -> bool = |_, kind| kind == EntryKind::Folder;

    #[test]
    fn visits_every_name_once_however_many_a_folder_holds() {
        let root = tempfile::tempdir().unwrap();
        let mut made = vec!["a".to_owned(), "a/b".to_owned(), "skipped".to_owned()];
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::create_dir_all(root.path().join("skipped/below")).unwrap();
        for number in 0..2 * PIECE + 5 {
            let name = format!("a/b/{number}.md");
            fs::write(root.path().join(&name), "").unwrap();
            made.push(name);
        }
        made.sort_unstable();
        let enters = |path: &str, kind| kind == EntryKind::Folder && path != "skipped";
        let mut walked = walk(root.path(), &enters, &Names::default).unwrap();
        assert_eq!(names(&walked), made);
        walked.folders.sort_unstable();
        assert_eq!(walked.folders, ["", "a", "a/b"]);
        assert_eq!(walked.problems, []);
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_walked_is_told_and_stops_nothing() {
        use std::{
            ffi::OsStr,
            os::unix::{ffi::OsStrExt, fs::symlink},
        };
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/x.md"), "").unwrap();
        symlink("..", root.path().join("a/up")).unwrap();
        symlink("loop", root.path().join("loop")).unwrap();
        // Not every file system takes such a name.
        let odd_name = fs::write(root.path().join("a").join(OsStr::from_bytes(b"\xFF.md")), "").is_ok();
        // A link that is let in, as if something were listed below it: this one is a loop, so it cannot be
        // opened.
        let enters = |path: &str, kind| kind == EntryKind::Folder || path == "loop";
        let mut walked = walk(root.path(), &enters, &Names::default).unwrap();
        assert_eq!(names(&walked), ["a", "a/up", "a/x.md", "loop"]);
        walked.problems.sort();
        let problems: Vec<_> = walked.problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(problems, if odd_name { vec!["a/\u{FFFD}.md", "loop"] } else { vec!["loop"] });
        assert!(matches!(walked.problems.last().unwrap().kind, WalkProblemKind::ClosedFolder { .. }));
    }

    #[test]
    fn a_root_that_cannot_be_listed_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let error = walk(&root.path().join("absent"), &FOLDERS_ONLY, &Names::default).unwrap_err();
        assert!(error.to_string().contains("absent"), "{error}");
    }

    #[test]
    fn a_visitor_that_panics_does_not_hang_the_others() {
        struct Panics;
        impl Visitor for Panics {
            fn visit(&mut self, _: &Folder, _: Range<usize>) {
                panic!("on purpose");
            }
        }
        let root = tempfile::tempdir().unwrap();
        let path = root.path().to_owned();
        let walked = thread::spawn(move || walk(&path, &FOLDERS_ONLY, &|| Panics).map(|_| ()));
        assert!(walked.join().is_err());
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the folder that it walks")]
mod ignore_files_tests {
    use std::fs;

    use super::*;

    #[test]
    fn ignore_files_of_every_level_count() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".gitignore", "*.log\nbuild/\n");
        write("docs/.ignore", "draft.md\n!keep.log\n");
        for path in ["a.log", "a.md", "build/x.md", "docs/draft.md", "docs/keep.log", "docs/.hidden.md"] {
            write(path, "");
        }
        let left = Unignored::below(root.path());
        for (path, expected) in [
            ("a.log", false),
            ("a.md", true),
            ("build", false),
            ("build/x.md", false),
            ("docs", true),
            ("docs/draft.md", false),
            ("docs/keep.log", true),
            ("docs/.hidden.md", true),
        ] {
            assert_eq!(left.contains(path), expected, "{path}");
        }
    }
}
