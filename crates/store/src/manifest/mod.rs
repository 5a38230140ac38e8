//! `files-manifest.csv` and the disk: walk, hash, compare, write.
//! [`stepmark_model::projection::files_manifest`] decides; here files are found and hashed.
#![expect(clippy::disallowed_methods, reason = "an edge module: the manifest is read here")]

mod inventory;
mod verify;
mod write;
#[cfg(feature = "write")]
mod publish;
#[cfg(test)]
mod tests;

use crate::Error;
use std::{
    collections::HashSet,
    fs,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::atomic::AtomicUsize,
};

use sha2::{Digest, Sha256};

pub use self::{
    inventory::{ManifestChoice, ManifestPlace, UnreadableFile},
    verify::ManifestReport,
    write::ManifestDraft,
};
use crate::disk::{
    Root, stat_cache::FolderRenewal, stat_cache::ReadManifest, stat_cache::Renewal, stat_cache::RunStart,
    stat_cache::StatCache,
};
use crate::disk::{file_reading::open_file, file_reading::too_large, local_state::StateFolder, own_file};
#[cfg(feature = "write")]
use crate::projection::Published;
use crate::workspace::Workspace;
pub use stepmark_model::projection::files_manifest::DEFAULT_MANIFEST;
use stepmark_model::{
    artifact::{FileHash, ProjectPath, READ_LIMIT},
    projection::files_manifest::{Listing, ListingBuilder, ManifestScope},
};

/// In bytes.
const READ_AT_ONCE: usize = 128 * 1024;

#[derive(Clone, Copy, Debug)]
pub struct Manifests<'w> {
    workspace: &'w Workspace,
}

impl Workspace {
    pub const fn manifests(&self) -> Manifests<'_> {
        Manifests { workspace: self }
    }
}

impl Manifests<'_> {
    pub fn verify(&self, place: &ManifestPlace, ignore_files: IgnoreFiles) -> Result<ManifestReport, Error> {
        verify::verify(&place.request(self.workspace, ignore_files, place.stat_cache().as_deref()))
    }

    /// Writes only the stat cache.
    ///
    /// Tied rows keep the order of the existing manifest, or, in a `_bmad` folder without one, of the
    /// installer's.
    pub fn draft(&self, place: &ManifestPlace, ignore_files: IgnoreFiles) -> Result<ManifestDraft, Error> {
        write::write(&place.request(self.workspace, ignore_files, place.stat_cache().as_deref()))
    }

    /// Updates the hashes of `paths`. Drafts all anew if a file has no row or is gone, or without a manifest.
    pub fn draft_rows(&self, place: &ManifestPlace, paths: &[ProjectPath]) -> Result<ManifestDraft, Error> {
        write::renewed(place, paths)?.map_or_else(|| self.draft(place, IgnoreFiles::Disregarded), Ok)
    }

    /// Atomic, and only if the manifest is still the one that the draft is based on. Equal bytes are not
    /// written.
    #[cfg(feature = "write")]
    pub fn publish(&self, place: &ManifestPlace, draft: &ManifestDraft) -> Result<Published, Error> {
        publish::publish(self.workspace.commit_options(), place, draft)
    }
}

#[derive(Clone, Copy, Debug)]
struct ManifestRequest<'a> {
    /// The base of the manifest's paths, and the start of the walk.
    root: &'a Root,
    manifest: &'a Path,
    scope: ManifestScope<'a>,
    /// The effect of git's ignore files and `.ignore` on the scope.
    ignore_files: IgnoreFiles,
    /// Hashes of unchanged files between runs; `None` if they cannot be kept.
    stat_cache: Option<&'a Path>,
    looked_at: &'a AtomicUsize,
}

/// The effect of ignore files on a walk. Listed files are always compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoreFiles {
    /// Ignored artifacts are artifacts.
    #[default]
    Disregarded,
    /// Ignored files are not in scope.
    Honoured,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CacheOutcome {
    #[default]
    Absent,
    Unchanged,
    Renewed,
    /// A new cache could not be written; the next run hashes again.
    NotWritten {
        reason: String,
    },
}

#[derive(Debug, Default)]
struct FoundManifest {
    listing: Listing,
    hash: Option<FileHash>,
}

/// Hashing a manifest takes longer than reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hashed {
    No,
    Yes,
}

/// `None` if there is no file. Reads line by line, since what is kept is much smaller.
fn read_manifest(path: &Path, hashed: Hashed) -> Result<Option<FoundManifest>, Error> {
    let read = || -> io::Result<FoundManifest> {
        let file = open_file(path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        if found.len() > READ_LIMIT {
            return Err(too_large());
        }
        let mut reader = BufReader::with_capacity(READ_AT_ONCE, file.take(READ_LIMIT));
        let (mut builder, mut digest, mut line) = (ListingBuilder::default(), Sha256::new(), Vec::new());
        loop {
            let is_last = reader.read_until(b'\n', &mut line)? == 0;
            if hashed == Hashed::Yes {
                digest.update(&line);
            }
            builder.push_bytes(line.strip_suffix(b"\n").unwrap_or(&line));
            if is_last {
                let hash = (hashed == Hashed::Yes).then(|| FileHash::from_digest(digest.finalize().into()));
                return Ok(FoundManifest { listing: builder.finish(), hash });
            }
            line.clear();
        }
    };
    match read() {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(unreadable(path, source)),
    }
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::io(format!("cannot read the manifest `{}`", path.display()), source)
}

pub(crate) fn project_listing(root: &Root) -> Option<Listing> {
    // `manifest verify` reports an unreadable one; here it lists nothing.
    own_file::check_folder(root.path(), DEFAULT_MANIFEST.as_ref()).ok()?;
    let found = read_manifest(&root.path().join(DEFAULT_MANIFEST), Hashed::No).ok()??;
    Some(found.listing)
}

/// Below the root, so that it is not listed; `None` if it is elsewhere.
fn own_path(request: &ManifestRequest<'_>) -> Option<String> {
    let path = request.manifest;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let inside = fs::canonicalize(folder).ok()?.join(path.file_name()?);
    let inside = inside.strip_prefix(request.root.path()).ok()?.to_str()?.to_owned();
    Some(if cfg!(windows) { inside.replace('\\', "/") } else { inside })
}

fn stat_cache_of(project: &Root, root: &Root) -> Option<PathBuf> {
    let folder = project.state().folder(StateFolder::Cache).ok()?;
    if project == root {
        return Some(folder.join("files.stat"));
    }
    let mut name = FileHash::of(root.path().as_os_str().as_encoded_bytes()).to_string();
    name.truncate(16);
    Some(folder.join(format!("files-{name}.stat")))
}

fn renew(
    file: Option<&Path>,
    earlier: Option<&StatCache>,
    start: RunStart,
    folders: Vec<FolderRenewal>,
    visited: &HashSet<String>,
    manifest: Option<ReadManifest<'_>>,
) -> CacheOutcome {
    let Some(file) = file else {
        return CacheOutcome::Absent;
    };
    let renewal = Renewal { start, folders, visited, manifest, shared: &[] };
    if !renewal.is_worthwhile(earlier) {
        return CacheOutcome::Unchanged;
    }
    match renewal.write(earlier, file) {
        Ok(()) => CacheOutcome::Renewed,
        Err(error) => CacheOutcome::NotWritten { reason: error.to_string() },
    }
}
