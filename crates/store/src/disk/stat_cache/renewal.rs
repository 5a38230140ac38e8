//! Updating a cache after a run.
#![expect(clippy::disallowed_methods, reason = "an edge module: the cache file is written here")]

use std::{collections::HashSet, fs, io, ops::Range, path::Path};

use crate::disk::file_reading;
use crate::disk::listed_files::{FolderRows, ListedFiles};
use crate::disk::{
    stat_cache::FileStat, stat_cache::RunStart, stat_cache::StatCache, stat_cache::format::ManifestKey,
    stat_cache::format::Mark, stat_cache::writer::Writer,
};
use stepmark_model::artifact::FileHash;

#[derive(Debug, Default)]
pub(crate) struct FolderRenewal {
    path: String,
    /// Earlier entries whose files still exist and were not hashed again.
    kept: Vec<Range<usize>>,
    fresh: Vec<Fresh>,
}

#[derive(Debug)]
struct Fresh {
    name: String,
    stat: FileStat,
    hash: FileHash,
    note: Vec<u8>,
}

impl FolderRenewal {
    pub(crate) fn new(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    pub(crate) fn keep(&mut self, entry: usize) {
        match self.kept.last_mut() {
            Some(range) if range.end == entry => range.end += 1,
            _ => self.kept.push(entry..entry + 1),
        }
    }

    /// `stat` is from before the file was hashed.
    pub(crate) fn hashed(&mut self, name: &str, stat: FileStat, hash: FileHash) {
        self.noted(name, stat, hash, Vec::new());
    }

    pub(crate) fn noted(&mut self, name: &str, stat: FileStat, hash: FileHash, note: Vec<u8>) {
        self.fresh.push(Fresh { name: name.to_owned(), stat, hash, note });
    }
}

impl FolderRenewal {
    fn kept(&self) -> usize {
        self.kept.iter().map(Range::len).sum()
    }

    fn fresh(&self) -> impl Iterator<Item = Entry<'_>> {
        self.fresh.iter().map(|file| Entry {
            name: file.name.as_bytes(),
            stat: file.stat,
            hash: file.hash,
            mark: Mark::Unlisted,
            note: &file.note,
        })
    }

    fn kept_entries<'run>(&'run self, earlier: Option<&'run StatCache>) -> impl Iterator<Item = Entry<'run>> {
        earlier.into_iter().flat_map(|cache| {
            self.kept.iter().cloned().flatten().filter_map(|entry| {
                let stat = cache.bytes.stat(entry);
                // The new cache begins later, so an entry that was not valid would become so.
                let is_believed = !stat.may_hide_a_change(cache.hashing_began);
                let (name, hash) = (cache.name(entry), cache.bytes.hash(entry));
                let note = cache.note(entry);
                is_believed.then_some(Entry { name, stat, hash, mark: Mark::Unlisted, note })
            })
        })
    }
}

/// Marks the entries of `listed` files; both are in name order. A file with another hash than the listed one,
/// or without entry, gets one of its own after it.
fn mark_listed<'run>(entries: &mut Vec<Entry<'run>>, listed: FolderRows<'run>) {
    const NO_HASH: FileHash = FileHash::from_digest([0; 32]);
    let (known, mut place) = (entries.len(), 0);
    for file in listed {
        while place < known && entries[place].name < file.name {
            place += 1;
        }
        let mark = if file.hash.is_some() { Mark::Listed } else { Mark::ListedUnhashed };
        let is_same = |entry: &&mut Entry<'_>| {
            entry.name == file.name && file.hash.is_none_or(|hash| hash == entry.hash)
        };
        match entries[..known].get_mut(place).filter(is_same) {
            Some(entry) => entry.mark = mark,
            None => {
                let hash = file.hash.unwrap_or(NO_HASH);
                entries.push(Entry { name: file.name, stat: FileStat::NONE, hash, mark, note: &[] });
            }
        }
    }
    if entries.len() > known {
        // Stable: of one name, the entry with a stat stays first.
        entries.sort_by(|one, other| one.name.cmp(other.name));
    }
}

#[derive(Debug)]
pub(crate) struct Renewal<'run> {
    pub(crate) start: RunStart,
    pub(crate) folders: Vec<FolderRenewal>,
    pub(crate) visited: &'run HashSet<String>,
    pub(crate) manifest: Option<ReadManifest<'run>>,
    /// Shared by all notes: the earlier cache's, extended if notes of that are kept.
    pub(crate) shared: &'run [u8],
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadManifest<'run> {
    /// From before it was read.
    pub(crate) key: ManifestKey,
    /// Complete: a manifest with oddities is not remembered, since they are reported in every run.
    pub(crate) files: &'run ListedFiles<'run>,
}

struct Entry<'run> {
    name: &'run [u8],
    stat: FileStat,
    hash: FileHash,
    mark: Mark,
    note: &'run [u8],
}

/// Includes an ignore file, for projects without `init`.
fn make_folder(folder: &Path) -> io::Result<()> {
    // `.stepmark` is for everybody who reads the project; folders below it are this user's alone.
    if let Some(shared) = folder.ancestors().nth(2) {
        fs::create_dir_all(shared)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    fs::write(folder.join(".gitignore"), "*\n")
}

impl Renewal<'_> {
    /// True if a new cache would save hashing or reading; a file with a future time alone is no reason.
    pub(crate) fn is_worthwhile(&self, earlier: Option<&StatCache>) -> bool {
        let moment = self.start.moment;
        let mut fresh = self.folders.iter().flat_map(|folder| &folder.fresh);
        let is_news = |manifest: ReadManifest<'_>| {
            !manifest.key.stat.may_hide_a_change(moment)
                && !earlier.is_some_and(|cache| cache.remembers(&manifest.key))
        };
        fresh.any(|file| !file.stat.may_hide_a_change(moment)) || self.manifest.is_some_and(is_news)
    }

    /// Writes `earlier` merged with this run; a torn cache is recognised by its digest.
    pub(crate) fn write(self, earlier: Option<&StatCache>, file: &Path) -> io::Result<()> {
        let (start, manifest) =
            (self.start, self.manifest.map_or(ManifestKey::NONE, |manifest| manifest.key));
        let Some(writer) = self.merged(earlier) else {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too many names for one cache"));
        };
        if let Some(folder) = file.parent().filter(|folder| !folder.is_dir()) {
            make_folder(folder)?;
        }
        file_reading::replace(file, &writer.finish(start.hashing(), manifest))
    }

    fn merged(mut self, earlier: Option<&StatCache>) -> Option<Writer> {
        self.keep_unvisited(earlier);
        self.add_listed();
        self.folders.sort_by(|one, other| one.path.cmp(&other.path));
        let mut writer = Writer::new();
        for parts in self.folders.chunk_by(|one, other| one.path == other.path) {
            let fresh = parts.iter().flat_map(FolderRenewal::fresh);
            let kept = parts.iter().flat_map(|part| part.kept_entries(earlier));
            let mut entries: Vec<Entry<'_>> = fresh.chain(kept).collect();
            // Stable: of a file kept first and read later, the fresh entry counts.
            entries.sort_by(|one, other| one.name.cmp(other.name));
            entries.dedup_by(|later, first| later.name == first.name);
            let path = parts.first().map_or("", |part| &part.path);
            if let Some(manifest) = self.manifest {
                mark_listed(&mut entries, manifest.files.in_folder(path, None, None));
            }
            writer.folder(path.as_bytes(), entries.len())?;
            for Entry { name, stat, hash, mark, note } in entries {
                writer.entry(name, &stat, &hash, mark, note)?;
            }
        }
        writer.share(self.shared)?;
        Some(writer)
    }

    fn add_listed(&mut self) {
        let known: HashSet<&str> = self.folders.iter().map(|folder| &*folder.path).collect();
        let listed = self.manifest.iter().flat_map(|manifest| manifest.files.folders());
        let mut new = listed.filter(|path| !known.contains(path)).map(FolderRenewal::new).collect();
        self.folders.append(&mut new);
    }

    /// Keeps unvisited folders, unless they outnumber the visited: then they are probably gone.
    fn keep_unvisited(&mut self, earlier: Option<&StatCache>) {
        let Some(cache) = earlier else {
            return;
        };
        let visited: usize = self.folders.iter().map(|folder| folder.kept() + folder.fresh.len()).sum();
        let mut unvisited = Vec::new();
        for folder in 0..cache.bytes.folders() {
            let Ok(path) = std::str::from_utf8(cache.bytes.path(folder)) else {
                continue;
            };
            if !self.visited.contains(path) {
                let (first, end) = cache.bytes.entries(folder);
                let mut folder = FolderRenewal::new(path);
                folder.kept.push(first..end);
                unvisited.push(folder);
            }
        }
        if unvisited.iter().map(FolderRenewal::kept).sum::<usize>() <= visited {
            self.folders.append(&mut unvisited);
        }
    }
}
