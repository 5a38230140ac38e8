//! The packs in the folder of the sealed segments.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, BufReader},
    path::Path,
};

use crate::disk::{
    file_stat::FileStat, own_file, own_file::Access, root::Root, uninterrupted::uninterrupted,
};
use crate::history::{
    HistoryError, SegmentFile, SegmentPlace, segments::PACK_ENDING, segments::PackPlace,
    segments::PackedSegment, segments::SEALED_FOLDER, segments::is_absent, segments::pack,
    segments::sealed_folder,
};
use stepmark_model::{artifact::ProjectPath, journal::SegmentName};

/// The name of a pack's file, and the segments in it, as far as it can be read.
pub(in crate::history) type ReadPack = (String, io::Result<Vec<SegmentFile>>);

/// The segments in a pack.
///
/// # Errors
/// When it cannot be read, or is none.
pub(in crate::history) fn packed_in(root: &Root, file: &str, stat: FileStat) -> io::Result<Vec<SegmentFile>> {
    let below = Path::new(SEALED_FOLDER).join(file);
    let packed =
        pack::contents(BufReader::new(own_file::open(root.path(), &below, Access::Read)?))?.into_iter();
    let in_pack = |segment: PackedSegment| SegmentFile {
        name: segment.name.clone(),
        place: SegmentPlace::Packed,
        pack: Some(PackPlace { file: file.to_owned(), segment }),
        stat,
    };
    Ok(packed.map(in_pack).collect())
}

/// The packs, by the names of their files, with the segments in each; those that cannot be read with the
/// reason.
///
/// # Errors
/// When the folder of the sealed segments is there and cannot be listed.
pub(in crate::history) fn packs(root: &Root) -> Result<Vec<ReadPack>, HistoryError> {
    let failed = |source| HistoryError::Read { path: SEALED_FOLDER.to_owned(), source };
    let entries = match uninterrupted(|| fs::read_dir(sealed_folder(root))) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut packs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let Some(file) =
            entry.file_name().to_str().filter(|name| name.ends_with(PACK_ENDING)).map(str::to_owned)
        else {
            continue;
        };
        if !file.starts_with('.') {
            let segments = entry.metadata().and_then(|found| packed_in(root, &file, FileStat::of(&found)));
            packs.push((file, segments));
        }
    }
    packs.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(packs)
}

/// The files that may hold a sealed segment: its own, plain or compressed, and those of `packs` that it is
/// in.
pub(crate) fn files_of_segment<'a>(
    segment: &'a SegmentName,
    packs: &'a BTreeMap<String, BTreeSet<SegmentName>>,
) -> impl Iterator<Item = ProjectPath> + 'a {
    let alone = ["jsonl", "jsonl.gz"].map(|ending| format!("{SEALED_FOLDER}/{segment}.{ending}"));
    let packs = packs.iter().filter(move |(_, names)| names.contains(segment)).map(|(path, _)| path.clone());
    alone.into_iter().chain(packs).filter_map(|path| ProjectPath::new(path).ok())
}

/// The segments in packs, by the paths of these below the project root. Packs that cannot be read are left
/// out.
///
/// # Errors
/// When the folder of the sealed segments is there and cannot be listed.
pub(crate) fn packed_segments(root: &Root) -> Result<BTreeMap<String, BTreeSet<SegmentName>>, HistoryError> {
    let names = |(file, found): ReadPack| {
        let names = found.ok()?.into_iter().map(|packed| packed.name).collect();
        Some((format!("{SEALED_FOLDER}/{file}"), names))
    };
    Ok(packs(root)?.into_iter().filter_map(names).collect())
}
