//! The segments' files, and their stats.

use crate::{Error, history::unreadable};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::disk::{
    file_lock::uninterrupted,
    file_reading::{self, FileStat},
    local_state::StateFolder,
    own_file::{self, Access},
    root::Root,
};
use crate::history::segments::is_joined;
use stepmark_model::journal::SegmentName;

pub const SEALED_FOLDER: &str = ".stepmark/journal";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentPlace {
    /// `NAME.jsonl` in the local state; appended to.
    Live,
    /// `NAME.jsonl` in the local state: this clone's copy of a segment that it sealed.
    Copy,
    /// `.stepmark/journal/NAME.jsonl`, written once.
    Sealed,
    /// `.stepmark/journal/MONTH-HASH.joined.jsonl`: several segments, concatenated.
    Joined,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    pub name: SegmentName,
    pub place: SegmentPlace,
    pub(in crate::history) stat: FileStat,
}

impl SegmentPlace {
    /// If a segment is in several places, the first counts: the live one may have more events, and no
    /// checkout replaces a copy.
    pub(in crate::history) const IN_ORDER: [Self; 4] = [Self::Live, Self::Copy, Self::Sealed, Self::Joined];

    pub(in crate::history) const fn code(self) -> i64 {
        self as i64
    }

    pub(in crate::history) fn of_code(code: i64) -> Option<Self> {
        Self::IN_ORDER.into_iter().find(|place| place.code() == code)
    }

    fn folder(self, root: &Root) -> PathBuf {
        match self {
            Self::Live => root.state().path(StateFolder::Journal),
            Self::Copy => root.state().path(StateFolder::SealedCopies),
            Self::Sealed | Self::Joined => sealed_folder(root),
        }
    }

    pub(in crate::history) fn file_of(self, root: &Root, name: &SegmentName) -> String {
        root.shown(&self.folder(root).join(format!("{name}{ENDING}")))
    }

    pub(in crate::history) fn open(self, root: &Root, name: &SegmentName) -> io::Result<File> {
        let file = format!("{name}{ENDING}");
        let (folder, file) = match self {
            Self::Live => (root.state().folder(StateFolder::Journal)?, file.into()),
            Self::Copy => (root.state().folder(StateFolder::SealedCopies)?, file.into()),
            Self::Sealed | Self::Joined => (root.path().to_owned(), Path::new(SEALED_FOLDER).join(file)),
        };
        own_file::open(&folder, &file, Access::Read)
    }
}

const ENDING: &str = ".jsonl";

impl SegmentFile {
    /// Relative to the project root with `/`, if below it.
    pub fn path(&self, root: &Root) -> String {
        self.place.file_of(root, &self.name)
    }

    pub(in crate::history) fn open(&self, root: &Root) -> io::Result<File> {
        self.place.open(root, &self.name)
    }

    /// In bytes.
    pub const fn size(&self) -> u64 {
        self.stat.size
    }
}

pub(in crate::history) fn sealed_folder(root: &Root) -> PathBuf {
    let mut place = root.path().to_owned();
    place.extend(SEALED_FOLDER.split('/'));
    place
}

pub(in crate::history) type SegmentFiles = BTreeMap<SegmentName, SegmentFile>;

pub(in crate::history) struct Listing {
    pub(in crate::history) files: SegmentFiles,
    pub(in crate::history) sealed_folder: Option<FileStat>,
    /// The start of the listing, in nanoseconds since 1970.
    pub(in crate::history) began: i64,
}

/// In nanoseconds: a new file is complete after this.
const WRITING: i64 = 3_000_000_000;

impl Listing {
    /// The folder of sealed segments, if its stat proves that its files are unchanged.
    pub(in crate::history) fn settled_folder(&self) -> Option<FileStat> {
        let mut sealed = self.files.values().filter(|file| file.place != SegmentPlace::Live);
        let are_settled = sealed.all(|file| !file.stat.may_hide_a_change(self.began));
        let written = self.began.saturating_sub(WRITING);
        self.sealed_folder.filter(|folder| are_settled && !folder.may_hide_a_change(written))
    }
}

pub(in crate::history) fn has_folder(root: &Root) -> bool {
    SegmentPlace::IN_ORDER.into_iter().any(|place| place.folder(root).is_dir())
}

/// `None` if missing; changes as files come or go.
pub(in crate::history) fn sealed_folder_stat(root: &Root) -> Result<Option<FileStat>, Error> {
    match fs::symlink_metadata(sealed_folder(root)) {
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(unreadable(SEALED_FOLDER, source)),
        Ok(metadata) => Ok(Some(FileStat::of(&metadata))),
    }
}

pub(in crate::history) fn list(root: &Root) -> Result<Listing, Error> {
    let began = file_reading::now();
    let sealed_folder = sealed_folder_stat(root)?;
    let mut files = list_live(root)?;
    list_folder(root, SegmentPlace::Copy, &mut files)?;
    list_folder(root, SegmentPlace::Sealed, &mut files)?;
    Ok(Listing { files, sealed_folder, began })
}

pub(in crate::history) fn list_live(root: &Root) -> Result<SegmentFiles, Error> {
    let mut files = SegmentFiles::new();
    list_folder(root, SegmentPlace::Live, &mut files)?;
    Ok(files)
}

pub(in crate::history) fn not_regular(root: &Root) -> Result<Vec<SegmentFile>, Error> {
    let mut found = Vec::new();
    for place in [SegmentPlace::Live, SegmentPlace::Copy, SegmentPlace::Sealed] {
        let failed = |source| unreadable(&root.shown(&place.folder(root)), source);
        let entries = match uninterrupted(|| fs::read_dir(place.folder(root))) {
            Err(error) if is_absent(&error) => continue,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let path = entry.map_err(failed)?.path();
            let named = path.file_name().and_then(|name| parse(name.to_str()?, place));
            if let (Some((name, place)), Ok(found_there)) = (named, fs::symlink_metadata(&path))
                && !found_there.is_file()
            {
                found.push(SegmentFile { name, place, stat: FileStat::of(&found_there) });
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// With or without a copy.
pub(in crate::history) fn list_sealed(root: &Root) -> Result<SegmentFiles, Error> {
    let mut files = SegmentFiles::new();
    list_folder(root, SegmentPlace::Sealed, &mut files)?;
    Ok(files)
}

fn list_folder(root: &Root, place: SegmentPlace, files: &mut SegmentFiles) -> Result<(), Error> {
    match add_folder(root, place, files) {
        // A file in place of the folder is an error.
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(unreadable(&root.shown(&place.folder(root)), error))
        }
        _ => Ok(()),
    }
}

pub(in crate::history) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn add_folder(root: &Root, place: SegmentPlace, found: &mut SegmentFiles) -> io::Result<()> {
    let folder = place.folder(root);
    match place {
        SegmentPlace::Live => drop(root.state().folder(StateFolder::Journal)?),
        SegmentPlace::Copy => drop(root.state().folder(StateFolder::SealedCopies)?),
        SegmentPlace::Sealed | SegmentPlace::Joined => {
            own_file::check_folder(root.path(), SEALED_FOLDER.as_ref())?
        }
    }
    for entry in uninterrupted(|| fs::read_dir(&folder))? {
        let entry = entry?;
        let named = entry.file_name().to_str().and_then(|name| parse(name, place));
        let Some((name, place)) = named else { continue };
        let metadata = match fs::symlink_metadata(entry.path()) {
            // Sealed or compacted meanwhile; the next update finds it.
            Err(error) if is_absent(&error) => continue,
            metadata => metadata?,
        };
        if !metadata.is_file() {
            continue;
        }
        add(found, SegmentFile { name, place, stat: FileStat::of(&metadata) });
    }
    Ok(())
}

/// Of one segment in several files the first counts.
fn add(found: &mut SegmentFiles, file: SegmentFile) {
    let known = found.entry(file.name.clone()).or_insert_with(|| file.clone());
    if file.place < known.place {
        *known = file;
    }
}

/// Parses a file name in the folder of `place`.
fn parse(file_name: &str, place: SegmentPlace) -> Option<(SegmentName, SegmentPlace)> {
    let name = SegmentName::new(file_name.strip_suffix(ENDING)?)?;
    let place = if place == SegmentPlace::Sealed && is_joined(&name) { SegmentPlace::Joined } else { place };
    Some((name, place))
}
