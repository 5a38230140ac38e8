//! The cache of checks: a file without findings need not be read again while nothing has changed that decided
//! about it.
//!
//! For each such file `.stepmark/local/cache/checked.stat` holds its stat and, in the place of a hash, a
//! *key*: the SHA-256 over everything that decided. That is the [`context`], which is the same for all files
//! of a run (program, configuration, files of workflows), the [`facts`] about other files that the rules
//! asked for (whether an input document is there), and the row of the file in the manifest. The file also
//! lists the facts, each combination once. A run asks them again; an entry is believed where its file has the
//! same stat, and its [`key`] is that of today's context, of facts that still hold, and of today's row.
//!
//! Beside that stands the [`note`] of each artifact: its summary, and how many problems it has. Where
//! something was found, also what was suppressed, the key is one of the baseline, too. So lists read no
//! artifact that has not changed, and a check only those with findings, of which it says more than how many
//! there are.
//!
//! A cache that is old, torn or gone costs time, never truth. What other artifacts decide about one, by its
//! id, is no fact that can be asked one by one: it stands in the note, and `kept_chains` compares it.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the cache of a check is read and written here"
)]

mod answers;
mod asked;
pub(crate) mod context;
mod key;
mod note;
#[cfg(test)]
mod cases;

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::PathBuf,
};

use self::key::{Key, SharedTexts};
pub use self::note::Brief;
use self::note::NoteWriter;
pub(crate) use self::{
    answers::Answers,
    asked::{Asked, Facts, Noted},
    key::FactsKey,
    note::{NoteReader, surroundings},
};
use crate::checking::{kept_chains::ChainPart, manifest_rows::ManifestRows};
use crate::disk::local_state::StateFolder;
use crate::disk::{
    file_reading::FileStat,
    folder::{EntryKind, Folder},
    listed_files::ListedFiles,
    stat_cache::{EntryCursor, FolderRenewal, ManifestKey, ReadManifest, Renewal, RunStart, StatCache},
};
use crate::manifest::{self, CacheOutcome};
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    check::ProblemCounts,
    delegation::Chains,
    projection::files_manifest::Listing,
    summary::ArtifactSummary,
    tracked_artifact::TrackedArtifact,
};

/// A new cache is written when it spares the next run at least this many files: writing it takes as long as
/// reading them.
const WORTHWHILE: usize = 64;

/// The verdicts that a run knows from the runs before it.
#[derive(Debug)]
pub(crate) struct Verdicts<'w> {
    workspace: &'w Workspace,
    start: RunStart,
    file: PathBuf,
    cache: Option<StatCache>,
    context: FileHash,
    sound: HashMap<FactsKey, Facts>,
    stateless: FactsKey,
    manifest: Manifest,
    texts: Vec<Box<str>>,
    /// The same, with those of the notes of this run.
    shared: SharedTexts,
}

#[derive(Debug)]
struct Manifest {
    /// Its state; `None` where there is none.
    key: Option<ManifestKey>,
    rows: Option<ManifestRows>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// An artifact with nothing wrong, by these facts.
    Clean(FactsKey),
    Found(FactsKey),
    /// A file without workflow state.
    Stateless,
}

/// The part of a folder that is being looked at. Names are asked for in ascending order.
#[derive(Debug)]
pub(crate) struct FolderPart<'run> {
    verdicts: &'run Verdicts<'run>,
    entries: EntryCursor<'run>,
    pub(crate) renewal: FolderRenewal,
}

#[derive(Debug, Default)]
pub(crate) struct Learned {
    /// The entries that stay, and the files without workflow state.
    pub(crate) folders: Vec<FolderRenewal>,
    pub(crate) visited: HashSet<String>,
    /// The number of files without workflow state that were read.
    pub(crate) stateless: usize,
    pub(crate) used: HashSet<FactsKey>,
}

/// An artifact that was read, with what the next run may know of it.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) path: ProjectPath,
    /// Its stat from before it was read.
    pub(crate) stat: FileStat,
    pub(crate) noted: Noted,
    pub(crate) problems: ProblemCounts,
    /// The note that [`Verdicts::write_note`] returned.
    pub(crate) note: Vec<u8>,
}

impl<'w> Verdicts<'w> {
    /// Loads what is known of the files of `workspace`; `None` where nothing can be kept: in a project
    /// without `.stepmark/`, which a reader does not make, and where files were changed so recently that
    /// nobody can say whether they were read before or after.
    pub(crate) fn load(workspace: &'w Workspace) -> Option<Self> {
        let start = RunStart::now();
        if !workspace.root().path().join(".stepmark").is_dir() {
            return None;
        }
        let context = context::of(workspace, start)?;
        let file = workspace.root().state().folder(StateFolder::Cache).ok()?.join("checked.stat");
        // Of another context, nothing in it holds.
        let known = StatCache::load(&file).and_then(|cache| {
            let (facts, texts) = asked::read(cache.shared().strip_prefix(context.as_bytes())?)?;
            let texts = key::read(texts)?;
            Some((cache, facts, texts))
        });
        let (cache, known, texts) =
            known.map_or_else(Default::default, |(cache, facts, texts)| (Some(cache), facts, texts));
        let key = ManifestKey::of(&workspace.root().path().join(manifest::DEFAULT_MANIFEST));
        let is_same = cache.as_ref().zip(key).is_some_and(|(cache, key)| cache.remembers(&key));
        let manifest = Manifest { key, rows: (!is_same).then(ManifestRows::default) };
        let answers = Answers::new(workspace);
        let baseline = workspace.baseline_digest();
        let sound = known.into_iter().filter(|facts| facts.hold(&answers, &baseline));
        let sound = sound.map(|facts| (facts.key(&context), facts)).collect();
        let stateless = FactsKey::stateless(&context);
        let shared = SharedTexts::new(&texts);
        Some(Self { workspace, start, file, cache, context, sound, stateless, manifest, texts, shared })
    }

    pub(crate) const fn context(&self) -> &FileHash {
        &self.context
    }

    pub(crate) fn note(&self, entry: usize) -> NoteReader<'_> {
        let bytes = self.cache.as_ref().map_or(&[][..], |cache| cache.note(entry));
        NoteReader::new(bytes, &self.texts)
    }

    pub(crate) fn stat(&self, entry: usize) -> Option<FileStat> {
        self.cache.as_ref().map(|cache| cache.stat(entry))
    }

    /// Returns whether a file that this run read, with this stat, cannot have changed without a trace.
    pub(crate) fn proves(&self, stat: &FileStat) -> bool {
        !stat.may_hide_a_change(self.start.moment)
    }

    pub(crate) fn part(&self, facts: &FactsKey) -> ChainPart {
        self.sound.get(facts).map_or_else(ChainPart::default, |facts| facts.part)
    }

    /// The note of `artifact`, which stands in `chains`, for the next run; without its problems.
    pub(crate) fn write_note(&self, artifact: &TrackedArtifact, chains: &Chains) -> Vec<u8> {
        let has_workflow_state = self.workspace.has_workflow_state(artifact);
        let member = chains.at(artifact.path());
        let member = member.and_then(|member| Some((member, surroundings(&chains.surroundings(member)?))));
        NoteWriter::write(&ArtifactSummary::of(artifact), member, has_workflow_state, &self.shared)
    }

    pub(crate) fn begin(&self, folder: &Folder, first: usize) -> FolderPart<'_> {
        let name = if first < folder.len() { folder.name(first) } else { "" };
        FolderPart {
            verdicts: self,
            entries: EntryCursor::new(self.cache.as_ref(), folder.path(), name),
            renewal: FolderRenewal::new(folder.path()),
        }
    }

    pub(crate) fn used<'v>(&'v self, learned: &'v Learned) -> impl Iterator<Item = &'v Facts> {
        learned.used.iter().filter_map(|key| self.sound.get(key))
    }

    /// Replaces the cache, unless too little was learned: `judged` are artifacts that were read.
    pub(crate) fn renew(&mut self, mut learned: Learned, judged: Vec<Judgement>) -> CacheOutcome {
        let is_worthwhile = judged.len() + learned.stateless >= WORTHWHILE;
        // Else the next run would read the manifest again.
        let has_new_manifest =
            self.cache.is_some() && self.manifest.rows.is_some() && self.manifest.key.is_some();
        if !is_worthwhile && !has_new_manifest {
            return CacheOutcome::Unchanged;
        }
        let mut by_folder: HashMap<String, FolderRenewal> = HashMap::new();
        for Judgement { path, stat, noted, problems, note } in judged {
            let (folder, name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
            let facts = noted.facts.key(&self.context);
            let renewal = by_folder.entry(folder.to_owned()).or_insert_with(|| FolderRenewal::new(folder));
            let note = note::with_problems(problems, &note);
            renewal.noted(name, stat, Key::of(facts, &noted).stored(), note);
            learned.used.insert(facts);
            self.sound.entry(facts).or_insert(noted.facts);
        }
        learned.folders.extend(by_folder.into_values());
        match self.write(learned) {
            Ok(()) => CacheOutcome::Renewed,
            Err(error) => CacheOutcome::NotWritten { reason: error.to_string() },
        }
    }

    fn write(&self, learned: Learned) -> io::Result<()> {
        self.workspace.root().state().make(StateFolder::Cache)?;
        let Learned { folders, visited, used, .. } = learned;
        let used: Vec<&Facts> = used.iter().filter_map(|key| self.sound.get(key)).collect();
        let facts = asked::to_bytes(&used)?;
        // The rows are parts of keys; the manifest is remembered by its state alone.
        let rows = Listing::default();
        let files = ListedFiles::Read(&rows);
        let manifest = self.manifest.key.map(|key| ReadManifest { key, files: &files });
        let shared = [&self.context.as_bytes()[..], &facts, &self.shared.to_bytes()].concat();
        let renewal = Renewal { start: self.start, folders, visited: &visited, manifest, shared: &shared };
        renewal.write(self.cache.as_ref(), &self.file)?;
        // Where facts stood before they stood in the same file; mostly it is not there.
        let _gone = fs::remove_file(self.file.with_extension("facts"));
        Ok(())
    }
}

impl FolderPart<'_> {
    pub(crate) fn recall(&mut self, folder: &Folder, place: usize) -> Option<(Verdict, usize)> {
        // What a link leads to may change without its own stat.
        if folder.kind(place) != EntryKind::File {
            return None;
        }
        let (cache, entry) = self.entries.find(folder.name(place))?;
        let (_, stat) = folder.stat(place).ok()?;
        let key = Key::read(&cache.hash(entry, &stat)?);
        let verdict = if key.facts == self.verdicts.stateless {
            Verdict::Stateless
        } else {
            let facts = self.verdicts.sound.get(&key.facts)?;
            if !self.has_its_row(&key, folder, place) {
                return None;
            }
            if facts.baseline.is_some() { Verdict::Found(key.facts) } else { Verdict::Clean(key.facts) }
        };
        self.renewal.keep(entry);
        Some((verdict, entry))
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
