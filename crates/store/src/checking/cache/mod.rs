//! What a check found nothing wrong with need not be read again while nothing has changed that decided about it.
//!
//! For each such file `.stepmark/local/cache/checked.stat` holds its stat and, in the place of a hash, a *key*: the SHA-256 over
//! everything that decided. That is the [`context`], which is the same for all files of a run (program, configuration, files of
//! workflows), the [`facts`] about other files that the rules asked for (whether an input document is there), and the row of the
//! file in the manifest. `checked.facts` lists the facts, each combination once. A run asks them again; an entry is believed where
//! its file has the same stat, and its [`key`] is that of today's context, of facts that still hold, and of today's row.
//!
//! So a cache that is old, torn or gone costs time, never truth. Files with findings, also suppressed ones, and artifacts
//! that take part in chains of delegation are read every time.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the cache of a check is read and written here"
)]

mod answers;
mod asked;
mod context;
mod facts;
mod key;
#[cfg(test)]
mod cases;

use std::{
    collections::{HashMap, HashSet},
    io,
    path::PathBuf,
};

use self::key::{FactsKey, Key};
pub(crate) use self::{
    answers::Answers,
    asked::{Asked, Noted},
    context::of as context_of,
    facts::Facts,
};
use crate::checking::manifest_rows::ManifestRows;
use crate::disk::local_state::StateFolder;
use crate::disk::{
    file_stat::FileStat, folder::EntryKind, folder::Folder, listed_files::ListedFiles,
    stat_cache::EntryCursor, stat_cache::FolderRenewal, stat_cache::ManifestKey, stat_cache::ReadManifest,
    stat_cache::Renewal, stat_cache::RunStart, stat_cache::StatCache,
};
use crate::manifest::{self, CacheOutcome};
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    projection::files_manifest::Listing,
};

/// A new cache is written when it spares the next run at least this many files: writing it takes as long as reading them.
const WORTHWHILE: usize = 64;

/// What a run knows from the runs before it.
#[derive(Debug)]
pub(crate) struct Verdicts<'w> {
    workspace: &'w Workspace,
    start: RunStart,
    /// Where `checked.stat` stands; the facts stand beside it.
    file: PathBuf,
    cache: Option<StatCache>,
    context: FileHash,
    /// Facts that hold.
    sound: HashMap<FactsKey, Facts>,
    stateless: FactsKey,
    manifest: Manifest,
}

/// The manifest of the project's artifacts.
#[derive(Debug)]
struct Manifest {
    /// Its state; `None` where there is none.
    key: Option<ManifestKey>,
    /// Its rows, where they may be others than before.
    rows: Option<ManifestRows>,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// An artifact with nothing wrong, by these facts.
    Clean(FactsKey),
    /// A file without workflow state.
    Stateless,
}

/// The part of a folder that is being looked at. Names are asked for in ascending order.
#[derive(Debug)]
pub(crate) struct Sight<'run> {
    verdicts: &'run Verdicts<'run>,
    entries: EntryCursor<'run>,
    pub(crate) renewal: FolderRenewal,
}

/// What a run learned.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    /// What stays, and the files without workflow state.
    pub(crate) folders: Vec<FolderRenewal>,
    /// Every folder that was listed.
    pub(crate) visited: HashSet<String>,
    /// How many files without workflow state were read.
    pub(crate) stateless: usize,
    /// The facts by which artifacts are still clean.
    pub(crate) used: HashSet<FactsKey>,
}

impl<'w> Verdicts<'w> {
    /// What is known of the files of `workspace`; `None` where nothing can be kept: in a project without `.stepmark/`, which a
    /// reader does not make, and where files were changed so recently that nobody can say whether they were read before or
    /// after.
    pub(crate) fn load(workspace: &'w Workspace) -> Option<Self> {
        let start = RunStart::now();
        if !workspace.root().path().join(".stepmark").is_dir() {
            return None;
        }
        let context = context::of(workspace, start)?;
        let file = workspace.root().state().folder(StateFolder::Cache).ok()?.join("checked.stat");
        let cache = StatCache::load(&file);
        let key = ManifestKey::of(&workspace.root().path().join(manifest::DEFAULT_MANIFEST));
        let is_same = cache.as_ref().zip(key).is_some_and(|(cache, key)| cache.remembers(&key));
        let manifest = Manifest { key, rows: (!is_same).then(ManifestRows::default) };
        let answers = Answers::new(workspace);
        let known = if cache.is_some() { facts::load(&file) } else { Vec::new() };
        let sound = known.into_iter().filter(|facts| facts.hold(&answers));
        let sound = sound.map(|facts| (facts.key(&context), facts)).collect();
        let stateless = FactsKey::stateless(&context);
        Some(Self { workspace, start, file, cache, context, sound, stateless, manifest })
    }

    /// Begins with the names of `folder` from `first` on.
    pub(crate) fn begin(&self, folder: &Folder, first: usize) -> Sight<'_> {
        let name = if first < folder.len() { folder.name(first) } else { "" };
        Sight {
            verdicts: self,
            entries: EntryCursor::new(self.cache.as_ref(), folder.path(), name),
            renewal: FolderRenewal::new(folder.path()),
        }
    }

    /// The facts by which artifacts are still clean.
    pub(crate) fn used<'v>(&'v self, learned: &'v Learned) -> impl Iterator<Item = &'v Facts> {
        learned.used.iter().filter_map(|key| self.sound.get(key))
    }

    /// Replaces the cache, unless too little was learned: `clean` are artifacts that were read and found clean.
    pub(crate) fn renew(
        mut self,
        mut learned: Learned,
        clean: Vec<(ProjectPath, FileStat, Noted)>,
    ) -> CacheOutcome {
        let is_worthwhile = clean.len() + learned.stateless >= WORTHWHILE;
        // Else the next run would read the manifest again.
        let has_new_manifest =
            self.cache.is_some() && self.manifest.rows.is_some() && self.manifest.key.is_some();
        if !is_worthwhile && !has_new_manifest {
            return CacheOutcome::Unchanged;
        }
        let mut by_folder: HashMap<String, FolderRenewal> = HashMap::new();
        for (path, stat, noted) in clean {
            let (folder, name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
            let facts = noted.facts.key(&self.context);
            let renewal = by_folder.entry(folder.to_owned()).or_insert_with(|| FolderRenewal::new(folder));
            renewal.hashed(name, stat, Key::of(facts, &noted).stored());
            learned.used.insert(facts);
            self.sound.entry(facts).or_insert(noted.facts);
        }
        learned.folders.extend(by_folder.into_values());
        match self.write(learned) {
            Ok(()) => CacheOutcome::Renewed,
            Err(error) => CacheOutcome::NotWritten { reason: error.to_string() },
        }
    }

    /// The facts go first: keys without facts are not believed, facts without keys do nothing.
    fn write(self, learned: Learned) -> io::Result<()> {
        self.workspace.root().state().make(StateFolder::Cache)?;
        let Learned { folders, visited, used, .. } = learned;
        let used: Vec<&Facts> = used.iter().filter_map(|key| self.sound.get(key)).collect();
        facts::write(&self.file, &used)?;
        // The rows are parts of keys; the manifest is remembered by its state alone.
        let rows = Listing::default();
        let files = ListedFiles::Read(&rows);
        let manifest = self.manifest.key.map(|key| ReadManifest { key, files: &files });
        let renewal = Renewal { start: self.start, folders, visited: &visited, manifest };
        renewal.write(self.cache.as_ref(), &self.file)
    }
}

impl Sight<'_> {
    /// What is known of the file at `place`, if that is still true.
    pub(crate) fn recall(&mut self, folder: &Folder, place: usize) -> Option<Verdict> {
        // What a link leads to may change without its own stat.
        if folder.kind(place) != EntryKind::File {
            return None;
        }
        let (cache, entry) = self.entries.find(folder.name(place))?;
        let (_, stat) = folder.stat(place).ok()?;
        let key = Key::read(&cache.hash(entry, &stat)?);
        let verdict = if key.facts == self.verdicts.stateless {
            Verdict::Stateless
        } else if self.verdicts.sound.contains_key(&key.facts) && self.has_its_row(&key, folder, place) {
            Verdict::Clean(key.facts)
        } else {
            return None;
        };
        self.renewal.keep(entry);
        Some(verdict)
    }

    fn has_its_row(&self, key: &Key, folder: &Folder, place: usize) -> bool {
        let Some(rows) = &self.verdicts.manifest.rows else { return true };
        let Ok(path) = ProjectPath::new(folder.path_of(folder.name(place))) else { return false };
        let workspace = self.verdicts.workspace;
        key.holds_with(|| {
            rows.row(&path, workspace.configuration(), || manifest::project_listing(workspace.root()))
        })
    }

    /// The file was read and holds no workflow state; `stat` was taken before.
    pub(crate) fn is_stateless(&mut self, name: &str, stat: FileStat) {
        self.renewal.hashed(name, stat, Key::stateless(self.verdicts.stateless).stored());
    }
}
