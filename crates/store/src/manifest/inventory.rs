//! The files that a manifest will list, with their hashes.

use std::{collections::HashSet, ops::Range, sync::atomic::Ordering};

use crate::{
    disk::{
        folder::{EntryKind, Folder},
        ignore_files::Unignored,
        stat_cache::{RunStart, StatCache},
        walk::{Visitor, WalkProblem, WalkProblemKind, Walked, walk},
    },
    manifest::{
        CacheOutcome, IgnoreFiles, ManifestReadError, ManifestRequest,
        observer::{FolderPart, Observer, Seen},
        own_path, renew,
    },
};
use stepmark_model::{artifact::FileHash, projection::files_manifest::Listing};

/// A file in scope whose bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadableFile {
    /// The file, relative to the root.
    pub path: String,
    pub reason: String,
}

pub(super) struct Inventory<'run> {
    pub(super) request: &'run ManifestRequest<'run>,
    pub(super) selection: Selection<'run>,
    pub(super) earlier: &'run Listing,
}

pub(super) struct Collected {
    /// Every file with its hash, by path; without a hash where it could not be read.
    pub(super) files: Vec<(String, Option<FileHash>)>,
    pub(super) unreadable: Vec<UnreadableFile>,
    pub(super) problems: Vec<WalkProblem>,
    pub(super) cache: CacheOutcome,
}

impl Inventory<'_> {
    pub(super) fn run(
        &self,
        cache: Option<&StatCache>,
        start: RunStart,
    ) -> Result<Collected, ManifestReadError> {
        let root = self.request.root;
        let enters = |path: &str, kind| kind == EntryKind::Folder && self.enters(path);
        let new_collector = || Collector {
            inventory: self,
            observer: Observer::new(root, cache),
            files: Vec::new(),
            unreadable: Vec::new(),
            problems: Vec::new(),
        };
        let Walked { visitors, folders, mut problems } = walk(root.path(), &enters, &new_collector)?;
        let (mut files, mut unreadable, mut renewals) = (Vec::new(), Vec::new(), Vec::new());
        for collector in visitors {
            files.extend(collector.files);
            unreadable.extend(collector.unreadable);
            problems.extend(collector.problems);
            renewals.extend(collector.observer.into_renewals());
        }
        files.sort_unstable();
        unreadable.sort_unstable();
        problems.sort_unstable();
        let visited: HashSet<String> = folders.into_iter().collect();
        let cache = renew(self.request.stat_cache, cache, start, renewals, &visited, None);
        Ok(Collected { files, unreadable, problems, cache })
    }

    fn enters(&self, folder: &str) -> bool {
        let listed = self.request.scope.keeps_listed() && self.earlier.reaches_into(folder);
        listed || self.selection.enters(folder)
    }

    fn holds(&self, folder: &Folder, name: &str, path: &str) -> bool {
        self.selection.holds(path)
            || (self.request.scope.keeps_listed()
                && !self.selection.is_manifest(path)
                && self.is_listed(folder, name))
    }

    fn is_listed(&self, folder: &Folder, name: &str) -> bool {
        self.earlier.folder(folder.path()).is_some_and(|listed| listed.place_of(name).is_some())
    }
}

/// Collects the files of folders; one for each thread.
struct Collector<'run> {
    inventory: &'run Inventory<'run>,
    observer: Observer<'run>,
    files: Vec<(String, Option<FileHash>)>,
    unreadable: Vec<UnreadableFile>,
    problems: Vec<WalkProblem>,
}

impl Visitor for Collector<'_> {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let looked_at = places.len();
        let mut part = self.observer.begin(folder, places.start);
        for place in places {
            let kind = folder.kind(place);
            if !matches!(kind, EntryKind::File | EntryKind::Link) {
                continue;
            }
            let name = folder.name(place);
            let path = folder.path_of(name);
            if !self.inventory.holds(folder, name, &path) {
                self.pass(&mut part, folder, place, path);
                continue;
            }
            match self.observer.look(&mut part, folder, place) {
                Seen::File(hash) => self.files.push((path, Some(hash))),
                Seen::Gone => {}
                Seen::LinkedFolder => {
                    self.problems.push(WalkProblem { path, kind: WalkProblemKind::LinkedFolder });
                }
                Seen::Unreadable(reason) if kind == EntryKind::Link => {
                    self.problems.push(WalkProblem { path, kind: WalkProblemKind::BrokenLink { reason } });
                }
                Seen::Unreadable(reason) => {
                    self.files.push((path.clone(), None));
                    self.unreadable.push(UnreadableFile { path, reason });
                }
            }
        }
        self.observer.end(part);
        self.inventory.request.looked_at.fetch_add(looked_at, Ordering::Relaxed);
    }
}

impl<'run> Collector<'run> {
    /// Passes over what is no file of the selection.
    fn pass(&mut self, part: &mut FolderPart<'run>, folder: &Folder, place: usize, path: String) {
        if folder.kind(place) == EntryKind::File {
            self.observer.pass(part, folder.name(place));
        } else if self.observer.link_target(folder, place) == Ok(EntryKind::Folder)
            && self.inventory.enters(&path)
        {
            self.problems.push(WalkProblem { path, kind: WalkProblemKind::LinkedFolder });
        }
    }
}

/// The scope of a request, less what ignore files take out of it, less the manifest itself.
#[derive(Debug)]
pub(super) struct Selection<'run> {
    request: &'run ManifestRequest<'run>,
    manifest: Option<String>,
    unignored: Option<Unignored>,
}

impl<'run> Selection<'run> {
    pub(super) fn new(request: &'run ManifestRequest<'run>) -> Self {
        let unignored = match request.ignore_files {
            IgnoreFiles::Disregarded => None,
            IgnoreFiles::Honoured => Some(Unignored::below(request.root.path())),
        };
        Self { request, manifest: own_path(request), unignored }
    }

    pub(super) fn enters(&self, folder: &str) -> bool {
        self.request.scope.enters(folder) && self.leaves_over(folder)
    }

    /// Returns whether the file belongs to the selection, listed or not.
    pub(super) fn holds(&self, path: &str) -> bool {
        !self.is_manifest(path) && self.request.scope.holds(path) && self.leaves_over(path)
    }

    /// Returns whether the path is that of the manifest itself, which cannot hold its own hash.
    pub(super) fn is_manifest(&self, path: &str) -> bool {
        self.manifest.as_deref() == Some(path)
    }

    fn leaves_over(&self, path: &str) -> bool {
        self.unignored.as_ref().is_none_or(|unignored| unignored.contains(path))
    }
}
