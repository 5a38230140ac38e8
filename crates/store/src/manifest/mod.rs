//! `files-manifest.csv` against the disk: walk, hash, compare, write.
//!
//! The decisions are those of [`stepmark_model::projection::files_manifest`]; here files are found and
//! hashed.
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

/// The number of bytes of a manifest that are read at once.
const READ_AT_ONCE: usize = 128 * 1024;

/// The manifests of files, as they are drafted, compared with the disk, and written.
#[derive(Clone, Copy, Debug)]
pub struct Manifests<'w> {
    workspace: &'w Workspace,
}

impl Workspace {
    /// The manifests of files, by the configuration of this project.
    pub const fn manifests(&self) -> Manifests<'_> {
        Manifests { workspace: self }
    }
}

impl Manifests<'_> {
    pub fn verify(&self, place: &ManifestPlace, ignore_files: IgnoreFiles) -> Result<ManifestReport, Error> {
        verify::verify(&place.request(self.workspace, ignore_files, place.stat_cache().as_deref()))
    }

    /// Drafts the manifest at `place`. Nothing but the stat cache is written.
    ///
    /// Rows that tie keep the order of the manifest that is there already; where there is none, in a `_bmad`
    /// folder, that of the installer's.
    pub fn draft(&self, place: &ManifestPlace, ignore_files: IgnoreFiles) -> Result<ManifestDraft, Error> {
        write::write(&place.request(self.workspace, ignore_files, place.stat_cache().as_deref()))
    }

    /// Drafts the manifest at `place` with the hashes that the files at `paths` have now. Where a file has no
    /// row, or is gone, all of it is drafted anew; so it is where there is no manifest.
    pub fn draft_rows(&self, place: &ManifestPlace, paths: &[ProjectPath]) -> Result<ManifestDraft, Error> {
        write::renewed(place, paths)?.map_or_else(|| self.draft(place, IgnoreFiles::Disregarded), Ok)
    }

    /// Writes `draft` to its place, atomically, if its place still holds what the draft was made from.
    /// Nothing is written where these bytes are there already.
    #[cfg(feature = "write")]
    pub fn publish(&self, place: &ManifestPlace, draft: &ManifestDraft) -> Result<Published, Error> {
        publish::publish(self.workspace.commit_options(), place, draft)
    }
}

#[derive(Clone, Copy, Debug)]
struct ManifestRequest<'a> {
    /// The folder that the manifest's paths are relative to, and that is walked.
    root: &'a Root,
    manifest: &'a Path,
    scope: ManifestScope<'a>,
    /// The effect of `.gitignore`, `.ignore` and git's other ignore files: whether they take files out of the
    /// scope.
    ignore_files: IgnoreFiles,
    /// The place where hashes of unchanged files are kept between runs; `None` if there is no place for them.
    stat_cache: Option<&'a Path>,
    looked_at: &'a AtomicUsize,
}

/// The effect of ignore files (`.gitignore` and its kin) on a walk. A listed file is looked at in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoreFiles {
    /// Nothing: an artifact that git ignores is an artifact.
    #[default]
    Disregarded,
    /// They take files out of the scope.
    Honoured,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CacheOutcome {
    #[default]
    Absent,
    Unchanged,
    Renewed,
    /// A new cache could not be written; the next run will hash again.
    NotWritten {
        reason: String,
    },
}

#[derive(Debug, Default)]
struct FoundManifest {
    listing: Listing,
    hash: Option<FileHash>,
}

/// Says whether the hash of a manifest is wanted, which takes longer than reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hashed {
    No,
    Yes,
}

/// Reads a manifest; `None` where there is no such file. It is read line by line: what is kept of it is much
/// smaller.
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
    // One that cannot be read is told by `manifest verify`; here it lists nothing.
    own_file::check_folder(root.path(), DEFAULT_MANIFEST.as_ref()).ok()?;
    let found = read_manifest(&root.path().join(DEFAULT_MANIFEST), Hashed::No).ok()??;
    Some(found.listing)
}

/// The path of the manifest below the root, so that it is not taken for a file of its own; `None` when it
/// lies elsewhere.
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
