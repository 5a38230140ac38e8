//! Artifacts, their steps and delegations: files whose stat is the one of the last time are not read.

use std::collections::{BTreeMap, HashMap};

use crate::checking::cache::context;
use crate::disk::{file_stat::FileStat, stat_cache::RunStart};
use crate::index::artifact_rows::{ArtifactRows, LISTED};
use crate::index::error::{Fault, ReadFile, Scanner, SeenFolder};
use crate::index::known_files::{Known, KnownFolders, to_bytes};
use crate::index_db::{Contents, IntoCell as _, Part, Row};
use crate::workspace::{
    Artifacts, Workspace, artifact_files::Looked, artifact_files::Reader, artifact_files::gathered,
    artifact_files::walk_artifacts,
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    tracked_artifact::TrackedArtifact,
};

/// Reads what changed since the last time. All is read where something changed that decides about every
/// artifact: the configuration, a step file, this program.
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
    // Tickets without a plan have no file that could tell that they are gone.
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
        (error.path().as_str().to_owned(), reason)
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

    /// Writes the rows of a file that was read, where they are others than `before`.
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
