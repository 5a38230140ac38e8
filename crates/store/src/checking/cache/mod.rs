//! The cache of checks: a file without findings is read again only if an input of the decision has changed.
//!
//! For each such file `.stepmark/local/cache/checked.stat` holds its stat and, in place of a hash, a *key*:
//! the SHA-256 of all inputs. These are the [`context`], common to all files of a run (program,
//! configuration, workflow files), the [`facts`] about other files that the rules used (does an input
//! document exist?), and the file's manifest row. The cache lists each combination of facts once. A run looks
//! them up again; an entry is valid if its stat is unchanged and its [`key`] matches today's context, facts
//! and row.
//!
//! Each artifact also has a [`note`]: its summary and number of problems. If anything was found, also
//! suppressed, the key includes the baseline. So lists read no unchanged artifact, and a check reads only
//! those with findings, which it reports in full.
//!
//! An old, torn or missing cache costs time, never correctness. Decisions of other artifacts about one, by
//! its id, are not facts that can be looked up: the note holds them, and `kept_chains` compares it.
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

/// A new cache is written if it saves the next run at least this many reads: writing costs as much as
/// reading.
const WORTHWHILE: usize = 64;

/// The verdicts known from earlier runs.
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
    /// Includes the texts of this run's notes.
    shared: SharedTexts,
}

#[derive(Debug)]
struct Manifest {
    /// `None` if there is no manifest.
    key: Option<ManifestKey>,
    rows: Option<ManifestRows>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Without findings, by these facts.
    Clean(FactsKey),
    Found(FactsKey),
    Stateless,
}

/// A part of a folder; names must be queried in ascending order.
#[derive(Debug)]
pub(crate) struct FolderPart<'run> {
    verdicts: &'run Verdicts<'run>,
    entries: EntryCursor<'run>,
    pub(crate) renewal: FolderRenewal,
}

#[derive(Debug, Default)]
pub(crate) struct Learned {
    pub(crate) folders: Vec<FolderRenewal>,
    pub(crate) visited: HashSet<String>,
    pub(crate) stateless: usize,
    pub(crate) used: HashSet<FactsKey>,
}

#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) path: ProjectPath,
    /// From before it was read.
    pub(crate) stat: FileStat,
    pub(crate) noted: Noted,
    pub(crate) problems: ProblemCounts,
    pub(crate) note: Vec<u8>,
}

impl<'w> Verdicts<'w> {
    /// `None` if nothing can be cached: without `.stepmark/`, which readers do not create, and if files
    /// changed so recently that it is unknown whether they were read before or after.
    pub(crate) fn load(workspace: &'w Workspace) -> Option<Self> {
        let start = RunStart::now();
        if !workspace.root().path().join(".stepmark").is_dir() {
            return None;
        }
        let context = context::of(workspace, start)?;
        let file = workspace.root().state().folder(StateFolder::Cache).ok()?.join("checked.stat");
        // In another context no entry is valid.
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

    /// True if a file that this run read with this stat cannot have changed without a trace.
    pub(crate) fn proves(&self, stat: &FileStat) -> bool {
        !stat.may_hide_a_change(self.start.moment)
    }

    pub(crate) fn part(&self, facts: &FactsKey) -> ChainPart {
        self.sound.get(facts).map_or_else(ChainPart::default, |facts| facts.part)
    }

    /// The note of `artifact`, a member of `chains`, for the next run; without its problems.
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

    /// Replaces the cache, unless too little is new; `judged` are the artifacts that were read.
    pub(crate) fn renew(&mut self, mut learned: Learned, judged: Vec<Judgement>) -> CacheOutcome {
        let is_worthwhile = judged.len() + learned.stateless >= WORTHWHILE;
        // Otherwise the next run would read the manifest again.
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
        // Keys include the rows, so the manifest needs only its state.
        let rows = Listing::default();
        let files = ListedFiles::Read(&rows);
        let manifest = self.manifest.key.map(|key| ReadManifest { key, files: &files });
        let shared = [&self.context.as_bytes()[..], &facts, &self.shared.to_bytes()].concat();
        let renewal = Renewal { start: self.start, folders, visited: &visited, manifest, shared: &shared };
        renewal.write(self.cache.as_ref(), &self.file)?;
        // Older versions kept the facts in this file; mostly it is missing.
        let _gone = fs::remove_file(self.file.with_extension("facts"));
        Ok(())
    }
}

impl FolderPart<'_> {
    pub(crate) fn recall(&mut self, folder: &Folder, place: usize) -> Option<(Verdict, usize)> {
        // A link's target may change without changing the link's stat.
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

    /// Records a file without workflow state; `stat` is from before it was read.
    pub(crate) fn is_stateless(&mut self, name: &str, stat: FileStat) {
        self.renewal.hashed(name, stat, Key::stateless(self.verdicts.stateless).stored());
    }
}
