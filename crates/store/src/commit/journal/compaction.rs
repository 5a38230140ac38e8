//! Sealed segments joined into packs: few files, in which the same bytes take less space.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments are read and replaced here")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, BufReader},
    path::Path,
};

use crate::commit::{
    FsyncPolicy, file::flush_folder, journal::COMPRESSED, journal::Joining, journal::JournalFile,
    journal::PLAIN, journal::Source, journal::open,
};
use crate::disk::{root::Root, uninterrupted::uninterrupted};
use crate::history::{LARGEST_PACK, MOST_SEGMENTS, PACK_ENDING, PackedSegment, pack_contents};
use stepmark_model::{artifact::ProjectPath, journal::SegmentName};

pub(in crate::commit) const SEALED: &str = ".stepmark/journal";
/// A pack with so many bytes of segments is full; a segment of this size stands alone.
const FULL: u64 = LARGEST_PACK / 2;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    pub segments: Vec<SegmentName>,
    /// The number of files of segments before, and of their bytes.
    pub before: Files,
    pub after: Files,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Files {
    pub count: u64,
    pub bytes: u64,
}

/// Segments could not be joined. Those that were stay so; the others are as they were.
#[derive(Debug, thiserror::Error)]
#[error("cannot compact `{file}`; what is not in a pack yet stays where it is")]
pub struct CompactError {
    pub file: String,
    pub source: io::Error,
}

/// Joins sealed segments into packs: files of gzip with the same bytes inside, so that hashes, offsets and
/// ids stay, whoever else has joined them otherwise. A pack that is full is left alone. A segment too large
/// for a pack is compressed by itself. Live segments are left alone, and so is what is damaged, or stands in
/// two files with different bytes: `doctor` tells of that.
///
/// A pack is flushed, read back and compared before the files that it replaces are removed. A process that is
/// killed in between leaves both, of which readers count one, and the next run removes the others.
pub fn compact_segments(root: &Root, fsync: FsyncPolicy) -> Result<Compacted, CompactError> {
    compact_up_to(root, fsync, FULL)
}

/// The same, with packs that are full with so many bytes.
pub(in crate::commit) fn compact_up_to(
    root: &Root,
    fsync: FsyncPolicy,
    full: u64,
) -> Result<Compacted, CompactError> {
    let failed = |source| CompactError { file: SEALED.to_owned(), source };
    let path = ProjectPath::new(SEALED).map_err(io::Error::other).map_err(failed)?;
    let folder = root.resolve_for_writing(&path).map_err(io::Error::other).map_err(failed)?;
    if Tracked::list(&folder).map_err(failed)?.loose.is_empty() {
        return Ok(Compacted::default());
    }
    // Nobody seals meanwhile.
    let _lock = JournalFile::open(root).map_err(failed)?;
    Tracked::list(&folder).map_err(failed)?.compact(&folder, fsync, full)
}

/// The contents of the folder of the sealed segments.
#[derive(Default)]
struct Tracked {
    /// Segments in files of their own: the endings of these.
    loose: BTreeMap<SegmentName, Vec<&'static str>>,
    packs: BTreeMap<String, Vec<PackedSegment>>,
    files: Files,
}

impl Tracked {
    fn list(folder: &Path) -> io::Result<Self> {
        let mut tracked = Self::default();
        let entries = match uninterrupted(|| fs::read_dir(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(tracked),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            // `doctor` tells of what else stands here.
            if !entry.file_type()?.is_file() {
                continue;
            }
            let file_name = entry.file_name();
            let Some(file) = file_name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            if file.ends_with(PACK_ENDING) {
                let contents = open(folder, file).and_then(|file| pack_contents(BufReader::new(file)));
                tracked.packs.extend(contents.ok().map(|contents| (file.to_owned(), contents)));
            } else {
                let named = |ending: &&str| file.strip_suffix(*ending).and_then(SegmentName::new);
                let Some(ending) = [COMPRESSED, PLAIN].into_iter().find(|ending| named(ending).is_some())
                else {
                    continue;
                };
                named(&ending)
                    .into_iter()
                    .for_each(|name| tracked.loose.entry(name).or_default().push(ending));
            }
            tracked.files.count += 1;
            tracked.files.bytes += entry.metadata()?.len();
        }
        Ok(tracked)
    }

    fn alone(&self, name: &SegmentName) -> impl Iterator<Item = Source> {
        self.loose.get(name).into_iter().flatten().map(move |ending| Source::Alone(format!("{name}{ending}")))
    }

    /// Returns whether a segment of the pack stands elsewhere with other bytes, or cannot be read.
    fn contradicts(&self, folder: &Path, pack: &str, most: u64) -> bool {
        let packs: Vec<_> = self.packs.iter().collect();
        self.packs[pack].iter().any(|segment| {
            let found: Vec<Source> =
                sources(&packs, &segment.name).into_iter().chain(self.alone(&segment.name)).collect();
            let mut read = found.iter().map(|source| source.read(folder, most).ok().flatten());
            let first = read.next().flatten();
            found.len() > 1 && (first.is_none() || read.any(|other| other != first))
        })
    }

    fn compact(self, folder: &Path, fsync: FsyncPolicy, size: u64) -> Result<Compacted, CompactError> {
        let (open_packs, full): (Vec<_>, Vec<_>) = self.packs.iter().partition(|(file, segments)| {
            let bytes = segments.iter().map(|segment| segment.bytes).sum::<u64>();
            bytes < size && segments.len() < MOST_SEGMENTS && !self.contradicts(folder, file, size)
        });
        let mut joining = Joining::new(folder, fsync, size);
        let mut compacted = Compacted { before: self.files, ..Compacted::default() };
        let mut names: BTreeSet<&SegmentName> = self.loose.keys().collect();
        names
            .extend(open_packs.iter().flat_map(|(_, segments)| segments.iter().map(|segment| &segment.name)));
        let mut kept = BTreeSet::new();
        for name in names {
            let in_full = sources(&full, name);
            let is_full = !in_full.is_empty();
            let sources: Vec<Source> =
                in_full.into_iter().chain(sources(&open_packs, name)).chain(self.alone(name)).collect();
            let is_moved = joining
                .add(name, &sources, is_full)
                .map_err(|source| CompactError { file: format!("{SEALED}/{name}"), source })?;
            if is_moved {
                compacted.segments.extend(self.loose.contains_key(name).then(|| name.clone()));
            } else {
                kept.extend(sources.into_iter().filter_map(Source::into_pack));
            }
        }
        let failed = |source| CompactError { file: SEALED.to_owned(), source };
        joining.write().map_err(failed)?;
        for (file, _) in open_packs {
            if !kept.contains(file) && !joining.made.contains(file) {
                fs::remove_file(folder.join(file)).map_err(failed)?;
            }
        }
        flush_folder(folder, fsync).map_err(failed)?;
        compacted.after = Self::list(folder).map_err(failed)?.files;
        Ok(compacted)
    }
}

fn sources(packs: &[(&String, &Vec<PackedSegment>)], name: &SegmentName) -> Vec<Source> {
    let found = |(file, segments): &(&String, &Vec<PackedSegment>)| {
        let segment = segments.iter().find(|segment| segment.name == *name)?;
        Some(Source::Packed((*file).clone(), segment.clone()))
    };
    packs.iter().filter_map(found).collect()
}
