//! What a check found nothing wrong with need not be read again while nothing has changed that decided about it.
//!
//! For each such file `.stepmark/cache/checked.stat` holds its stat and, in the place of a hash, a *key*: the SHA-256 over
//! everything that decided. That is the [`context`], which is the same for all files of a run (program, configuration, manifest,
//! files of workflows), and the [`facts`] about other files that the rules asked for (whether an input document is there).
//! `checked.facts` lists these facts, each combination once. A run asks them again; an entry is believed where its file has the same
//! stat, and its key is that of today's context and of facts that still hold.
//!
//! So a cache that is old, torn or gone costs time, never truth. Files with findings, also suppressed ones, and artifacts
//! that take part in chains of delegation are read every time.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the cache of a check is read and written here"
)]

mod asked;
mod context;
mod facts;
#[cfg(test)]
mod cases;

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::PathBuf,
};

pub(super) use self::{asked::Asked, facts::Facts};
use super::{
    Workspace,
    file_stat::FileStat,
    folder::{EntryKind, Folder},
    manifest::CacheOutcome,
    stat_cache::{EntryCursor, FolderRenewal, Renewal, RunStart, StatCache},
};
use crate::{artifact::ProjectPath, document::FileHash};

/// A new cache is written when it spares the next run at least this many files: writing it takes as long as reading them.
const WORTHWHILE: usize = 64;

/// What a run knows from the runs before it.
#[derive(Debug)]
pub(super) struct Verdicts {
    start: RunStart,
    /// Where `checked.stat` stands; the facts stand beside it.
    file: PathBuf,
    cache: Option<StatCache>,
    context: FileHash,
    /// The keys of facts that hold.
    sound: HashMap<FileHash, Facts>,
    /// The key of files without workflow state.
    stateless: FileHash,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// An artifact with nothing wrong.
    Clean,
    /// A file without workflow state.
    Stateless,
}

/// The part of a folder that is being looked at. Names are asked for in ascending order.
#[derive(Debug)]
pub(super) struct Sight<'run> {
    verdicts: &'run Verdicts,
    entries: EntryCursor<'run>,
    pub(super) renewal: FolderRenewal,
}

/// What a run learned.
#[derive(Debug, Default)]
pub(super) struct Learned {
    /// What stays, and the files without workflow state.
    pub(super) folders: Vec<FolderRenewal>,
    /// Every folder that was listed.
    pub(super) visited: HashSet<String>,
    /// How many files without workflow state were read.
    pub(super) stateless: usize,
}

impl Verdicts {
    /// What is known of the files of `workspace`; `None` where nothing can be kept: in a project without `.stepmark/`, which a
    /// reader does not make, and where files were changed so recently that nobody can say whether they were read before or
    /// after.
    pub(super) fn load(workspace: &Workspace) -> Option<Self> {
        let start = RunStart::now();
        let folder = workspace.root().path().join(".stepmark");
        if !folder.is_dir() {
            return None;
        }
        let context = context::of(workspace, start)?;
        let file = folder.join("cache/checked.stat");
        let cache = StatCache::load(&file);
        let known = if cache.is_some() { facts::load(&file) } else { Vec::new() };
        let asked = Asked::new(workspace);
        let sound = known.into_iter().filter(|facts| facts.hold(&asked));
        let sound = sound.map(|facts| (facts.key(&context), facts)).collect();
        let stateless = Facts::stateless_key(&context);
        Some(Self { start, file, cache, context, sound, stateless })
    }

    /// Begins with the names of `folder` from `first` on.
    pub(super) fn begin(&self, folder: &Folder, first: usize) -> Sight<'_> {
        let name = if first < folder.len() { folder.name(first) } else { "" };
        Sight {
            verdicts: self,
            entries: EntryCursor::new(self.cache.as_ref(), folder.path(), name),
            renewal: FolderRenewal::new(folder.path()),
        }
    }

    /// Replaces the cache, unless too little was learned: `clean` are artifacts that were read and found clean.
    pub(super) fn renew(
        mut self,
        mut learned: Learned,
        clean: Vec<(ProjectPath, FileStat, Facts)>,
    ) -> CacheOutcome {
        if clean.len() + learned.stateless < WORTHWHILE {
            return CacheOutcome::Unchanged;
        }
        let mut by_folder: HashMap<String, FolderRenewal> = HashMap::new();
        for (path, stat, facts) in clean {
            let (folder, name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
            let key = facts.key(&self.context);
            let renewal = by_folder.entry(folder.to_owned()).or_insert_with(|| FolderRenewal::new(folder));
            renewal.hashed(name, stat, key);
            self.sound.entry(key).or_insert(facts);
        }
        learned.folders.extend(by_folder.into_values());
        match self.write(learned) {
            Ok(()) => CacheOutcome::Renewed,
            Err(error) => CacheOutcome::NotWritten { reason: error.to_string() },
        }
    }

    /// The facts go first: keys without facts are not believed, facts without keys do nothing.
    fn write(self, learned: Learned) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        facts::write(&self.file, self.sound.values())?;
        let Learned { folders, visited, .. } = learned;
        let renewal = Renewal { start: self.start, folders, visited: &visited, manifest: None };
        renewal.write(self.cache.as_ref(), &self.file)
    }
}

impl Sight<'_> {
    /// Whether an entry of the cache has the name at `place`.
    pub(super) fn recall(&mut self, folder: &Folder, place: usize) -> Option<Verdict> {
        // What a link leads to may change without its own stat.
        if folder.kind(place) != EntryKind::File {
            return None;
        }
        let (cache, entry) = self.entries.find(folder.name(place))?;
        let (_, stat) = folder.stat(place).ok()?;
        let key = cache.hash(entry, &stat)?;
        let verdict = if key == self.verdicts.stateless {
            Verdict::Stateless
        } else if self.verdicts.sound.contains_key(&key) {
            Verdict::Clean
        } else {
            return None;
        };
        self.renewal.keep(entry);
        Some(verdict)
    }

    /// The file was read and holds no workflow state; `stat` was taken before.
    pub(super) fn is_stateless(&mut self, name: &str, stat: FileStat) {
        self.renewal.hashed(name, stat, self.verdicts.stateless);
    }
}
