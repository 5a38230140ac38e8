//! Writing the bytes of a stat cache.

use crate::disk::file_reading::FileStat;
use crate::disk::{
    stat_cache::format::HEADER, stat_cache::format::Hashing, stat_cache::format::LISTED,
    stat_cache::format::MAGIC, stat_cache::format::ManifestKey, stat_cache::format::Mark,
    stat_cache::format::NOTED, stat_cache::format::UNHASHED, stat_cache::format::VERSION,
    stat_cache::format::digest_of,
};
use stepmark_model::artifact::FileHash;

/// Folders must be added in path order, and entries in name order.
#[derive(Debug)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    folders: Vec<u8>,
    texts: Vec<u8>,
    folder_count: u32,
    entry_count: u32,
    /// Start and length of what all notes share.
    shared: (u32, u32),
}

impl Writer {
    pub(super) fn new() -> Self {
        let (folders, texts) = (Vec::new(), Vec::new());
        Self { bytes: vec![0; HEADER], folders, texts, folder_count: 0, entry_count: 0, shared: (0, 0) }
    }

    /// `None` if the cache is full (4 GiB of names).
    pub(super) fn folder(&mut self, path: &[u8], entries: usize) -> Option<()> {
        let (start, length) = self.text(path)?;
        for number in [start, length, self.entry_count, u32::try_from(entries).ok()?] {
            self.folders.extend_from_slice(&number.to_le_bytes());
        }
        self.folder_count += 1;
        Some(())
    }

    /// Adds to the last folder; an empty `note` is left out. `None` if the cache is full.
    pub(super) fn entry(
        &mut self,
        name: &[u8],
        stat: &FileStat,
        hash: &FileHash,
        mark: Mark,
        note: &[u8],
    ) -> Option<()> {
        let (start, mut length) = self.text(name)?;
        if !note.is_empty() {
            length |= NOTED;
            self.texts.extend_from_slice(&u32::try_from(note.len()).ok()?.to_le_bytes());
            self.texts.extend_from_slice(note);
        }
        let marked = match mark {
            Mark::Unlisted => length,
            Mark::Listed => length | LISTED,
            Mark::ListedUnhashed => length | LISTED | UNHASHED,
        };
        self.bytes.extend_from_slice(&start.to_le_bytes());
        self.bytes.extend_from_slice(&marked.to_le_bytes());
        self.bytes.extend_from_slice(&stat.to_bytes());
        self.bytes.extend_from_slice(hash.as_bytes());
        self.entry_count = self.entry_count.checked_add(1)?;
        Some(())
    }

    /// `None` if the cache is full.
    pub(super) fn share(&mut self, shared: &[u8]) -> Option<()> {
        self.shared = self.text(shared)?;
        Some(())
    }

    pub(super) fn finish(mut self, hashing: Hashing, manifest: ManifestKey) -> Vec<u8> {
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(MAGIC);
        for number in [VERSION, self.folder_count, self.entry_count] {
            header.extend_from_slice(&number.to_le_bytes());
        }
        header.extend_from_slice(&hashing.began.to_le_bytes());
        header.extend_from_slice(&hashing.took.to_le_bytes());
        header.extend_from_slice(&manifest.path);
        header.extend_from_slice(&manifest.stat.to_bytes());
        header.extend_from_slice(&self.shared.0.to_le_bytes());
        header.extend_from_slice(&self.shared.1.to_le_bytes());
        self.bytes[..HEADER].copy_from_slice(&header);
        self.bytes.extend_from_slice(&self.folders);
        self.bytes.extend_from_slice(&self.texts);
        let digest = digest_of(&self.bytes);
        self.bytes.extend_from_slice(&digest);
        self.bytes
    }

    fn text(&mut self, text: &[u8]) -> Option<(u32, u32)> {
        let place = (u32::try_from(self.texts.len()).ok()?, u32::try_from(text.len()).ok()?);
        if place.1 & (LISTED | UNHASHED | NOTED) != 0 {
            return None;
        }
        self.texts.extend_from_slice(text);
        Some(place)
    }
}
