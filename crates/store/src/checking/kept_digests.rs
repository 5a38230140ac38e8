//! Digests derived from artifacts' texts, kept from run to run: while no input has changed, the artifacts are
//! not read.
//!
//! A cache file holds pairs of key and digest (32 bytes each), sorted by key, after the SHA-256 of all of
//! them. The key covers every input of the digest
//! ([`SummaryRow::content_key`](super::SummaryRow::content_key) is the artifact's part), so an entry is never
//! wrong, only unused. A torn or missing file costs time, never correctness.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the folder of the project is looked for here"
)]

use std::{collections::BTreeMap, io};

use crate::disk::{Root, StateFolder, file_reading, own_file};
use stepmark_model::artifact::FileHash;

const HALF: usize = 32;

/// The fewest digests worth a new file; below that, readers write nothing.
const WORTH_KEEPING: usize = 64;

const LIMIT: u64 = 256 * 1024 * 1024;

#[derive(Clone, Debug, Default)]
pub struct KeptDigests {
    /// Pairs of key and digest, sorted by key.
    pairs: Vec<u8>,
}

impl KeptDigests {
    pub fn read(root: &Root, name: &str) -> Self {
        let folder = root.state().folder(StateFolder::Cache).ok();
        let bytes = folder.and_then(|folder| own_file::read(&folder, file_name(name).as_ref(), LIMIT).ok());
        bytes.and_then(|bytes| Self::of(&bytes)).unwrap_or_default()
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let (digest, pairs) = bytes.split_first_chunk()?;
        let is_whole = pairs.len().is_multiple_of(2 * HALF) && FileHash::of(pairs).as_bytes() == digest;
        is_whole.then(|| Self { pairs: pairs.to_vec() })
    }

    pub fn get(&self, key: &FileHash) -> Option<FileHash> {
        let (pairs, _) = self.pairs.as_chunks::<{ 2 * HALF }>();
        let place = pairs.binary_search_by(|pair| pair[..HALF].cmp(key.as_bytes())).ok()?;
        pairs.get(place)?.last_chunk().copied().map(FileHash::from_digest)
    }

    /// Keeps only `digests`; writes nothing if they are unchanged.
    pub fn replace(&self, root: &Root, name: &str, digests: &BTreeMap<FileHash, FileHash>) -> io::Result<()> {
        let pairs = digests.iter().flat_map(|(key, digest)| [key.as_bytes(), digest.as_bytes()]);
        let pairs = pairs.flatten().copied().collect::<Vec<u8>>();
        let is_worthwhile = !self.pairs.is_empty() || digests.len() >= WORTH_KEEPING;
        // Readers create no `.stepmark` folder.
        if pairs == self.pairs || !is_worthwhile || !root.path().join(".stepmark").is_dir() {
            return Ok(());
        }
        let folder = root.state().make(StateFolder::Cache).map_err(io::Error::other)?;
        let digest = FileHash::of(&pairs);
        file_reading::replace(&folder.join(file_name(name)), &[digest.as_bytes(), &pairs[..]].concat())
    }
}

fn file_name(name: &str) -> String {
    format!("{name}.digests")
}

#[cfg(test)]
mod tests {
    use std::{fs, ops::Range};

    use super::*;

    fn digests(numbers: Range<usize>) -> BTreeMap<FileHash, FileHash> {
        let digest = |text: String| FileHash::of(text.as_bytes());
        numbers.map(|number| (digest(format!("key {number}")), digest(format!("{number}")))).collect()
    }

    #[test]
    fn what_is_kept_is_found_and_a_torn_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let all = digests(0..WORTH_KEEPING);
        let none = KeptDigests::read(&root, "t");
        none.replace(&root, "t", &all).unwrap();
        assert!(KeptDigests::read(&root, "t").pairs.is_empty(), "a reader makes no `.stepmark`");

        fs::create_dir(folder.path().join(".stepmark")).unwrap();
        none.replace(&root, "t", &digests(1..WORTH_KEEPING)).unwrap();
        assert!(KeptDigests::read(&root, "t").pairs.is_empty(), "they are too few");
        none.replace(&root, "t", &all).unwrap();
        let kept = KeptDigests::read(&root, "t");
        assert!(all.iter().all(|(key, digest)| kept.get(key) == Some(*digest)));
        assert_eq!(kept.get(&FileHash::of(b"d")), None);
        assert!(KeptDigests::read(&root, "u").pairs.is_empty());

        kept.replace(&root, "t", &digests(1..2)).unwrap();
        assert_eq!(KeptDigests::read(&root, "t").pairs.len(), 2 * HALF, "what nobody asked for is gone");

        let file = root.state().path(StateFolder::Cache).join("t.digests");
        let bytes = fs::read(&file).unwrap();
        for torn in [&bytes[..bytes.len() - 1], &bytes[1..], &bytes[..HALF + 1], b""] {
            fs::write(&file, torn).unwrap();
            assert!(KeptDigests::read(&root, "t").pairs.is_empty(), "{}", torn.len());
        }
    }
}
