//! A system's records as last read, shared by reading, deciding and projecting: unchanged files are not read
//! again.
//!
//! Between commands they are in the clone's disposable cache, as notes of a [`StatCache`], with its rule for
//! files too new to be trusted.

use std::collections::BTreeMap;

#[cfg(feature = "write")]
use crate::disk::stat_cache::{FolderRenewal, Renewal};
use crate::disk::{
    Root,
    file_reading::{FileStat, KnownStat, now},
    folder::{EntryKind, Folder},
    in_parts::par_map,
    local_state::StateFolder,
    stat_cache::{EntryCursor, RunStart, StatCache},
};
use serde::{Serialize, de::DeserializeOwned};
#[cfg(feature = "write")]
use stepmark_model::artifact::FileHash;
use stepmark_model::artifact::ProjectPath;

/// Another version may read another record from the same file.
const PROGRAM: &[u8] = env!("CARGO_PKG_VERSION").as_bytes();

#[derive(Debug)]
pub(crate) struct Snapshot<R> {
    file: &'static str,
    /// By folder, in name order.
    folders: BTreeMap<String, Vec<KnownRecord<R>>>,
    /// The cache of earlier commands, and the time of loading.
    cache: Option<(RunStart, Option<StatCache>)>,
    /// Records cached beyond those loaded.
    #[cfg(feature = "write")]
    kept: usize,
}

#[derive(Debug)]
struct KnownRecord<R> {
    name: String,
    stat: KnownStat,
    #[cfg_attr(not(feature = "write"), expect(dead_code, reason = "only who writes keeps a cache"))]
    entry: Option<usize>,
    /// `None` if it is not a record.
    record: Option<R>,
}

/// A file that should be a record and is not usable. It blocks only its own changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableRecord {
    /// `None` if it no longer claims to be a record.
    pub reason: Option<String>,
    /// True if the last state in history counts instead; otherwise it is left out.
    pub is_recorded: bool,
}

/// With an error if it may be meant as a record.
pub(crate) type OtherFile<E> = (ProjectPath, Option<E>);

enum Known<'c, R> {
    Nothing,
    Kept(&'c StatCache, usize),
    Read(KnownRecord<R>),
}

enum Found<R> {
    AsKnown,
    Now(KnownRecord<R>),
    Gone,
}

impl<R: Clone + Serialize + DeserializeOwned + Send + Sync> Snapshot<R> {
    pub(crate) const fn new(file: &'static str) -> Self {
        Self {
            file,
            folders: BTreeMap::new(),
            cache: None,
            #[cfg(feature = "write")]
            kept: 0,
        }
    }

    /// The records in `folder`: unchanged ones as known, others by `read`, which returns `None` for a file
    /// that is none, or gone. Then the other files; failed ones are read again next time.
    pub(crate) fn read<E: Send>(
        &mut self,
        root: &Root,
        folder: &Folder,
        read: impl Fn(&ProjectPath) -> Result<Option<R>, E> + Sync,
    ) -> (Vec<R>, Vec<OtherFile<E>>) {
        let file = self.file;
        let (_, cache) = self.cache.get_or_insert_with(|| (RunStart::now(), load(root, file)));
        let before = self.folders.remove(folder.path());
        let files = known_files(folder, before, cache.as_ref());
        let found = par_map(&files, |(place, known)| look(folder, *place, known, &read));
        let (mut records, mut others) = (Vec::with_capacity(files.len()), Vec::new());
        for ((_, known), found) in files.into_iter().zip(found) {
            match (found, known) {
                (Ok(Found::AsKnown), Known::Read(known)) | (Ok(Found::Now(known)), _) => records.push(known),
                (Ok(Found::Gone | Found::AsKnown), _) => {}
                (Err((path, error)), _) => others.push((path, Some(error))),
            }
        }
        let is_none = |known: &&KnownRecord<R>| known.record.is_none();
        let path = |known: &KnownRecord<R>| ProjectPath::new(folder.path_of(&known.name)).ok();
        others.extend(records.iter().filter(is_none).filter_map(path).map(|path| (path, None)));
        let found = records.iter().filter_map(|known| known.record.clone()).collect();
        self.folders.insert(folder.path().to_owned(), records);
        (found, others)
    }
}

fn load(root: &Root, file: &str) -> Option<StatCache> {
    let cache = StatCache::load(&root.state().folder(StateFolder::Cache).ok()?.join(file))?;
    (cache.shared() == PROGRAM).then_some(cache)
}

#[cfg(feature = "write")]
impl<R: Serialize> Snapshot<R> {
    /// Only if enough is new. A failure only costs time.
    pub(crate) fn keep(&mut self, root: &Root) {
        let Some((start, cache)) = &self.cache else { return };
        let records = || self.folders.values().flatten();
        let (count, fresh) = (records().count(), records().filter(|known| known.is_fresh(*start)).count());
        // Reading a record costs as much as caching fifty: with this many new, caching pays.
        let new = fresh.saturating_sub(self.kept);
        if new == 0 || new * new * 16 < count {
            return;
        }
        self.kept = fresh;
        let visited = self.folders.keys().cloned().collect();
        let renewal = Renewal {
            start: *start,
            folders: self.folders.iter().map(|(path, records)| renewal_of(path, records, *start)).collect(),
            visited: &visited,
            manifest: None,
            shared: PROGRAM,
        };
        if let Ok(folder) = root.state().make(StateFolder::Cache) {
            let _kept = renewal.write(cache.as_ref(), &folder.join(self.file));
        }
    }
}

#[cfg(feature = "write")]
fn renewal_of<R: Serialize>(path: &str, records: &[KnownRecord<R>], start: RunStart) -> FolderRenewal {
    let mut renewal = FolderRenewal::new(path);
    for known in records {
        match known.entry {
            Some(entry) => renewal.keep(entry),
            None if known.is_fresh(start) => {
                let note = known.record.as_ref().map(serde_json::to_vec).transpose();
                let Ok(note) = note.map(Option::unwrap_or_default) else { continue };
                renewal.noted(&known.name, known.stat.stat, FileHash::of(&note), note);
            }
            None => {}
        }
    }
    renewal
}

#[cfg(feature = "write")]
impl<R> KnownRecord<R> {
    /// True if the cache lacks it, and a run begun at `start` may trust it.
    fn is_fresh(&self, start: RunStart) -> bool {
        self.entry.is_none() && !self.stat.stat.may_hide_a_change(start.moment)
    }
}

/// By name, with what `before` or else `cache` knows.
fn known_files<'c, R>(
    folder: &Folder,
    before: Option<Vec<KnownRecord<R>>>,
    cache: Option<&'c StatCache>,
) -> Vec<(usize, Known<'c, R>)> {
    let mut kept = EntryCursor::new(cache.filter(|_| before.is_none()), folder.path(), "");
    let mut before = before.unwrap_or_default().into_iter().peekable();
    let places = (0..folder.len()).filter(|place| {
        let name = folder.name(*place);
        name.ends_with(".md") && !name.starts_with('.')
    });
    let known = |place| {
        let name = folder.name(place);
        while before.next_if(|known| known.name.as_str() < name).is_some() {}
        let known = match before.next_if(|known| known.name == name) {
            Some(known) => Known::Read(known),
            None => kept.find(name).map_or(Known::Nothing, |(cache, entry)| Known::Kept(cache, entry)),
        };
        (place, known)
    };
    places.map(known).collect()
}

fn look<R: DeserializeOwned, E>(
    folder: &Folder,
    place: usize,
    known: &Known<'_, R>,
    read: &impl Fn(&ProjectPath) -> Result<Option<R>, E>,
) -> Result<Found<R>, (ProjectPath, E)> {
    let name = folder.name(place);
    // A link's target may change without it.
    let is_file = folder.kind(place) == EntryKind::File;
    let stat = if is_file { folder.stat(place).ok() } else { None };
    let stat = stat.filter(|(kind, _)| *kind == EntryKind::File).map(|(_, stat)| stat);
    match (known, stat) {
        (Known::Read(known), Some(stat)) if known.stat.proves(&stat) => return Ok(Found::AsKnown),
        (Known::Kept(cache, entry), Some(stat)) if cache.hash(*entry, &stat).is_some() => {
            if let Some(record) = kept_record(cache.note(*entry)) {
                let stat = KnownStat { stat, is_settled: true };
                return Ok(Found::Now(KnownRecord {
                    name: name.to_owned(),
                    stat,
                    entry: Some(*entry),
                    record,
                }));
            }
        }
        _ => {}
    }
    let stat = stat.unwrap_or(FileStat::NONE).known_since(now());
    let Ok(path) = ProjectPath::new(folder.path_of(name)) else { return Ok(Found::Gone) };
    let record = match read(&path) {
        Ok(record) => record,
        Err(error) => return Err((path, error)),
    };
    if record.is_none() && stat.stat == FileStat::NONE {
        return Ok(Found::Gone);
    }
    Ok(Found::Now(KnownRecord { name: name.to_owned(), stat, entry: None, record }))
}

/// Empty notes are not records; `None` for another layout.
fn kept_record<R: DeserializeOwned>(note: &[u8]) -> Option<Option<R>> {
    if note.is_empty() { Some(None) } else { serde_json::from_slice(note).ok().map(Some) }
}

#[cfg(all(test, feature = "write"))]
#[expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests write files directly")]
mod tests {
    use std::{
        convert::Infallible,
        fs,
        sync::atomic::{AtomicUsize, Ordering},
        thread,
        time::Duration,
    };

    use super::*;
    use crate::commit::scratch_project::ScratchProject;

    const FILE: &str = "records.stat";

    fn empty() -> Snapshot<String> {
        Snapshot::new(FILE)
    }

    fn write(project: &ScratchProject, names: &[&str]) {
        names.iter().for_each(|name| fs::write(project.place(&format!("tasks/{name}")), name).unwrap());
        thread::sleep(Duration::from_millis(30));
    }

    fn read(snapshot: &mut Snapshot<String>, project: &ScratchProject) -> (Vec<String>, usize) {
        let count = AtomicUsize::new(0);
        let folder = Folder::open(project.root.path(), "tasks".to_owned()).unwrap();
        let found = snapshot.read(&project.root, &folder, |path| {
            count.fetch_add(1, Ordering::Relaxed);
            let bytes = fs::read_to_string(project.place(path.as_str())).unwrap();
            Ok::<_, Infallible>((bytes != "note.md").then_some(bytes))
        });
        (found.0, count.into_inner())
    }

    #[test]
    fn a_file_that_has_not_changed_is_read_once() {
        let project = ScratchProject::new();
        fs::create_dir(project.place("tasks")).unwrap();
        write(&project, &["a.md", "b.md", "note.md", "other.txt"]);
        let mut first = empty();
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert_eq!(read(&mut first, &project), (ids(&["a.md", "b.md"]), 3));
        assert_eq!(read(&mut first, &project), (ids(&["a.md", "b.md"]), 0));
        first.keep(&project.root);
        let mut second = empty();
        assert_eq!(read(&mut second, &project), (ids(&["a.md", "b.md"]), 0), "the next command");
        fs::remove_file(project.place("tasks/a.md")).unwrap();
        fs::write(project.place("tasks/b.md"), "changed").unwrap();
        write(&project, &["c.md"]);
        for snapshot in [&mut first, &mut second, &mut empty()] {
            assert_eq!(read(snapshot, &project), (ids(&["changed", "c.md"]), 2));
            assert_eq!(read(snapshot, &project), (ids(&["changed", "c.md"]), 0));
        }
        let mut third = empty();
        assert_eq!(read(&mut third, &project).1, 2);
        third.keep(&project.root);
        assert_eq!(read(&mut empty(), &project), (ids(&["changed", "c.md"]), 0));
        let cache = project.root.state().folder(StateFolder::Cache).unwrap().join(FILE);
        let kept = StatCache::load(&cache).unwrap().folder("tasks").len();
        assert_eq!(kept, 3, "what is gone is not kept");
        fs::write(&cache, "torn").unwrap();
        assert_eq!(read(&mut empty(), &project).1, 3);
    }
}
