//! The files that ignore files leave over.

use std::{
    collections::HashSet,
    path::Path,
    sync::{Mutex, PoisonError},
};

use ignore::{WalkBuilder, WalkState};

/// The files and folders below a root that no `.gitignore`, `.ignore`, `.git/info/exclude` or global ignore
/// file of git takes out; relative to the root, with `/`. Hidden files are not ignored for being hidden.
#[derive(Debug, Default)]
pub(crate) struct Unignored {
    paths: HashSet<String>,
}

impl Unignored {
    /// Walks below `root`. What cannot be read is left out; the walk that this is for comes past it and tells
    /// of it.
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

/// The paths that one thread found; handed over when the thread is done.
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
#[expect(clippy::disallowed_methods, reason = "the test makes the folder that it walks")]
mod tests {
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
