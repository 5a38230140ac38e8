//! Reasons why the database cannot be updated.

use crate::disk::folder::{EntryKind, Folder};
use crate::disk::walk::Visitor;
use crate::index::artifacts::{FolderFiles, KnownFolders, NoFiles};
use crate::workspace::artifact_files::{Looked, Reader};
use crate::{Error, disk::file_reading::FileStat};
use std::{collections::HashMap, ops::Range};
use stepmark_model::artifact::ProjectPath;

#[derive(Debug)]
pub(super) enum Fault {
    /// Another database may work.
    Database(rusqlite::Error),
    Failed(Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

#[derive(Debug, Default)]
pub(super) struct SeenFolder {
    /// For each known file, by index: is it there unchanged?
    pub(super) is_unchanged: Vec<bool>,
    pub(super) read: Vec<ReadFile>,
}

#[derive(Debug)]
pub(super) struct ReadFile {
    pub(super) path: ProjectPath,
    /// From before it was read; `None` if it proves nothing, as for a link.
    pub(super) stat: Option<FileStat>,
    pub(super) looked: Looked,
}

impl SeenFolder {
    pub(super) fn add(&mut self, other: Self) {
        self.is_unchanged.resize(self.is_unchanged.len().max(other.is_unchanged.len()), false);
        for (is_unchanged, other) in self.is_unchanged.iter_mut().zip(other.is_unchanged) {
            *is_unchanged |= other;
        }
        self.read.extend(other.read);
    }
}

pub(super) struct Scanner<'run> {
    pub(super) reader: Reader<'run>,
    /// `None` if all must be read.
    known: Option<&'run KnownFolders>,
    pub(super) seen: Result<HashMap<String, SeenFolder>, NoFiles>,
}

impl<'run> Scanner<'run> {
    pub(super) fn new(reader: Reader<'run>, known: Option<&'run KnownFolders>) -> Self {
        Self { reader, known, seen: Ok(HashMap::new()) }
    }

    fn look(&mut self, folder: &Folder, places: Range<usize>, known: &FolderFiles<'_>) -> SeenFolder {
        let mut seen = SeenFolder { is_unchanged: vec![false; known.len()], read: Vec::new() };
        for place in places {
            let name = folder.name(place);
            // A link's target may change without changing the link's stat.
            let is_file = folder.kind(place) == EntryKind::File;
            if is_file && let Some((known_place, known)) = known.find(name) {
                let is_same = |(kind, stat)| kind == EntryKind::File && known.stat.proves(&stat);
                if folder.stat(place).is_ok_and(is_same) {
                    self.reader.passed();
                    seen.is_unchanged[known_place] = true;
                    continue;
                }
            }
            let Some(path) = self.reader.candidate(folder, place) else { continue };
            let stat = is_file.then(|| folder.stat(place).ok()).flatten();
            let stat = stat.filter(|(kind, _)| *kind == EntryKind::File).map(|(_, stat)| stat);
            let looked = self.reader.look(folder, place, path.clone());
            seen.read.push(ReadFile { path, stat, looked });
        }
        seen
    }
}

impl Visitor for Scanner<'_> {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        let files = self.known.map_or_else(|| Ok(FolderFiles::default()), |known| known.files(folder.path()));
        match files {
            Ok(known) => {
                let looked = self.look(folder, places, &known);
                if let Ok(seen) = &mut self.seen {
                    seen.entry(folder.path().to_owned()).or_default().add(looked);
                }
            }
            Err(damaged) => self.seen = Err(damaged),
        }
    }
}
