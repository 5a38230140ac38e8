//! The rows of a few files brought up to date, without looking at the others.

use std::{io, sync::atomic::AtomicUsize};

use crate::configuration::Configuration;
use crate::disk::file_reading;
use crate::manifest::{
    CacheOutcome, IgnoreFiles, ManifestDraft, ManifestPlace, ManifestReadError, ManifestWriteError, write,
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    projection::files_manifest::{Renewal, renewal},
};

/// Drafts the manifest at `place` with the hashes that the files at `paths` have now. Where a file has no row, or is gone, all of
/// it is drafted anew, as [`write()`] does; so it is where there is no manifest.
///
/// # Errors
/// When the manifest or a file cannot be read; those of [`write()`].
pub fn write_rows(
    place: &ManifestPlace,
    configuration: &Configuration,
    paths: &[ProjectPath],
) -> Result<ManifestDraft, ManifestWriteError> {
    match renewed(place, paths)? {
        Some(draft) => Ok(draft),
        None => {
            let (stat_cache, count) = (place.stat_cache(), AtomicUsize::new(0));
            write(&place.request(configuration, IgnoreFiles::Disregarded, stat_cache.as_deref(), &count))
        }
    }
}

/// `None` where more than hashes has to change.
fn renewed(place: &ManifestPlace, paths: &[ProjectPath]) -> Result<Option<ManifestDraft>, ManifestReadError> {
    let unreadable =
        |path: &std::path::Path, source| ManifestReadError::Unreadable { path: path.to_owned(), source };
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
