//! `manifest write`: computes a manifest's bytes from the disk.

use std::io;

use crate::{
    Error, ErrorKind,
    disk::{
        file_reading,
        stat_cache::{RunStart, StatCache},
        walk::WalkProblem,
    },
    manifest::unreadable,
    manifest::{
        CacheOutcome, Hashed, ManifestPlace, ManifestRequest,
        inventory::{Inventory, Selection, UnreadableFile, installers_manifest},
        read_manifest,
    },
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    projection::files_manifest::{
        self, FileRow, Listing, ManifestScope, ManifestWarning, ManifestWarningKind, Renewal, RowOrder,
        renewal,
    },
};

#[derive(Clone, Debug)]
pub struct ManifestDraft {
    pub bytes: Vec<u8>,
    pub files: usize,
    /// Expected by the commit; `None` if there is no manifest.
    pub existing: Option<FileHash>,
    /// True if the file is missing, empty, or begins like a manifest: other files are replaced only at a
    /// manifest's default path.
    pub is_over_manifest: bool,
    /// Their rows have no hash, as the installer writes them.
    pub unreadable: Vec<UnreadableFile>,
    /// By path; not in the manifest.
    pub problems: Vec<WalkProblem>,
    pub cache: CacheOutcome,
}

impl ManifestDraft {
    pub fn is_up_to_date(&self) -> bool {
        self.existing == Some(FileHash::of(&self.bytes))
    }
}

pub(super) fn write(request: &ManifestRequest<'_>) -> Result<ManifestDraft, Error> {
    let start = RunStart::now();
    let cache = request.stat_cache.and_then(StatCache::load);
    let existing = read_manifest(request.manifest, Hashed::Yes)?;
    let hash = existing.as_ref().and_then(|existing| existing.hash);
    let is_over_manifest = existing.as_ref().is_none_or(|found| {
        hash == Some(FileHash::of(b"")) || !found.listing.oddities().iter().any(is_header)
    });
    // Oddities of the earlier manifest disappear with it.
    let earlier = match existing {
        Some(existing) => existing.listing,
        None => installers_listing(request)?,
    };
    let inventory = Inventory { request, selection: Selection::new(request), earlier: &earlier };
    let collected = inventory.run(cache.as_ref(), start)?;

    let mut rows = Vec::with_capacity(collected.files.len());
    for (path, hash) in &collected.files {
        rows.push(FileRow::of(path, *hash).map_err(|error| Error::told(ErrorKind::Refused, error))?);
    }
    RowOrder::root().map_err(|error| Error::told(ErrorKind::Io, error))?.sort(&mut rows, earlier.lines());
    let bytes = files_manifest::write(&rows).map_err(|error| Error::told(ErrorKind::Refused, error))?;
    Ok(ManifestDraft {
        bytes,
        files: rows.len(),
        existing: hash,
        is_over_manifest,
        unreadable: collected.unreadable,
        problems: collected.problems,
        cache: collected.cache,
    })
}

fn is_header(oddity: &ManifestWarning) -> bool {
    matches!(oddity.kind, ManifestWarningKind::Header { .. })
}

/// Empty outside a `_bmad` folder.
fn installers_listing(request: &ManifestRequest<'_>) -> Result<Listing, Error> {
    if !matches!(request.scope, ManifestScope::BmadFolder) {
        return Ok(Listing::default());
    }
    let found = read_manifest(&installers_manifest(request.root.path()), Hashed::No)?;
    Ok(found.map(|found| found.listing).unwrap_or_default())
}

/// Today's hashes for `paths`; `None` if more must change.
pub(super) fn renewed(place: &ManifestPlace, paths: &[ProjectPath]) -> Result<Option<ManifestDraft>, Error> {
    let Some(mut bytes) = present(file_reading::read_file(place.manifest()))
        .map_err(|error| unreadable(place.manifest(), error))?
    else {
        return Ok(None);
    };
    let existing = FileHash::of(&bytes);
    for path in paths {
        let file = place.root().path().join(path);
        let Some(content) =
            present(file_reading::read_file(&file)).map_err(|error| unreadable(&file, error))?
        else {
            return Ok(None);
        };
        let hash = FileHash::of(&content);
        match renewal(&bytes, path.as_str(), hash) {
            Some(Renewal::Current) => {}
            Some(Renewal::Outdated(digits)) => bytes[digits].copy_from_slice(hash.to_string().as_bytes()),
            None => return Ok(None),
        }
    }
    let rows = memchr::memchr_iter(b'\n', &bytes).count().saturating_sub(1);
    Ok(Some(ManifestDraft {
        is_over_manifest: true,
        bytes,
        files: rows,
        existing: Some(existing),
        unreadable: Vec::new(),
        problems: Vec::new(),
        cache: CacheOutcome::Absent,
    }))
}

fn present(read: io::Result<Vec<u8>>) -> io::Result<Option<Vec<u8>>> {
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
