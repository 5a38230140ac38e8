//! A cache brought up to date after a run.
#![expect(clippy::disallowed_methods, reason = "an edge module: the cache file is written here")]

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    process,
};

use super::{FileStat, RunStart, StatCache, format::Writer};
use crate::document::FileHash;

/// What a run learned about the files of one folder, or of a part of it.
#[derive(Debug, Default)]
pub(crate) struct FolderRenewal {
    path: String,
    /// Entries of the earlier cache whose files are still there and were not hashed again.
    kept: Vec<usize>,
    fresh: Vec<Fresh>,
}

#[derive(Debug)]
struct Fresh {
    name: String,
    stat: FileStat,
    hash: FileHash,
}

impl FolderRenewal {
    pub(crate) fn new(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// The entry stays as it is.
    pub(crate) fn keep(&mut self, entry: usize) {
        self.kept.push(entry);
    }

    /// The file was hashed; `stat` was taken before that.
    pub(crate) fn hashed(&mut self, name: &str, stat: FileStat, hash: FileHash) {
        self.fresh.push(Fresh { name: name.to_owned(), stat, hash });
    }
}

/// What a run learned about all folders that it visited.
#[derive(Debug)]
pub(crate) struct Renewal<'run> {
    /// When the run began.
    pub(crate) start: RunStart,
    /// What it learned.
    pub(crate) folders: Vec<FolderRenewal>,
    /// Every folder that it listed.
    pub(crate) visited: &'run HashSet<String>,
}

/// Makes the folder of the cache, with a file that keeps it out of git in a project without `init`.
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(".gitignore"), "*\n")
}

impl Renewal<'_> {
    /// Whether a new cache would spare the next run any hashing. A file from the future, which no run can believe,
    /// does not make every run write a cache.
    pub(crate) fn is_worthwhile(&self) -> bool {
        let mut fresh = self.folders.iter().flat_map(|folder| &folder.fresh);
        fresh.any(|file| !file.stat.may_hide_a_change(self.start.moment))
    }

    /// Replaces the cache at `file` by one that holds what `earlier` held and what this run learned.
    ///
    /// The file is renamed into place but not flushed to the disk: after a loss of power a torn one is recognised by
    /// its digest and ignored.
    pub(crate) fn write(self, earlier: Option<&StatCache>, file: &Path) -> io::Result<()> {
        let start = self.start;
        let Some(writer) = self.merged(earlier) else {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too many names for one cache"));
        };
        if let Some(folder) = file.parent().filter(|folder| !folder.is_dir()) {
            make_folder(folder)?;
        }
        let staged = file.with_extension(format!("{}.tmp", process::id()));
        let written = File::create(&staged)
            .and_then(|mut target| target.write_all(&writer.finish(start.hashing())))
            .and_then(|()| fs::rename(&staged, file));
        if written.is_err() {
            // What went wrong is told; that the remains could not be removed either adds nothing.
            fs::remove_file(&staged).ok();
        }
        written
    }

    fn merged(mut self, earlier: Option<&StatCache>) -> Option<Writer> {
        self.keep_unvisited(earlier);
        self.folders.sort_by(|one, other| one.path.cmp(&other.path));
        let mut writer = Writer::default();
        for parts in self.folders.chunk_by(|one, other| one.path == other.path) {
            let mut entries: Vec<(&[u8], FileStat, FileHash)> = Vec::new();
            for part in parts {
                let fresh = part.fresh.iter().map(|file| (file.name.as_bytes(), file.stat, file.hash));
                entries.extend(fresh);
                if let Some(cache) = earlier {
                    let kept = part.kept.iter().map(|entry| {
                        (cache.name(*entry), cache.bytes.stat(*entry), cache.bytes.hash(*entry))
                    });
                    // Under the later beginning of the new cache, an entry would be believed that could not be before.
                    entries.extend(kept.filter(|(_, stat, _)| !stat.may_hide_a_change(cache.hashing_began)));
                }
            }
            entries.sort_unstable_by(|one, other| one.0.cmp(other.0));
            entries.dedup_by(|next, kept| next.0 == kept.0);
            if let Some(first) = parts.first() {
                writer.folder(first.path.as_bytes(), entries.len())?;
            }
            for (name, stat, hash) in entries {
                writer.entry(name, &stat, &hash)?;
            }
        }
        Some(writer)
    }

    /// Keeps the folders that this run did not visit (it may have had another scope), unless they have come to be more
    /// than what it did visit: then they are most likely gone.
    fn keep_unvisited(&mut self, earlier: Option<&StatCache>) {
        let Some(cache) = earlier else {
            return;
        };
        let visited: usize = self.folders.iter().map(|folder| folder.kept.len() + folder.fresh.len()).sum();
        let mut unvisited = Vec::new();
        for folder in 0..cache.bytes.folders() {
            let Ok(path) = std::str::from_utf8(cache.bytes.path(folder)) else {
                continue;
            };
            if !self.visited.contains(path) {
                let (first, end) = cache.bytes.entries(folder);
                unvisited.push(FolderRenewal { kept: (first..end).collect(), ..FolderRenewal::new(path) });
            }
        }
        if unvisited.iter().map(|folder| folder.kept.len()).sum::<usize>() <= visited {
            self.folders.append(&mut unvisited);
        }
    }
}
