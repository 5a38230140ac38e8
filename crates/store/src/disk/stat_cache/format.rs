//! The bytes of a stat cache.
//!
//! ```text
//! header    "stepmark", version, folders, entries (u32 each), hashing began, hashing took (i64 ns each),
//!           the remembered manifest: its path (first 8 bytes of SHA-256), size, modified, changed, inode (8 bytes each),
//!           what all notes share (start, length; u32)
//! entries   name (start, length; u32), size, modified, changed, inode (8 bytes each), SHA-256; by folder and name
//! folders   path (start, length), first entry, entries                       (u32 each), by path
//! texts     the paths and names, each name with its note behind it (length; u32, bytes); what all notes share
//! digest    SHA-256 over the SHA-256 of the first and of the second half of everything before
//! ```
//! The highest bits of a name's length say whether the remembered manifest lists the file, whether without a
//! hash, and whether a note stands behind the name. All numbers are little-endian. Whatever does not fit is
//! no cache: reading gives `None`, never a panic.

use std::{fs::File, io, panic, thread};

use sha2::{Digest, Sha256};

use crate::disk::file_reading::{FileStat, STAT_BYTES};
use stepmark_model::artifact::FileHash;

pub(super) const MAGIC: &[u8; 8] = b"stepmark";
/// Other versions are not read.
pub(super) const VERSION: u32 = 4;
pub(super) const HEADER: usize = 84;
const FOLDER: usize = 16;
const ENTRY: usize = 72;
const DIGEST: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hashing {
    /// In nanoseconds since 1970, by this machine's clock, before the first file was looked at.
    pub(super) began: i64,
    /// Nanoseconds from then until the cache was written.
    pub(super) took: i64,
}

/// A remembered manifest: its path and its stat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ManifestKey {
    pub(super) path: [u8; 8],
    pub(super) stat: FileStat,
}

impl ManifestKey {
    pub(super) const NONE: Self = Self { path: [0; 8], stat: FileStat::NONE };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Unlisted,
    /// With the entry's hash.
    Listed,
    ListedUnhashed,
}

pub(super) const LISTED: u32 = 1 << 31;
pub(super) const UNHASHED: u32 = 1 << 30;
pub(super) const NOTED: u32 = 1 << 29;
const SHARED: usize = 76;

#[derive(Debug)]
pub(super) struct Bytes {
    bytes: Vec<u8>,
    folders: usize,
    entries: usize,
}

impl Bytes {
    /// Reads `file`, of `length` bytes, if it is a whole cache of this version. Hashes both halves in
    /// parallel, since nothing else can start before.
    pub(super) fn read(file: &File, length: usize) -> io::Result<Option<Self>> {
        let Some(content) = length.checked_sub(DIGEST) else {
            return Ok(None);
        };
        let mut bytes = vec![0; length];
        let (first, rest) = bytes.split_at_mut(content / 2);
        let (second, digest) = rest.split_at_mut(content - content / 2);
        read_at(file, digest, content)?;
        let read = |half: &mut [u8], at: usize| read_at(file, half, at).map(|()| Sha256::digest(half));
        let (first, second) = both(content, || read(first, 0), || read(second, content / 2));
        let (first, second) = (first?, second?);
        let is_whole = digest_of_halves(first, second) == *digest;
        Ok(Self::of(bytes).filter(|_| is_whole))
    }

    /// `None` for another version; the digest of `bytes` must be right.
    fn of(bytes: Vec<u8>) -> Option<Self> {
        let body = bytes.len().checked_sub(DIGEST)?;
        if !bytes.starts_with(MAGIC) || number(&bytes, 8) != VERSION {
            return None;
        }
        let (folders, entries) = (index(number(&bytes, 12)), index(number(&bytes, 16)));
        let records = folders.checked_mul(FOLDER)?.checked_add(entries.checked_mul(ENTRY)?)?;
        (records.checked_add(HEADER)? <= body).then_some(Self { bytes, folders, entries })
    }

    pub(super) fn hashing(&self) -> Hashing {
        Hashing { began: long(&self.bytes, 20), took: long(&self.bytes, 28) }
    }

    /// [`ManifestKey::NONE`] if there is none.
    pub(super) fn manifest(&self) -> ManifestKey {
        manifest_key(&self.bytes)
    }

    pub(super) fn folders(&self) -> usize {
        self.folders
    }

    pub(super) fn path(&self, folder: usize) -> &[u8] {
        self.text(self.folder_at(folder))
    }

    /// The first entry of the folder, and the one after its last.
    pub(super) fn entries(&self, folder: usize) -> (usize, usize) {
        let at = self.folder_at(folder);
        let first = index(number(&self.bytes, at + 8)).min(self.entries);
        let count = index(number(&self.bytes, at + 12));
        (first, first.saturating_add(count).min(self.entries))
    }

    pub(super) fn name(&self, entry: usize) -> &[u8] {
        self.text(self.entry_at(entry))
    }

    pub(super) fn mark(&self, entry: usize) -> Mark {
        let length = number(&self.bytes, self.entry_at(entry) + 4);
        match (length & LISTED != 0, length & UNHASHED != 0) {
            (false, _) => Mark::Unlisted,
            (true, false) => Mark::Listed,
            (true, true) => Mark::ListedUnhashed,
        }
    }

    pub(super) fn stat(&self, entry: usize) -> FileStat {
        stat(&self.bytes, self.entry_at(entry) + 8)
    }

    pub(super) fn hash(&self, entry: usize) -> FileHash {
        FileHash::from_digest(array(&self.bytes, self.entry_at(entry) + 40))
    }

    pub(super) fn note(&self, entry: usize) -> &[u8] {
        let at = self.entry_at(entry);
        if number(&self.bytes, at + 4) & NOTED == 0 {
            return &[];
        }
        let start = self.text_end(at);
        let end = start + 4 + index(number(&self.bytes, start));
        self.bytes.get(start + 4..end).unwrap_or_default()
    }

    pub(super) fn shared(&self) -> &[u8] {
        self.text(SHARED)
    }

    fn entry_at(&self, entry: usize) -> usize {
        HEADER + entry * ENTRY
    }

    fn folder_at(&self, folder: usize) -> usize {
        self.entry_at(self.entries) + folder * FOLDER
    }

    fn text(&self, at: usize) -> &[u8] {
        let start = self.folder_at(self.folders) + index(number(&self.bytes, at));
        self.bytes.get(start..self.text_end(at)).unwrap_or_default()
    }

    fn text_end(&self, at: usize) -> usize {
        let start = self.folder_at(self.folders) + index(number(&self.bytes, at));
        start + index(number(&self.bytes, at + 4) & !(LISTED | UNHASHED | NOTED))
    }
}

/// In bytes: less is hashed sooner than a thread starts.
const WORTH_A_THREAD: usize = 256 * 1024;

pub(super) fn digest_of(content: &[u8]) -> [u8; DIGEST] {
    let (first, second) = content.split_at(content.len() / 2);
    let (first, second) = both(content.len(), || Sha256::digest(first), || Sha256::digest(second));
    digest_of_halves(first, second)
}

/// Works on two halves of `length` bytes, in parallel if that pays.
fn both<T: Send>(length: usize, first: impl FnOnce() -> T, second: impl FnOnce() -> T + Send) -> (T, T) {
    if length < WORTH_A_THREAD {
        return (first(), second());
    }
    thread::scope(|threads| {
        let other = threads.spawn(second);
        let first = first();
        (first, other.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
    })
}

fn digest_of_halves(first: impl AsRef<[u8]>, second: impl AsRef<[u8]>) -> [u8; DIGEST] {
    Sha256::new().chain_update(first).chain_update(second).finalize().into()
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: usize) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at as u64)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], at: usize) -> io::Result<()> {
    let mut at = at as u64;
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

/// `header` is the first [`HEADER`] bytes of a file, whole or not.
pub(super) fn manifest_key(header: &[u8]) -> ManifestKey {
    ManifestKey { path: array(header, 36), stat: stat(header, 44) }
}

fn stat(bytes: &[u8], at: usize) -> FileStat {
    FileStat::from_bytes(&array::<STAT_BYTES>(bytes, at))
}

/// Zeros if the bytes end before.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..at + N).and_then(|slice| slice.try_into().ok()).unwrap_or([0; N])
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

fn long(bytes: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(array(bytes, at))
}

/// On a 16-bit machine, where it may not fit, it is out of bounds for everything.
fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::disk::stat_cache::writer::Writer;

    fn read(bytes: &[u8]) -> Option<Bytes> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Bytes::read(&file, bytes.len()).unwrap()
    }

    fn sample() -> Vec<u8> {
        let mut writer = Writer::new();
        let stat = FileStat { size: 1, modified: -2, changed: i64::MAX, inode: u64::MAX };
        writer.folder(b"", 0).unwrap();
        writer.folder("dö".as_bytes(), 2).unwrap();
        writer.entry(b"a.md", &stat, &FileHash::of(b"a"), Mark::Unlisted, b"note").unwrap();
        writer
            .entry(b"b.md", &FileStat { size: 9, ..stat }, &FileHash::of(b"b"), Mark::ListedUnhashed, b"")
            .unwrap();
        writer.share(b"texts").unwrap();
        writer.finish(Hashing { began: 5, took: 6 }, ManifestKey { path: *b"manifest", stat })
    }

    #[test]
    fn reads_what_was_written() {
        let cache = read(&sample()).unwrap();
        assert_eq!(cache.hashing(), Hashing { began: 5, took: 6 });
        assert_eq!((cache.folders(), cache.entries), (2, 2));
        assert_eq!((cache.path(0), cache.entries(0)), (&b""[..], (0, 0)));
        assert_eq!((cache.path(1), cache.entries(1)), ("dö".as_bytes(), (0, 2)));
        assert_eq!((cache.name(0), cache.name(1)), (&b"a.md"[..], &b"b.md"[..]));
        assert_eq!((cache.note(0), cache.note(1), cache.shared()), (&b"note"[..], &b""[..], &b"texts"[..]));
        assert_eq!(cache.stat(1), FileStat { size: 9, modified: -2, changed: i64::MAX, inode: u64::MAX });
        assert_eq!((cache.mark(0), cache.mark(1)), (Mark::Unlisted, Mark::ListedUnhashed));
        assert_eq!(cache.manifest(), ManifestKey { path: *b"manifest", stat: cache.stat(0) });
        assert_eq!((cache.hash(0), cache.hash(1)), (FileHash::of(b"a"), FileHash::of(b"b")));
    }

    #[test]
    fn a_large_cache_is_hashed_in_two_threads() {
        let mut writer = Writer::new();
        writer.folder(b"", 9000).unwrap();
        for number in 0..9000 {
            let name = format!("{number:04}.md");
            writer.entry(name.as_bytes(), &FileStat::NONE, &FileHash::of(b""), Mark::Listed, b"").unwrap();
        }
        let bytes = writer.finish(Hashing { began: 0, took: 0 }, ManifestKey::NONE);
        assert!(bytes.len() > 512 * 1024);
        for at in [100, bytes.len() / 2 + 100] {
            let mut broken = bytes.clone();
            broken[at] ^= 1;
            assert!(read(&broken).is_none());
        }
        assert_eq!(read(&bytes).unwrap().name(8999), b"8999.md");
    }

    #[test]
    fn any_wrong_byte_makes_it_no_cache() {
        let whole = sample();
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 0x10;
            assert!(read(&broken).is_none(), "byte {at}");
            assert!(read(&whole[..at]).is_none(), "cut at {at}");
        }
    }

    proptest! {
        /// Even with a right digest, numbers that point anywhere do no harm.
        #[test]
        fn wild_numbers_do_not_panic(mut content in proptest::collection::vec(any::<u8>(), HEADER..400), counts: [u8; 2]) {
            content[..8].copy_from_slice(MAGIC);
            content[8..12].copy_from_slice(&VERSION.to_le_bytes());
            content[12..16].copy_from_slice(&u32::from(counts[0] % 4).to_le_bytes());
            content[16..20].copy_from_slice(&u32::from(counts[1] % 4).to_le_bytes());
            let digest = digest_of(&content);
            content.extend_from_slice(&digest);
            if let Some(cache) = read(&content) {
                for folder in 0..cache.folders() {
                    let (first, end) = cache.entries(folder);
                    let _ = cache.path(folder);
                    for entry in first..end {
                        let _ = (cache.name(entry), cache.stat(entry), cache.hash(entry), cache.mark(entry));
                        let _ = (cache.note(entry), cache.shared());
                    }
                }
            }
        }
    }
}
