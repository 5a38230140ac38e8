//! Compaction: joins sealed segments into monthly files, their bytes unchanged, one after the other.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments are read and replaced here")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::commit::{
    FsyncPolicy, file::flush_folder, file::write_anew, journal::EXTENSION, journal::JournalFile,
};
use crate::disk::{
    file_lock::uninterrupted,
    own_file::{self, Access},
    root::Root,
};
use crate::history::{JOINED, Part, SEALED_FOLDER, is_joined, read_parts};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::SegmentName,
};

/// In bytes: a larger file of joined segments is left alone.
const FULL: u64 = 8 * 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    pub segments: Vec<SegmentName>,
    /// The number of segment files, and their bytes.
    pub before: Files,
    pub after: Files,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Files {
    pub count: u64,
    pub bytes: u64,
}

/// Segments already joined stay so; the others are unchanged.
#[derive(Debug, thiserror::Error)]
#[error("cannot compact `{file}`; what is not joined yet stays where it is")]
pub struct CompactError {
    pub file: String,
    pub source: io::Error,
}

/// Joins sealed segments into one file for each month in which they began: the same bytes, hashes and ids,
/// whoever joins. Live, damaged or contradictory segments are left alone; `doctor` reports them.
///
/// A file is flushed and read back before those that it replaces are removed. A kill in between leaves both:
/// readers count one, and the next run removes the others.
pub fn compact_segments(root: &Root, fsync: FsyncPolicy) -> Result<Compacted, CompactError> {
    compact_up_to(root, fsync, FULL)
}

pub(in crate::commit) fn compact_up_to(
    root: &Root,
    fsync: FsyncPolicy,
    full: u64,
) -> Result<Compacted, CompactError> {
    let failed = |source| CompactError { file: SEALED_FOLDER.to_owned(), source };
    let path = ProjectPath::new(SEALED_FOLDER).map_err(io::Error::other).map_err(failed)?;
    let folder = root.resolve_for_writing(&path).map_err(io::Error::other).map_err(failed)?;
    let files = list(&folder).map_err(failed)?;
    if files.keys().all(is_joined) {
        return Ok(Compacted::default());
    }
    // Keeps others from sealing.
    let _lock = JournalFile::open(root).map_err(failed)?;
    let before = list(&folder).map_err(failed)?;
    let mut found = Found::default();
    for (name, size) in &before {
        let parts = open(&folder, name).and_then(|file| read_parts(file, name));
        let parts =
            parts.map_err(|source| CompactError { file: format!("{SEALED_FOLDER}/{name}"), source })?;
        found.add(name, parts, is_joined(name) && *size >= full);
    }
    found.keep_whole();
    let joining = Joining { folder: &folder, fsync };
    let made = found.months().into_iter().map(|(month, places)| joining.write(&month, &places));
    let made: BTreeSet<SegmentName> = made.collect::<io::Result<_>>().map_err(failed)?;
    let (mut segments, gone) = (Vec::new(), found.replaced().filter(|file| !made.contains(file)));
    for file in gone {
        fs::remove_file(folder.join(format!("{file}{EXTENSION}"))).map_err(failed)?;
        segments.extend((!is_joined(&file)).then_some(file));
    }
    flush_folder(&folder, fsync).map_err(failed)?;
    let after = list(&folder).map_err(failed)?;
    Ok(Compacted { segments, before: sums(&before), after: sums(&after) })
}

fn list(folder: &Path) -> io::Result<BTreeMap<SegmentName, u64>> {
    let entries = match uninterrupted(|| fs::read_dir(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries?,
    };
    let mut files = BTreeMap::new();
    for entry in entries {
        let (name, metadata) = entry.and_then(|entry| Ok((entry.file_name(), entry.metadata()?)))?;
        let name = name.to_str().and_then(|name| SegmentName::new(name.strip_suffix(EXTENSION)?));
        // `doctor` reports other names.
        files.extend(name.filter(|_| metadata.is_file()).map(|name| (name, metadata.len())));
    }
    Ok(files)
}

fn sums(files: &BTreeMap<SegmentName, u64>) -> Files {
    Files { count: files.len() as u64, bytes: files.values().sum() }
}

fn open(folder: &Path, file: &SegmentName) -> io::Result<fs::File> {
    own_file::open(folder, format!("{file}{EXTENSION}").as_ref(), Access::Read)
}

struct Place {
    part: Part,
    file: SegmentName,
    began: Timestamp,
}

#[derive(Default)]
struct Found {
    places: BTreeMap<SegmentName, Place>,
    /// Full or damaged files, and those that disagree with another.
    kept: BTreeSet<SegmentName>,
    files: BTreeMap<SegmentName, Vec<SegmentName>>,
}

impl Found {
    /// `parts` is `None` if the file is damaged.
    fn add(&mut self, file: &SegmentName, parts: Option<Vec<Part>>, is_full: bool) {
        let began = |parts: &Vec<Part>| parts.iter().all(|part| part.at.is_some());
        if is_full || !parts.as_ref().is_some_and(began) {
            self.kept.insert(file.clone());
        }
        for part in parts.into_iter().flatten() {
            let Some(began) = part.at else { continue };
            let place = Place { part, file: file.clone(), began };
            self.files.entry(file.clone()).or_default().push(place.part.name.clone());
            match self.places.get(&place.part.name) {
                Some(known) if known.part.last != place.part.last => {
                    self.kept.extend([known.file.clone(), place.file]);
                }
                Some(known) if !is_full || self.kept.contains(&known.file) => {}
                _ => drop(self.places.insert(place.part.name.clone(), place)),
            }
        }
    }

    /// Keeps files that are exactly one month's segments.
    fn keep_whole(&mut self) {
        let is_whole = |places: &Vec<&Place>| {
            let file = &places.first()?.file;
            let is_whole =
                places.iter().all(|place| place.file == *file) && self.files[file].len() == places.len();
            Some(file.clone()).filter(|file| is_whole && is_joined(file))
        };
        let whole: Vec<SegmentName> = self.months().values().filter_map(is_whole).collect();
        self.kept.extend(whole);
    }

    /// Segments to join, by the month of their beginning; without those of kept files.
    fn months(&self) -> BTreeMap<String, Vec<&Place>> {
        let mut months: BTreeMap<String, Vec<&Place>> = BTreeMap::new();
        for place in self.places.values().filter(|place| !self.kept.contains(&place.file)) {
            months.entry(place.began.strftime("%Y-%m").to_string()).or_default().push(place);
        }
        months.values_mut().for_each(|places| places.sort_by_key(|place| (place.began, &place.part.name)));
        months
    }

    /// Files whose segments are all in another file, or are being written to one.
    fn replaced(&self) -> impl Iterator<Item = SegmentName> {
        self.files.keys().filter(|file| !self.kept.contains(file)).cloned()
    }
}

struct Joining<'a> {
    folder: &'a Path,
    fsync: FsyncPolicy,
}

impl Joining<'_> {
    /// The same segments give the same name.
    fn write(&self, month: &str, places: &[&Place]) -> io::Result<SegmentName> {
        let unnamed = || io::Error::other("a month cannot be the name of a file");
        let staged = format!(".{month}{JOINED}{EXTENSION}.tmp");
        let mut digest = Sha256::new();
        write_anew(&self.folder.join(&staged), self.fsync, |target| {
            for Place { part, file, .. } in places {
                let mut source = open(self.folder, file)?;
                source.seek(SeekFrom::Start(part.from))?;
                let mut bytes = io::BufReader::new(source).take(part.end - part.from);
                io::copy(&mut bytes, &mut Hashing(&mut *target, &mut digest))?;
            }
            Ok(())
        })?;
        let hash = FileHash::from_digest(digest.finalize().into()).to_string();
        let name = format!("{month}-{}{JOINED}", hash.get(..12).unwrap_or(&hash));
        let name = SegmentName::new(&name).ok_or_else(unnamed)?;
        let written = own_file::open(self.folder, staged.as_ref(), Access::Read)?;
        let read = read_parts(written, &name)?.unwrap_or_default();
        let ends = read.iter().map(|part| (&part.name, part.last));
        if !ends.eq(places.iter().map(|place| (&place.part.name, place.part.last))) {
            return Err(io::Error::other("what was written does not lead back to the segments"));
        }
        fs::rename(self.folder.join(&staged), self.folder.join(format!("{name}{EXTENSION}")))?;
        flush_folder(self.folder, self.fsync)?;
        Ok(name)
    }
}

struct Hashing<'a, W>(&'a mut W, &'a mut Sha256);

impl<W: Write> Write for Hashing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
