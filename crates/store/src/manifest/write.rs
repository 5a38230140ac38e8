//! `manifest write`: the bytes of a manifest of what is there.

use crate::disk::{stat_cache::RunStart, stat_cache::StatCache, walk::WalkProblem};
use crate::manifest::{
    CacheOutcome, Hashed, ManifestReadError, ManifestRequest, inventory::Inventory,
    inventory::UnreadableFile, place::installers_manifest, read_manifest, selection::Selection,
};
use stepmark_model::{
    artifact::FileHash,
    projection::files_manifest::{
        self, FileRow, Listing, ManifestScope, ManifestWarning, ManifestWarningKind, RowOrder, RowOrderError,
        UnlistablePath,
    },
};

/// A manifest of what is there, ready to be committed.
#[derive(Clone, Debug)]
pub struct ManifestDraft {
    /// The whole manifest.
    pub bytes: Vec<u8>,
    /// How many files it lists.
    pub files: usize,
    /// The hash of the manifest that is there already, which the commit must still find; `None` where there is none.
    pub existing: Option<FileHash>,
    /// Whether what is there already begins as a manifest does, or is empty: something else is replaced only where its place is
    /// that of a manifest.
    pub is_over_manifest: bool,
    /// Listed files whose bytes could not be read: their rows have no hash, as the installer writes them.
    pub unreadable: Vec<UnreadableFile>,
    /// What the walk could not go through, by path; it is not in the manifest.
    pub problems: Vec<WalkProblem>,
    /// What became of the stat cache.
    pub cache: CacheOutcome,
}

impl ManifestDraft {
    /// Whether the manifest that is there already has these very bytes, so that nothing needs to be written.
    pub fn is_up_to_date(&self) -> bool {
        self.existing == Some(FileHash::of(&self.bytes))
    }
}

/// Why no manifest can be written.
#[derive(Debug, thiserror::Error)]
pub enum ManifestWriteError {
    /// The manifest that is there already, or the root, cannot be read.
    #[error(transparent)]
    Read(#[from] ManifestReadError),
    /// A path that the format cannot hold.
    #[error(transparent)]
    Unlistable(#[from] UnlistablePath),
    /// The rows cannot be sorted.
    #[error(transparent)]
    Order(#[from] RowOrderError),
}

/// Drafts the manifest of `request`. Nothing but the stat cache is written.
///
/// Rows that tie keep the order of the manifest that is there already; where there is none, in a `_bmad` folder, that of
/// the installer's.
///
/// # Errors
/// When the root or the existing manifest cannot be read, or a file has a path that the format cannot hold.
pub fn write(request: &ManifestRequest<'_>) -> Result<ManifestDraft, ManifestWriteError> {
    let start = RunStart::now();
    let cache = request.stat_cache.and_then(StatCache::load);
    let existing = read_manifest(request.manifest, Hashed::Yes)?;
    let hash = existing.as_ref().and_then(|existing| existing.hash);
    let is_over_manifest = existing.as_ref().is_none_or(|found| {
        hash == Some(FileHash::of(b"")) || !found.listing.oddities().iter().any(is_header)
    });
    // What is odd about the earlier manifest goes with it.
    let earlier = match existing {
        Some(existing) => existing.listing,
        None => installers_listing(request)?,
    };
    let inventory = Inventory { request, selection: Selection::new(request), earlier: &earlier };
    let collected = inventory.run(cache.as_ref(), start)?;

    let mut rows = Vec::with_capacity(collected.files.len());
    for (path, hash) in &collected.files {
        rows.push(FileRow::of(path, *hash)?);
    }
    RowOrder::root()?.sort(&mut rows, earlier.lines());
    let bytes = files_manifest::write(&rows)?;
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

/// The installer's own manifest in a `_bmad` folder; nothing elsewhere.
fn installers_listing(request: &ManifestRequest<'_>) -> Result<Listing, ManifestReadError> {
    if !matches!(request.scope, ManifestScope::BmadFolder) {
        return Ok(Listing::default());
    }
    let found = read_manifest(&installers_manifest(request.root.path()), Hashed::No)?;
    Ok(found.map(|found| found.listing).unwrap_or_default())
}
