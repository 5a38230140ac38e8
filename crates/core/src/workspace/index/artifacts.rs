//! Artifacts, their steps and delegations: files whose stat is the one of the last time are not read.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
    sync::atomic::AtomicUsize,
};

use rusqlite::types::Type;

use super::{
    artifact_rows::ArtifactRows,
    error::Fault,
    known_files::{Known, KnownFiles, add_folder, folder_of, folder_to_bytes},
};
use crate::{
    artifact::ProjectPath,
    document::FileHash,
    project::index_db::{Contents, IntoCell as _, Part, Row},
    workspace::{
        Artifacts, TrackedArtifact, Workspace,
        artifact_files::{Looked, Reader, gathered, walk_artifacts},
        file_stat::FileStat,
        folder::{EntryKind, Folder},
        stat_cache::RunStart,
        verdicts::context_of,
        walk::Visitor,
    },
};

/// Reads what changed since the last time. All is read where something changed that decides about every artifact: the
/// configuration, a step file, this program.
pub(super) fn refresh(workspace: &Workspace, contents: &mut Contents<'_>) -> Result<(), Fault> {
    let start = RunStart::now();
    let context = context_of(workspace, start);
    let is_trusted = context.is_some() && contents.stamp(Part::Artifacts)? == context;
    let known = known_files(contents)?;
    let count = AtomicUsize::new(0);
    let nothing = KnownFiles::new();
    let new_looker = || Looker {
        reader: Reader::new(workspace, &count, &|_| true),
        known: if is_trusted { &known } else { &nothing },
        unchanged: Vec::new(),
        read: Vec::new(),
    };
    let walked = walk_artifacts(workspace, &new_looker)?;
    let (mut readers, mut unchanged, mut read) = (Vec::new(), Vec::new(), HashMap::new());
    for looker in walked.visitors {
        readers.push(looker.reader);
        unchanged.extend(looker.unchanged);
        read.extend(looker.read);
    }
    let found = gathered(workspace, readers, walked.problems, &count);
    let run = Run { start, known, met: HashSet::new(), read };
    run.write(contents, &found, unchanged)?;
    contents.replace_named("unreadable", unreadable(&found))?;
    contents.set_stamp(Part::Artifacts, context)?;
    Ok(())
}

/// The files of the last time. Bytes that are no list of files are a damaged database.
fn known_files(contents: &Contents<'_>) -> rusqlite::Result<KnownFiles> {
    let mut statement = contents.connection().prepare_cached("SELECT folder, known FROM _files")?;
    let mut rows = statement.query([])?;
    let mut known = KnownFiles::new();
    while let Some(row) = rows.next()? {
        let (folder, bytes) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_blob()?);
        if add_folder(&mut known, folder, bytes).is_none() {
            return Err(rusqlite::Error::InvalidColumnType(1, "known".to_owned(), Type::Blob));
        }
    }
    Ok(known)
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

/// What one refresh knows.
struct Run {
    start: RunStart,
    /// The files: at first those of the last time, in the end those of this time.
    known: KnownFiles,
    /// Those that were read and are known from now on.
    met: HashSet<String>,
    /// The stats of the files that were read, taken before; `None` where a stat says nothing, as of a link.
    read: HashMap<ProjectPath, (Option<FileStat>, Looked)>,
}

impl Run {
    fn write(
        mut self,
        contents: &mut Contents<'_>,
        found: &Artifacts,
        unchanged: Vec<String>,
    ) -> rusqlite::Result<()> {
        if self.read.is_empty() && unchanged.len() == self.known.len() {
            return Ok(());
        }
        for artifact in &found.artifacts {
            let stat = self.read.get(artifact.path()).and_then(|(stat, _)| *stat);
            self.write_artifact(contents, artifact, stat)?;
        }
        let stateless: Vec<(ProjectPath, Option<FileStat>)> = self
            .read
            .iter()
            .filter(|(_, (_, looked))| *looked == Looked::Stateless)
            .map(|(path, (stat, _))| (path.clone(), *stat))
            .collect();
        for (path, stat) in stateless {
            if self.known.get(path.as_str()).is_some_and(|before| before.rows.is_some()) {
                take_out(contents, path.as_str())?;
            }
            self.remember(path.as_str(), stat, None);
        }
        let gone = self.gone(&unchanged);
        for path in &gone {
            if self.known.remove(path).is_some_and(|before| before.rows.is_some()) {
                take_out(contents, path)?;
            }
        }
        let touched: BTreeSet<&str> = self.met.iter().chain(&gone).map(|path| folder_of(path)).collect();
        touched.into_iter().try_for_each(|folder| self.write_folder(contents, folder))
    }

    /// The files of the last time that are gone, or cannot be read any more.
    fn gone(&self, unchanged: &[String]) -> Vec<String> {
        if self.met.len() + unchanged.len() == self.known.len() {
            return Vec::new();
        }
        let unchanged: HashSet<&String> = unchanged.iter().collect();
        let is_gone = |path: &&String| !unchanged.contains(path) && !self.met.contains(*path);
        self.known.keys().filter(is_gone).cloned().collect()
    }

    /// Remembers the files of a folder, if anything about them is another than before.
    fn write_folder(&self, contents: &mut Contents<'_>, folder: &str) -> rusqlite::Result<()> {
        let bytes = folder_to_bytes(&self.known, folder);
        if bytes.is_empty() {
            return contents.change("DELETE FROM _files WHERE folder = ?", [folder]).map(drop);
        }
        let sql = "SELECT 1 FROM _files WHERE folder = ? AND known = ?";
        if contents.connection().prepare_cached(sql)?.exists((folder, &bytes))? {
            return Ok(());
        }
        contents.change("INSERT OR REPLACE INTO _files VALUES (?, ?)", (folder, bytes)).map(drop)
    }

    fn write_artifact(
        &mut self,
        contents: &mut Contents<'_>,
        artifact: &TrackedArtifact,
        stat: Option<FileStat>,
    ) -> rusqlite::Result<()> {
        let path = artifact.path().as_str();
        let rows = ArtifactRows::of(artifact, stat.as_ref());
        let digest = rows.digest();
        let before = self.known.get(path);
        if before.and_then(|before| before.rows) != Some(digest) {
            if before.is_some_and(|before| before.rows.is_some()) {
                take_out(contents, path)?;
            }
            contents.insert("artifacts", rows.artifact)?;
            for row in rows.steps {
                contents.insert("steps", row)?;
            }
            if let Some(row) = rows.delegation {
                contents.insert("delegations", row)?;
            }
        }
        self.remember(path, stat, Some(digest));
        Ok(())
    }

    /// Remembers the stat of a file.
    fn remember(&mut self, path: &str, stat: Option<FileStat>, rows: Option<FileHash>) {
        let is_settled = stat.is_some_and(|stat| !stat.may_hide_a_change(self.start.moment));
        let stat = stat.unwrap_or(FileStat::NONE);
        self.known.insert(path.to_owned(), Known { stat, is_settled, rows });
        self.met.insert(path.to_owned());
    }
}

fn take_out(contents: &mut Contents<'_>, path: &str) -> rusqlite::Result<()> {
    contents.remove("artifacts", "path", path)?;
    contents.remove("steps", "artifact", path)?;
    contents.remove("delegations", "artifact", path)
}

/// Tells the files of one thread apart, and reads those that have to be read.
struct Looker<'run> {
    reader: Reader<'run>,
    known: &'run KnownFiles,
    unchanged: Vec<String>,
    read: Vec<(ProjectPath, (Option<FileStat>, Looked))>,
}

impl Visitor for Looker<'_> {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        for place in places {
            // What a link leads to may change without its own stat.
            if folder.kind(place) == EntryKind::File {
                let path = folder.path_of(folder.name(place));
                if self.is_unchanged(folder, place, &path) {
                    self.reader.passed();
                    self.unchanged.push(path);
                    continue;
                }
            }
            let Some(path) = self.reader.candidate(folder, place) else { continue };
            let stat = (folder.kind(place) == EntryKind::File).then(|| folder.stat(place).ok()).flatten();
            let stat = stat.filter(|(kind, _)| *kind == EntryKind::File).map(|(_, stat)| stat);
            let looked = self.reader.look(folder, place, path.clone());
            self.read.push((path, (stat, looked)));
        }
    }
}

impl Looker<'_> {
    fn is_unchanged(&self, folder: &Folder, place: usize, path: &str) -> bool {
        self.known.get(path).is_some_and(|known| {
            known.is_settled && folder.stat(place).is_ok_and(|seen| seen == (EntryKind::File, known.stat))
        })
    }
}
