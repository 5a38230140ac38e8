//! Which files segments stand in, and what the file system says of them.

use std::{
    collections::BTreeMap,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::Serialize;

use super::{super::SegmentName, HistoryError};
use crate::root::Root;

/// The folder of the live segments, seen from the project root.
const LIVE_FOLDER: &str = ".stepmark/local/journal";
/// The folder of the sealed segments, seen from the project root.
const SEALED_FOLDER: &str = ".stepmark/journal";

/// The state that a segment's file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentPlace {
    /// `.stepmark/local/journal/NAME.jsonl`, to which events are added.
    Live,
    /// `.stepmark/journal/NAME.jsonl`, written once.
    Sealed,
    /// `.stepmark/journal/NAME.jsonl.gz`: the bytes of a sealed one, compressed.
    Compressed,
}

/// A segment as the file system shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    /// The segment's name.
    pub name: SegmentName,
    /// In which folder it stands, and how.
    pub place: SegmentPlace,
    /// What changes when its bytes do.
    pub(super) stamp: Stamp,
}

/// What the file system says of a file without reading it. Equal ones mean equal bytes: a segment only grows, and git
/// replaces files by new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    /// In nanoseconds since 1970.
    pub(super) modified: i64,
    /// 0 where the system has none.
    pub(super) inode: i64,
}

impl SegmentPlace {
    /// All of them. Of one segment that stands in several places, the first counts: the live one may have more
    /// events, and what is compressed costs more to read.
    const IN_ORDER: [Self; 3] = [Self::Live, Self::Sealed, Self::Compressed];

    pub(super) const fn code(self) -> i64 {
        self as i64
    }

    pub(super) fn of_code(code: i64) -> Option<Self> {
        Self::IN_ORDER.into_iter().find(|place| place.code() == code)
    }

    const fn folder(self) -> &'static str {
        match self {
            Self::Live => LIVE_FOLDER,
            Self::Sealed | Self::Compressed => SEALED_FOLDER,
        }
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Live | Self::Sealed => ".jsonl",
            Self::Compressed => ".jsonl.gz",
        }
    }

    /// The path of the segment's file, seen from the project root, with `/` between its parts.
    pub fn file_of(self, name: &SegmentName) -> String {
        format!("{}/{name}{}", self.folder(), self.ending())
    }
}

impl SegmentFile {
    /// The path of the file, seen from the project root.
    pub fn path(&self) -> String {
        self.place.file_of(&self.name)
    }

    /// Its size in bytes, as it stands on the disk.
    pub const fn size(&self) -> u64 {
        self.stamp.size
    }

    pub(super) fn location(&self, root: &Root) -> PathBuf {
        location(root, &self.path())
    }
}

/// The place in the file system of a path below the root.
pub(super) fn location(root: &Root, path: &str) -> PathBuf {
    let mut place = root.path().to_owned();
    place.extend(path.split('/'));
    place
}

impl Stamp {
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let modified = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
        Self { size: metadata.len(), modified, inode: metadata.ino().cast_signed() }
    }

    #[cfg(not(unix))]
    pub(super) fn of(metadata: &Metadata) -> Self {
        let since = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0);
        Self { size: metadata.len(), modified, inode: 0 }
    }
}

/// Segments by name.
pub(super) type SegmentFiles = BTreeMap<SegmentName, SegmentFile>;

/// What the folders of the journal hold.
pub(super) struct Listing {
    /// The segments. Other files in the folders are no business of the journal.
    pub(super) files: SegmentFiles,
    /// The folder of the sealed segments, before it was listed.
    pub(super) sealed_folder: Option<Stamp>,
    /// When the listing began, in nanoseconds since 1970.
    began: i64,
}

/// A change of a folder so shortly before it is listed that another one could bear the same time.
const UNSETTLED: i64 = 3_000_000_000;

impl Listing {
    /// Whether no change of the folder can have escaped the listing without changing its stamp.
    pub(super) const fn is_settled(&self, folder: Stamp) -> bool {
        folder.modified.saturating_add(UNSETTLED) < self.began
    }
}

/// Whether there is a folder that segments stand in.
pub(super) fn has_folder(root: &Root) -> bool {
    [LIVE_FOLDER, SEALED_FOLDER].into_iter().any(|folder| location(root, folder).is_dir())
}

/// What changes when a file comes into the folder of the sealed segments or leaves it; `None` where there is none.
///
/// # Errors
/// When it cannot be reached.
pub(super) fn sealed_folder_stamp(root: &Root) -> Result<Option<Stamp>, HistoryError> {
    match fs::metadata(location(root, SEALED_FOLDER)) {
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(HistoryError::Read { path: SEALED_FOLDER.to_owned(), source }),
        Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
    }
}

/// Lists all segments.
///
/// # Errors
/// When a folder is there and cannot be listed.
pub(super) fn list(root: &Root) -> Result<Listing, HistoryError> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let began = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    let sealed_folder = sealed_folder_stamp(root)?;
    let mut files = list_live(root)?;
    list_folder(root, SEALED_FOLDER, &mut files)?;
    Ok(Listing { files, sealed_folder, began })
}

/// Lists the live segments.
///
/// # Errors
/// When their folder is there and cannot be listed.
pub(super) fn list_live(root: &Root) -> Result<SegmentFiles, HistoryError> {
    let mut files = SegmentFiles::new();
    list_folder(root, LIVE_FOLDER, &mut files)?;
    Ok(files)
}

fn list_folder(root: &Root, folder: &str, files: &mut SegmentFiles) -> Result<(), HistoryError> {
    match add_folder(&location(root, folder), folder == LIVE_FOLDER, files) {
        Err(error) if !is_absent(&error) => {
            Err(HistoryError::Read { path: folder.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

/// Whether the error says that nothing stands there.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn add_folder(folder: &Path, is_live: bool, found: &mut SegmentFiles) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let Some((name, place)) = file_name.to_str().and_then(|name| parse(name, is_live)) else { continue };
        let metadata = match fs::metadata(entry.path()) {
            // Sealed or compacted between the two looks; the next catch-up sees its new place.
            Err(error) if is_absent(&error) => continue,
            metadata => metadata?,
        };
        if !metadata.is_file() {
            continue;
        }
        let file = SegmentFile { name: name.clone(), place, stamp: Stamp::of(&metadata) };
        found
            .entry(name)
            .and_modify(|known| {
                if file.place < known.place {
                    *known = file.clone();
                }
            })
            .or_insert(file);
    }
    Ok(())
}

fn parse(file_name: &str, is_live: bool) -> Option<(SegmentName, SegmentPlace)> {
    let places = SegmentPlace::IN_ORDER.into_iter().filter(|place| (*place == SegmentPlace::Live) == is_live);
    // `.jsonl.gz` does not end with `.jsonl`: at most one fits.
    places
        .filter_map(|place| file_name.strip_suffix(place.ending()).map(|name| (name, place)))
        .find_map(|(name, place)| Some((SegmentName::new(name)?, place)))
}
