//! Artifacts, their steps and delegations: unchanged files, by stat, are not read.

use std::collections::{BTreeMap, HashMap};

use crate::{
    checking::cache::context,
    disk::{
        file_reading::{FileStat, KnownStat, STAT_BYTES},
        stat_cache::RunStart,
    },
    index::{
        artifact_rows::{ArtifactRows, LISTED},
        error::{Fault, ReadFile, Scanner, SeenFolder},
    },
    index_db::{Contents, IntoCell as _, Part, Row},
    workspace::{
        Artifacts, Workspace,
        artifact_files::{Looked, Reader, gathered, walk_artifacts},
    },
};
use rusqlite::types::Type;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    tracked_artifact::TrackedArtifact,
};

/// Reads what changed. Reads all if an input of every artifact changed: the configuration, a step file, this
/// program.
pub(super) fn refresh(workspace: &Workspace, contents: &mut Contents<'_>) -> Result<(), Fault> {
    let start = RunStart::now();
    let context = context::of(workspace, start);
    let is_trusted = context.is_some() && contents.stamp(Part::Artifacts)? == context;
    let known = KnownFolders::read(contents)?;
    let new_looker = || Scanner::new(Reader::new(workspace, &|_| true), is_trusted.then_some(&known));
    let walked = walk_artifacts(workspace, &new_looker)?;
    let (mut readers, mut seen) = (Vec::new(), HashMap::<String, SeenFolder>::new());
    for scanner in walked.visitors {
        readers.push(scanner.reader);
        for (folder, part) in scanner.seen.map_err(rusqlite::Error::from)? {
            seen.entry(folder).or_default().add(part);
        }
    }
    let found = gathered(workspace, readers, walked.problems);
    let artifacts = found.artifacts.iter().map(|artifact| (artifact.path(), artifact)).collect();
    // Tickets without a plan have no file whose absence could be noticed.
    if contents.has("SELECT 1 FROM artifacts WHERE status = 'planned' AND modified IS NULL")? {
        contents.change("DELETE FROM artifacts WHERE status = 'planned' AND modified IS NULL", [])?;
    }
    Run { start, known: &known, artifacts, contents }.write(&seen)?;
    for planned in workspace.tickets().unwritten().filter_map(|own| workspace.track(own).ok()) {
        contents.insert("artifacts", ArtifactRows::of(&planned, None).artifact)?;
    }
    contents.replace_named("unreadable", unreadable(&found))?;
    contents.set_stamp(Part::Artifacts, context)?;
    Ok(())
}

fn unreadable(found: &Artifacts) -> Vec<Row> {
    let files = found.unreadable.iter().map(|error| {
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            reason = format!("{reason}: {error}");
            cause = error.source();
        }
        (error.path().map(ToString::to_string).unwrap_or_default(), reason)
    });
    let places = found.problems.iter().map(|problem| (problem.path.clone(), problem.kind.to_string()));
    let mut all: Vec<(String, String)> = files.chain(places).collect();
    all.sort();
    let row = |(place, (path, reason)): (usize, (String, String))| {
        vec![(place + 1).cell(), path.cell(), reason.cell()]
    };
    all.into_iter().enumerate().map(row).collect()
}

struct Run<'run, 'db> {
    start: RunStart,
    known: &'run KnownFolders,
    artifacts: HashMap<&'run ProjectPath, &'run TrackedArtifact>,
    contents: &'run mut Contents<'db>,
}

impl Run<'_, '_> {
    fn write(mut self, seen: &HashMap<String, SeenFolder>) -> rusqlite::Result<()> {
        let nothing = SeenFolder::default();
        let gone = self.known.folders().filter(|folder| !seen.contains_key(*folder));
        let gone = gone.map(|folder| (folder, &nothing));
        let mut folders: Vec<_> =
            seen.iter().map(|(folder, seen)| (folder.as_str(), seen)).chain(gone).collect();
        folders.sort_by_key(|(folder, _)| *folder);
        folders.into_iter().try_for_each(|(folder, seen)| self.write_folder(folder, seen))
    }

    fn write_folder(&mut self, folder: &str, seen: &SeenFolder) -> rusqlite::Result<()> {
        let known = self.known;
        if seen.read.is_empty()
            && seen.is_unchanged.iter().all(|is_unchanged| *is_unchanged)
            && seen.is_unchanged.is_empty() == known.bytes(folder).is_empty()
        {
            return Ok(());
        }
        let before = known.files(folder)?;
        let is_unchanged =
            |place: usize| seen.is_unchanged.get(place).is_some_and(|is_unchanged| *is_unchanged);
        let mut files: BTreeMap<&str, Known> = BTreeMap::new();
        for read in seen.read.iter().filter(|read| read.looked != Looked::Failed) {
            let name = read.path.file_name();
            let before = before.find(name).and_then(|(_, before)| before.rows);
            files.insert(name, self.write_file(read, before)?);
        }
        for (place, (name, before)) in before.iter().enumerate() {
            if is_unchanged(place) {
                files.insert(name, *before);
            } else if before.rows.is_some() && !files.contains_key(name) {
                self.take_out(&path_in(folder, name))?;
            }
        }
        let bytes = to_bytes(&files);
        if bytes == known.bytes(folder) {
            return Ok(());
        }
        let change = match bytes.is_empty() {
            true => self.contents.change("DELETE FROM _files WHERE folder = ?", [folder]),
            false => self.contents.change("INSERT OR REPLACE INTO _files VALUES (?, ?)", (folder, bytes)),
        };
        change.map(drop)
    }

    fn write_file(&mut self, read: &ReadFile, before: Option<FileHash>) -> rusqlite::Result<Known> {
        let artifact = self.artifacts.get(&read.path);
        let rows = artifact.map(|artifact| ArtifactRows::of(artifact, read.stat.as_ref()));
        let digest = rows.as_ref().map(ArtifactRows::digest);
        if before != digest {
            if before.is_some() {
                self.take_out(read.path.as_str())?;
            }
            rows.map_or(Ok(()), |rows| self.put_in(rows))?;
        }
        let stat = read.stat.unwrap_or(FileStat::NONE).known_since(self.start.moment);
        Ok(Known { stat, rows: digest })
    }

    fn put_in(&mut self, rows: ArtifactRows) -> rusqlite::Result<()> {
        self.contents.insert("artifacts", rows.artifact)?;
        for row in rows.steps {
            self.contents.insert("steps", row)?;
        }
        for (table, row) in rows.listed {
            self.contents.insert(table, row)?;
        }
        rows.delegation.map_or(Ok(()), |row| self.contents.insert("delegations", row))
    }

    fn take_out(&mut self, path: &str) -> rusqlite::Result<()> {
        self.contents.remove("artifacts", "path", path)?;
        self.contents.remove("steps", "artifact", path)?;
        for table in LISTED {
            self.contents.remove(table, "artifact", path)?;
        }
        self.contents.remove("delegations", "artifact", path)
    }
}

fn path_in(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) stat: KnownStat,
    /// `None` for a file without workflow state.
    pub(super) rows: Option<FileHash>,
}

/// By path (empty for the root), each with its files as bytes.
#[derive(Debug, Default)]
pub(super) struct KnownFolders(HashMap<String, Vec<u8>>);

/// In bytes: name length, then stat, two flags, digest.
const LENGTH: usize = 4;
const DIGEST: usize = 32;

impl KnownFolders {
    pub(super) fn read(contents: &Contents<'_>) -> rusqlite::Result<Self> {
        let mut statement = contents.connection().prepare_cached("SELECT folder, known FROM _files")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn files(&self, folder: &str) -> Result<FolderFiles<'_>, NoFiles> {
        FolderFiles::read(self.bytes(folder)).ok_or(NoFiles)
    }

    /// Unordered.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn bytes(&self, folder: &str) -> &[u8] {
        self.0.get(folder).map_or(&[], Vec::as_slice)
    }
}

/// A folder's bytes are invalid: the database is damaged.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoFiles;

impl From<NoFiles> for rusqlite::Error {
    fn from(NoFiles: NoFiles) -> Self {
        Self::InvalidColumnType(1, "known".to_owned(), Type::Blob)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FolderFiles<'bytes>(Vec<(&'bytes str, Known)>);

impl<'bytes> FolderFiles<'bytes> {
    /// `None` for other bytes.
    fn read(mut bytes: &'bytes [u8]) -> Option<Self> {
        let mut files = Vec::new();
        while !bytes.is_empty() {
            let length = u32::from_le_bytes(taken::<LENGTH>(&mut bytes)?);
            let (name, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
            bytes = rest;
            let stat = FileStat::from_bytes(&taken::<STAT_BYTES>(&mut bytes)?);
            let [is_settled, has_rows] = taken::<2>(&mut bytes)?;
            let digest = FileHash::from_digest(taken::<DIGEST>(&mut bytes)?);
            let stat = KnownStat { stat, is_settled: is_settled == 1 };
            let known = Known { stat, rows: (has_rows == 1).then_some(digest) };
            files.push((std::str::from_utf8(name).ok()?, known));
        }
        files.is_sorted_by(|(one, _), (other, _)| one < other).then_some(Self(files))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn find(&self, name: &str) -> Option<(usize, &Known)> {
        let place = self.0.binary_search_by(|(other, _)| (*other).cmp(name)).ok()?;
        Some((place, &self.0[place].1))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(&'bytes str, Known)> {
        self.0.iter()
    }
}

/// Deterministic; empty for no files.
pub(super) fn to_bytes(files: &BTreeMap<&str, Known>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(files.len() * 128);
    for (name, known) in files {
        bytes.extend(u32::try_from(name.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend(known.stat.stat.to_bytes());
        bytes.extend([u8::from(known.stat.is_settled), u8::from(known.rows.is_some())]);
        bytes.extend(known.rows.map_or([0; DIGEST], |rows| *rows.as_bytes()));
    }
    bytes
}

fn taken<const LENGTH: usize>(bytes: &mut &[u8]) -> Option<[u8; LENGTH]> {
    let (head, rest) = bytes.split_first_chunk::<LENGTH>()?;
    *bytes = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known() -> impl Strategy<Value = Known> {
        let stat = (any::<u64>(), any::<i64>(), any::<i64>(), any::<u64>())
            .prop_map(|(size, modified, changed, inode)| FileStat { size, modified, changed, inode });
        let rows = prop::option::of(any::<[u8; 32]>().prop_map(FileHash::from_digest));
        (stat, any::<bool>(), rows)
            .prop_map(|(stat, is_settled, rows)| Known { stat: KnownStat { stat, is_settled }, rows })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(files in prop::collection::btree_map("[^/]{1,9}", known(), 0..20)) {
            let files: BTreeMap<&str, Known> = files.iter().map(|(name, known)| (name.as_str(), *known)).collect();
            let bytes = to_bytes(&files);
            let read = FolderFiles::read(&bytes).unwrap();
            prop_assert_eq!(read.len(), files.len());
            for (place, (name, known)) in files.iter().enumerate() {
                prop_assert_eq!(read.find(name), Some((place, known)));
            }
            prop_assert!(read.iter().map(|(name, known)| (*name, *known)).eq(files));
            prop_assert_eq!(read.find("no/name"), None);
        }

        #[test]
        fn other_bytes_are_read_as_nothing_or_as_files(bytes: Vec<u8>) {
            // What counts is that it ends: a digest of rows that is wrong leads to rows that are written
            // again.
            let _ = FolderFiles::read(&bytes);
        }
    }

    #[test]
    fn what_is_cut_off_or_out_of_order_is_no_list() {
        let stat = FileStat { size: 1, modified: 2, changed: 3, inode: 4 };
        let stat = KnownStat { stat, is_settled: true };
        let bytes = |name| to_bytes(&BTreeMap::from([(name, Known { stat, rows: None })]));
        for length in 1..bytes("a.md").len() {
            assert_eq!(FolderFiles::read(&bytes("a.md")[..length]), None, "{length}");
        }
        assert!(FolderFiles::read(&[bytes("a.md"), bytes("b.md")].concat()).is_some());
        assert_eq!(FolderFiles::read(&[bytes("b.md"), bytes("a.md")].concat()), None);
        assert_eq!(FolderFiles::read(&[bytes("a.md"), bytes("a.md")].concat()), None);
        assert!(to_bytes(&BTreeMap::new()).is_empty());
    }
}
