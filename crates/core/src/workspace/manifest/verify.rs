//! `manifest verify`: what the manifest says, compared with what is there.

use std::{ops::Range, panic, sync::atomic::Ordering, thread};

use super::{
    CacheOutcome, FoundManifest, Hashed, ManifestReadError, ManifestRequest,
    observer::{Observer, Seen, Sight, stays_inside},
    read_manifest, renew,
    selection::Selection,
};
use crate::{
    document::FileHash,
    project::files_manifest::{self, Found, Listing, Observations, Oddity, Verification},
    workspace::{
        folder::{EntryKind, Folder},
        stat_cache::{ManifestKey, ReadManifest, RunStart, StatCache},
        walk::{Visitor, WalkProblem, WalkProblemKind, Walked, walk},
    },
};

/// How the files stand to their manifest.
#[derive(Clone, Debug)]
pub struct ManifestReport {
    /// The comparison.
    pub verification: Verification,
    /// What is odd about the manifest itself, by line.
    pub oddities: Vec<Oddity>,
    /// What the walk could not go through, by path. What is listed in a closed folder is unreadable in the comparison;
    /// the rest concerns no listed file.
    pub problems: Vec<WalkProblem>,
    /// What became of the stat cache.
    pub cache: CacheOutcome,
}

/// Compares the manifest of `request` with the disk.
///
/// # Errors
/// When there is no manifest, or it or the root cannot be read. Whatever is wrong with single files is in the report.
pub fn verify(request: &ManifestRequest<'_>) -> Result<ManifestReport, ManifestReadError> {
    let start = RunStart::now();
    let key = ManifestKey::of(request.manifest);
    let (listing, cache) = remembered_or_read(request, key)?;
    let manifest = key.filter(|_| listing.oddities().is_empty());
    let manifest = manifest.map(|key| ReadManifest { key, listing: &listing });
    let selection = Selection::new(request);
    Comparison { request, selection, listing: &listing, manifest }.run(cache.as_ref(), start)
}

/// What the manifest lists, and the cache. A manifest that the cache does not remember is read while the cache is.
fn remembered_or_read(
    request: &ManifestRequest<'_>,
    key: Option<ManifestKey>,
) -> Result<(Listing, Option<StatCache>), ManifestReadError> {
    if let Some((key, file)) = key.zip(request.stat_cache)
        && key.is_remembered_in(file)
        && let Some(cache) = StatCache::load(file)
        && let Some(listing) = cache.listing(&key)
    {
        return Ok((listing, Some(cache)));
    }
    thread::scope(|threads| {
        let loading = request.stat_cache.map(|file| threads.spawn(|| StatCache::load(file)));
        let FoundManifest { listing, .. } = read_manifest(request.manifest, Hashed::No)?
            .ok_or_else(|| ManifestReadError::Missing { path: request.manifest.to_owned() })?;
        let cache = loading
            .and_then(|loading| loading.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)));
        Ok((listing, cache))
    })
}

/// One run of `verify`.
struct Comparison<'run> {
    request: &'run ManifestRequest<'run>,
    selection: Selection<'run>,
    listing: &'run Listing,
    /// The manifest, if the cache may remember it.
    manifest: Option<ReadManifest<'run>>,
}

impl Comparison<'_> {
    fn run(&self, cache: Option<&StatCache>, start: RunStart) -> Result<ManifestReport, ManifestReadError> {
        let root = self.request.root;
        let enters = |path: &str, kind| match kind {
            EntryKind::Link => self.listing.reaches_into(path) && stays_inside(root, path).is_ok(),
            _ => self.listing.reaches_into(path) || self.selection.enters(path),
        };
        let new_comparer = || Comparer {
            comparison: self,
            observer: Observer::new(root, cache),
            found: Vec::new(),
            unlisted: Vec::new(),
            problems: Vec::new(),
        };
        let Walked { visitors, folders, mut problems } = walk(root.path(), &enters, &new_comparer)?;
        let mut observed = Observations {
            found: vec![Found::Nothing; self.listing.len()],
            folders: folders.into_iter().collect(),
            ..Observations::default()
        };
        let mut renewals = Vec::new();
        for comparer in visitors {
            for (number, found) in comparer.found {
                observed.found[number] = found;
            }
            observed.unlisted.extend(comparer.unlisted);
            problems.extend(comparer.problems);
            renewals.extend(comparer.observer.into_renewals());
        }
        problems.sort_unstable();
        observed.closed_folders = problems.iter().filter_map(closed_folder).collect();
        let cache = renew(self.request.stat_cache, cache, start, renewals, &observed.folders, self.manifest);
        let verification = files_manifest::verify(self.listing, &self.request.scope, observed);
        Ok(ManifestReport { verification, oddities: self.listing.oddities().to_vec(), problems, cache })
    }
}

fn closed_folder(problem: &WalkProblem) -> Option<(String, String)> {
    match &problem.kind {
        WalkProblemKind::ClosedFolder { reason } => Some((problem.path.clone(), reason.clone())),
        _ => None,
    }
}

/// Compares folders with their rows; one for each thread.
struct Comparer<'run> {
    comparison: &'run Comparison<'run>,
    observer: Observer<'run>,
    /// What listed files are found to be, by their numbers. Of those that are not here nothing was found.
    found: Vec<(usize, Found)>,
    unlisted: Vec<String>,
    problems: Vec<WalkProblem>,
}

impl Visitor for Comparer<'_> {
    /// Goes through the names and the rows of the folder at once; both stand in the order of names.
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let looked_at = places.len();
        let mut sight = self.observer.begin(folder, places.start);
        let listed = self.comparison.listing.folder(folder.path());
        let mut next = match listed {
            Some(listed) if !places.is_empty() => listed.place_from(folder.name(places.start)),
            _ => 0,
        };
        for place in places {
            let name = folder.name(place);
            let Some(listed) = listed else {
                self.unlisted(&mut sight, folder, place);
                continue;
            };
            while next < listed.len() && listed.name(next) < name {
                next += 1;
            }
            if next < listed.len() && listed.name(next) == name {
                let found = self.look(&mut sight, folder, place, listed.hash(next));
                self.found.push((listed.number(next), found));
                next += 1;
            } else {
                self.unlisted(&mut sight, folder, place);
            }
        }
        self.observer.end(sight);
        self.comparison.request.looked_at.fetch_add(looked_at, Ordering::Relaxed);
    }
}

impl<'run> Comparer<'run> {
    /// What the file at `place` is, of which the manifest holds `wanted`.
    fn look(
        &mut self,
        sight: &mut Sight<'run>,
        folder: &Folder,
        place: usize,
        wanted: Option<FileHash>,
    ) -> Found {
        match self.observer.look(sight, folder, place) {
            Seen::Gone => Found::Nothing,
            Seen::Unreadable(reason) => Found::Unreadable(reason.into()),
            Seen::LinkedFolder => Found::Unreadable("it is a link to a folder".into()),
            Seen::File(hash) if wanted == Some(hash) => Found::AsListed,
            Seen::File(_) => {
                let line_ends = wanted.and_then(|_| self.observer.line_ends(folder, place));
                Found::OtherBytes(line_ends.map(Box::new))
            }
        }
    }

    fn unlisted(&mut self, sight: &mut Sight<'run>, folder: &Folder, place: usize) {
        let selection = &self.comparison.selection;
        let name = folder.name(place);
        match folder.kind(place) {
            EntryKind::Folder | EntryKind::Other => {}
            EntryKind::File => {
                self.observer.pass(sight, name);
                self.unlisted.extend(Some(folder.path_of(name)).filter(|path| selection.holds(path)));
            }
            EntryKind::Link => {
                let path = folder.path_of(name);
                let kind = match self.observer.link_target(folder, place) {
                    Ok(EntryKind::File) if selection.holds(&path) => return self.unlisted.push(path),
                    Ok(EntryKind::Folder) if self.comparison.listing.reaches_into(&path) => return,
                    Ok(EntryKind::Folder) if selection.enters(&path) => WalkProblemKind::LinkedFolder,
                    Err(reason) if self.comparison.listing.reaches_into(&path) => {
                        WalkProblemKind::ClosedFolder { reason }
                    }
                    Err(reason) if selection.holds(&path) => WalkProblemKind::BrokenLink { reason },
                    _ => return,
                };
                self.problems.push(WalkProblem { path, kind });
            }
        }
    }
}
