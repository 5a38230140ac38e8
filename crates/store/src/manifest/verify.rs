//! `manifest verify`: compares the manifest with the disk.

use std::{collections::HashSet, fs::File, io, ops::Range, panic, sync::atomic::Ordering, thread};

use crate::{
    Error,
    disk::{
        Root,
        file_reading::FileStat,
        folder::{EntryKind, Folder},
        listed_files::{FileHasher, ListedFile, ListedFiles},
        stat_cache::{EntryCursor, FolderRenewal, ManifestKey, ReadManifest, RunStart, StatCache},
        walk::{Visitor, WalkProblem, WalkProblemKind, Walked, walk},
    },
    manifest::{
        CacheOutcome, FoundManifest, Hashed, ManifestRequest, inventory::Selection, read_manifest, renew,
    },
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    projection::files_manifest::{
        self, Deviation, FoundFile, LineEndHashes, Listing, ManifestWarning, Observations, Verification,
    },
};

#[derive(Clone, Debug)]
pub struct ManifestReport {
    pub verification: Verification,
    pub oddities: Vec<ManifestWarning>,
    /// By path. Files listed in a closed folder are unreadable in the comparison; the rest concerns no listed
    /// file.
    pub problems: Vec<WalkProblem>,
    pub cache: CacheOutcome,
}

pub(super) fn verify(request: &ManifestRequest<'_>) -> Result<ManifestReport, Error> {
    let start = RunStart::now();
    let key = ManifestKey::of(request.manifest);
    let known = recall_or_read(request, key)?;
    let (files, cache) = match &known {
        Known::Remembered(cache) => (ListedFiles::remembered(cache), Some(cache)),
        Known::Read(listing, cache) => (ListedFiles::Read(listing), cache.as_ref()),
    };
    let manifest = key.filter(|_| files.oddities().is_empty()).map(|key| ReadManifest { key, files: &files });
    let selection = Selection::new(request);
    Comparison { request, selection, files: &files, manifest }.run(cache, start)
}

enum Known {
    Remembered(StatCache),
    Read(Listing, Option<StatCache>),
}

fn recall_or_read(request: &ManifestRequest<'_>, key: Option<ManifestKey>) -> Result<Known, Error> {
    if let Some((key, file)) = key.zip(request.stat_cache)
        && key.is_remembered_in(file)
        && let Some(cache) = StatCache::load(file).filter(|cache| cache.remembers(&key))
    {
        return Ok(Known::Remembered(cache));
    }
    thread::scope(|threads| {
        let loading = request.stat_cache.map(|file| threads.spawn(|| StatCache::load(file)));
        let FoundManifest { listing, .. } = read_manifest(request.manifest, Hashed::No)?
            .ok_or_else(|| {
                Error::usage(format!(
                    "there is no manifest `{}`: `stepmark project manifest write` makes it, or --file names another",
                    request.manifest.display()
                ))
            })?;
        let cache = loading
            .and_then(|loading| loading.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)));
        Ok(Known::Read(listing, cache))
    })
}

struct Comparison<'run> {
    request: &'run ManifestRequest<'run>,
    selection: Selection<'run>,
    files: &'run ListedFiles<'run>,
    /// `None` if the cache may not remember it.
    manifest: Option<ReadManifest<'run>>,
}

impl Comparison<'_> {
    fn run(&self, cache: Option<&StatCache>, start: RunStart) -> Result<ManifestReport, Error> {
        let root = self.request.root;
        let enters = |path: &str, kind| match kind {
            EntryKind::Link => self.files.reaches_into(path) && stays_inside(root, path).is_ok(),
            _ => self.files.reaches_into(path) || self.selection.enters(path),
        };
        let new_comparer = || Comparer {
            comparison: self,
            observer: Observer::new(root, cache),
            observed: Observations::default(),
            problems: Vec::new(),
        };
        let Walked { visitors, folders, mut problems } = walk(root.path(), &enters, &new_comparer)?;
        let folders: HashSet<String> = folders.into_iter().collect();
        let mut observed =
            Observations { deviations: self.unseen(&folders), folders, ..Observations::default() };
        let mut renewals = Vec::new();
        for comparer in visitors {
            observed.as_listed += comparer.observed.as_listed;
            observed.deviations.extend(comparer.observed.deviations);
            observed.unlisted.extend(comparer.observed.unlisted);
            problems.extend(comparer.problems);
            renewals.extend(comparer.observer.into_renewals());
        }
        problems.sort_unstable();
        observed.closed_folders = problems.iter().filter_map(closed_folder).collect();
        let cache = renew(self.request.stat_cache, cache, start, renewals, &observed.folders, self.manifest);
        let verification = files_manifest::verify(&self.request.scope, observed);
        Ok(ManifestReport { verification, oddities: self.files.oddities().to_vec(), problems, cache })
    }

    fn unseen(&self, seen: &HashSet<String>) -> Vec<Deviation> {
        let unseen = self.files.folders().into_iter().filter(|folder| !seen.contains(*folder));
        let deviations = unseen.flat_map(|folder| {
            self.files
                .in_folder(folder, None, None)
                .map(move |file| deviation(folder, &file, FoundFile::Nothing))
        });
        deviations.collect()
    }
}

fn deviation(folder: &str, file: &ListedFile<'_>, found: FoundFile) -> Deviation {
    let name = String::from_utf8_lossy(file.name);
    let path = if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
    Deviation { path, listed: file.hash, found }
}

fn closed_folder(problem: &WalkProblem) -> Option<(String, String)> {
    match &problem.kind {
        WalkProblemKind::ClosedFolder { reason } => Some((problem.path.clone(), reason.clone())),
        _ => None,
    }
}

struct Comparer<'run> {
    comparison: &'run Comparison<'run>,
    observer: Observer<'run>,
    observed: Observations,
    problems: Vec<WalkProblem>,
}

impl Visitor for Comparer<'_> {
    /// Merges names and rows, both sorted, and then looks at files. Two passes: between two files the system
    /// fills the processor's cache, so one pass would wait for every row's memory.
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let looked_at = places.len();
        let mut part = self.observer.begin(folder, places.start);
        let first = (places.start > 0).then(|| folder.name(places.start));
        let end = (places.end < folder.len()).then(|| folder.name(places.end));
        let mut listed = self.comparison.files.in_folder(folder.path(), first, end).peekable();
        let mut rows = Vec::with_capacity(looked_at);
        for place in places.clone() {
            let name = folder.name(place).as_bytes();
            // Equality first: it is the normal case, and cheaper to test than the order.
            while let Some(absent) = listed.next_if(|file| file.name != name && file.name < name) {
                self.deviates(folder, &absent, FoundFile::Nothing);
            }
            rows.push(listed.next_if(|file| file.name == name));
        }
        for absent in listed {
            self.deviates(folder, &absent, FoundFile::Nothing);
        }
        for (place, row) in places.zip(rows) {
            match row {
                Some(file) => self.compare(&mut part, folder, place, &file),
                None => self.unlisted(&mut part, folder, place),
            }
        }
        self.observer.end(part);
        self.comparison.request.looked_at.fetch_add(looked_at, Ordering::Relaxed);
    }
}

impl<'run> Comparer<'run> {
    fn deviates(&mut self, folder: &Folder, file: &ListedFile<'_>, found: FoundFile) {
        self.observed.deviations.push(deviation(folder.path(), file, found));
    }

    fn compare(&mut self, part: &mut FolderPart<'run>, folder: &Folder, place: usize, file: &ListedFile<'_>) {
        let found = match self.observer.look(part, folder, place) {
            Seen::File(hash) if file.hash == Some(hash) => {
                self.observed.as_listed += 1;
                return;
            }
            Seen::File(_) => {
                let line_ends = file.hash.and_then(|_| self.observer.line_ends(folder, place));
                FoundFile::OtherBytes(line_ends.map(Box::new))
            }
            Seen::Gone => FoundFile::Nothing,
            Seen::Unreadable(reason) => FoundFile::Unreadable(reason),
            Seen::LinkedFolder => FoundFile::Unreadable("it is a link to a folder".to_owned()),
        };
        self.deviates(folder, file, found);
    }

    /// Names without rows.
    fn unlisted(&mut self, part: &mut FolderPart<'run>, folder: &Folder, place: usize) {
        let selection = &self.comparison.selection;
        let name = folder.name(place);
        match folder.kind(place) {
            EntryKind::Folder | EntryKind::Other => {}
            EntryKind::File => {
                self.observer.pass(part, name);
                let path = Some(folder.path_of(name)).filter(|path| selection.holds(path));
                self.observed.unlisted.extend(path);
            }
            EntryKind::Link => {
                let path = folder.path_of(name);
                let is_way = self.comparison.files.reaches_into(&path);
                let kind = match self.observer.link_target(folder, place) {
                    Ok(EntryKind::File) if selection.holds(&path) => {
                        return self.observed.unlisted.push(path);
                    }
                    Ok(EntryKind::Folder) if is_way => return,
                    Ok(EntryKind::Folder) if selection.enters(&path) => WalkProblemKind::LinkedFolder,
                    Err(reason) if is_way => WalkProblemKind::ClosedFolder { reason },
                    Err(reason) if selection.holds(&path) => WalkProblemKind::BrokenLink { reason },
                    _ => return,
                };
                self.problems.push(WalkProblem { path, kind });
            }
        }
    }
}

#[derive(Debug)]
pub(super) enum Seen {
    File(FileHash),
    LinkedFolder,
    Gone,
    Unreadable(String),
}

#[derive(Debug)]
pub(super) struct Observer<'run> {
    root: &'run Root,
    cache: Option<&'run StatCache>,
    hasher: FileHasher,
    renewals: Vec<FolderRenewal>,
}

#[derive(Debug)]
pub(super) struct FolderPart<'run> {
    entries: EntryCursor<'run>,
    renewal: FolderRenewal,
}

impl<'run> Observer<'run> {
    pub(super) fn new(root: &'run Root, cache: Option<&'run StatCache>) -> Self {
        Self { root, cache, hasher: FileHasher::new(), renewals: Vec::new() }
    }

    pub(super) fn begin(&self, folder: &Folder, first: usize) -> FolderPart<'run> {
        let name = if first < folder.len() { folder.name(first) } else { "" };
        FolderPart {
            entries: EntryCursor::new(self.cache, folder.path(), name),
            renewal: FolderRenewal::new(folder.path()),
        }
    }

    pub(super) fn end(&mut self, part: FolderPart<'run>) {
        self.renewals.push(part.renewal);
    }

    pub(super) fn into_renewals(self) -> Vec<FolderRenewal> {
        self.renewals
    }

    /// Indices must be ascending.
    pub(super) fn look(&mut self, part: &mut FolderPart<'run>, folder: &Folder, place: usize) -> Seen {
        match self.hash(part, folder, place) {
            Ok(seen) => seen,
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && folder.kind(place) != EntryKind::Link =>
            {
                Seen::Gone
            }
            Err(error) => Seen::Unreadable(error.to_string()),
        }
    }

    pub(super) fn pass(&self, part: &mut FolderPart<'run>, name: &str) {
        if let Some((_, entry)) = part.entries.find(name) {
            part.renewal.keep(entry);
        }
    }

    /// With other line ends; `None` if it became unreadable.
    pub(super) fn line_ends(&mut self, folder: &Folder, place: usize) -> Option<LineEndHashes> {
        folder.open_file(place).and_then(|file| self.hasher.line_ends(file)).ok()
    }

    /// A file, a folder, or the reason why neither.
    pub(super) fn link_target(&self, folder: &Folder, place: usize) -> Result<EntryKind, String> {
        let (kind, _) = folder.stat(place).map_err(|error| error.to_string())?;
        stays_inside(self.root, &folder.path_of(folder.name(place)))?;
        Ok(kind)
    }

    fn hash(&mut self, part: &mut FolderPart<'run>, folder: &Folder, place: usize) -> io::Result<Seen> {
        let name = folder.name(place);
        let entry = part.entries.find(name);
        if entry.is_none() && folder.kind(place) == EntryKind::File {
            let (file, kind, stat) = folder.open_with_stat(place)?;
            return match not_a_file(kind, EntryKind::File) {
                Some(seen) => Ok(seen),
                None => self.hash_open(part, name, file, stat),
            };
        }
        let (kind, stat) = folder.stat(place)?;
        if folder.kind(place) == EntryKind::Link
            && let Err(reason) = stays_inside(self.root, &folder.path_of(name))
        {
            return Ok(Seen::Unreadable(reason));
        }
        if let Some(seen) = not_a_file(kind, folder.kind(place)) {
            return Ok(seen);
        }
        if let Some((cache, entry)) = entry
            && let Some(hash) = cache.hash(entry, &stat)
        {
            part.renewal.keep(entry);
            return Ok(Seen::File(hash));
        }
        self.hash_open(part, name, folder.open_file(place)?, stat)
    }

    /// `stat` is from before.
    fn hash_open(
        &mut self,
        part: &mut FolderPart<'run>,
        name: &str,
        file: File,
        stat: FileStat,
    ) -> io::Result<Seen> {
        let hash = self.hasher.hash(file, stat.size)?;
        part.renewal.hashed(name, stat, hash);
        Ok(Seen::File(hash))
    }
}

fn not_a_file(kind: EntryKind, listed: EntryKind) -> Option<Seen> {
    match (kind, listed) {
        (EntryKind::File, _) => None,
        (EntryKind::Folder, EntryKind::Link) => Some(Seen::LinkedFolder),
        (EntryKind::Folder, _) => Some(Seen::Unreadable("it is a folder".to_owned())),
        _ => Some(Seen::Unreadable("it is no regular file".to_owned())),
    }
}

pub(super) fn stays_inside(root: &Root, path: &str) -> Result<(), String> {
    let path = ProjectPath::new(path).map_err(|error| error.to_string())?;
    root.resolve(&path).map(|_| ()).map_err(|error| error.to_string())
}
