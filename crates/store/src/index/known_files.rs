//! The files as the database knows them: one value a folder, since all of them are wanted for every query,
//! and few change. Whoever looks at a folder reads its value, so that all processors do it.

use std::collections::{BTreeMap, HashMap};

use rusqlite::types::Type;

use crate::disk::file_stat::{FileStat, KnownStat, STAT_BYTES};
use crate::index_db::Contents;
use stepmark_model::artifact::FileHash;

/// A file as the database knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) stat: KnownStat,
    /// The digest of its rows; `None` for a file without workflow state.
    pub(super) rows: Option<FileHash>,
}

/// Folders by their paths (empty for the root), each with its files as bytes.
#[derive(Debug, Default)]
pub(super) struct KnownFolders(HashMap<String, Vec<u8>>);

/// The lengths of a name and of the parts behind it, in bytes: a stat, two answers, a digest.
const LENGTH: usize = 4;
const DIGEST: usize = 32;

impl KnownFolders {
    /// The folders of the last time.
    pub(super) fn read(contents: &Contents<'_>) -> rusqlite::Result<Self> {
        let mut statement = contents.connection().prepare_cached("SELECT folder, known FROM _files")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn files(&self, folder: &str) -> Result<FolderFiles<'_>, NoFiles> {
        FolderFiles::read(self.bytes(folder)).ok_or(NoFiles)
    }

    /// The paths of all of them, in no order.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn bytes(&self, folder: &str) -> &[u8] {
        self.0.get(folder).map_or(&[], Vec::as_slice)
    }
}

/// The bytes of a folder are no list of files: the database is damaged.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoFiles;

impl From<NoFiles> for rusqlite::Error {
    fn from(NoFiles: NoFiles) -> Self {
        Self::InvalidColumnType(1, "known".to_owned(), Type::Blob)
    }
}

/// The files of one folder, in the byte order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FolderFiles<'bytes>(Vec<(&'bytes str, Known)>);

impl<'bytes> FolderFiles<'bytes> {
    /// Reads what [`to_bytes`] wrote; `None` where these are other bytes.
    fn read(mut bytes: &'bytes [u8]) -> Option<Self> {
        let mut files = Vec::new();
        while !bytes.is_empty() {
            let length = u32::from_le_bytes(taken::<LENGTH>(&mut bytes)?);
            let (name, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
            bytes = rest;
            let stat = FileStat::from_bytes(&taken::<STAT_BYTES>(&mut bytes)?);
            let [is_settled, has_rows] = taken::<2>(&mut bytes)?;
            let digest = FileHash::from_digest(taken::<DIGEST>(&mut bytes)?);
            let stat = KnownStat { stat, is_settled: is_settled == 1 };
            let known = Known { stat, rows: (has_rows == 1).then_some(digest) };
            files.push((std::str::from_utf8(name).ok()?, known));
        }
        files.is_sorted_by(|(one, _), (other, _)| one < other).then_some(Self(files))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn find(&self, name: &str) -> Option<(usize, &Known)> {
        let place = self.0.binary_search_by(|(other, _)| (*other).cmp(name)).ok()?;
        Some((place, &self.0[place].1))
    }

    /// All of them with their names; what stands at a place here is what [`find`](Self::find) says of it.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(&'bytes str, Known)> {
        self.0.iter()
    }
}

/// Files of one folder as bytes: the same files give the same bytes, no file none.
pub(super) fn to_bytes(files: &BTreeMap<&str, Known>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(files.len() * 128);
    for (name, known) in files {
        bytes.extend(u32::try_from(name.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend(known.stat.stat.to_bytes());
        bytes.extend([u8::from(known.stat.is_settled), u8::from(known.rows.is_some())]);
        bytes.extend(known.rows.map_or([0; DIGEST], |rows| *rows.as_bytes()));
    }
    bytes
}

fn taken<const LENGTH: usize>(bytes: &mut &[u8]) -> Option<[u8; LENGTH]> {
    let (head, rest) = bytes.split_first_chunk::<LENGTH>()?;
    *bytes = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known() -> impl Strategy<Value = Known> {
        let stat = (any::<u64>(), any::<i64>(), any::<i64>(), any::<u64>())
            .prop_map(|(size, modified, changed, inode)| FileStat { size, modified, changed, inode });
        let rows = prop::option::of(any::<[u8; 32]>().prop_map(FileHash::from_digest));
        (stat, any::<bool>(), rows)
            .prop_map(|(stat, is_settled, rows)| Known { stat: KnownStat { stat, is_settled }, rows })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(files in prop::collection::btree_map("[^/]{1,9}", known(), 0..20)) {
            let files: BTreeMap<&str, Known> = files.iter().map(|(name, known)| (name.as_str(), *known)).collect();
            let bytes = to_bytes(&files);
            let read = FolderFiles::read(&bytes).unwrap();
            prop_assert_eq!(read.len(), files.len());
            for (place, (name, known)) in files.iter().enumerate() {
                prop_assert_eq!(read.find(name), Some((place, known)));
            }
            prop_assert!(read.iter().map(|(name, known)| (*name, *known)).eq(files));
            prop_assert_eq!(read.find("no/name"), None);
        }

        #[test]
        fn other_bytes_are_read_as_nothing_or_as_files(bytes: Vec<u8>) {
            // What counts is that it ends: a digest of rows that is wrong leads to rows that are written
            // again.
            let _ = FolderFiles::read(&bytes);
        }
    }

    #[test]
    fn what_is_cut_off_or_out_of_order_is_no_list() {
        let stat = FileStat { size: 1, modified: 2, changed: 3, inode: 4 };
        let stat = KnownStat { stat, is_settled: true };
        let bytes = |name| to_bytes(&BTreeMap::from([(name, Known { stat, rows: None })]));
        for length in 1..bytes("a.md").len() {
            assert_eq!(FolderFiles::read(&bytes("a.md")[..length]), None, "{length}");
        }
        assert!(FolderFiles::read(&[bytes("a.md"), bytes("b.md")].concat()).is_some());
        assert_eq!(FolderFiles::read(&[bytes("b.md"), bytes("a.md")].concat()), None);
        assert_eq!(FolderFiles::read(&[bytes("a.md"), bytes("a.md")].concat()), None);
        assert!(to_bytes(&BTreeMap::new()).is_empty());
    }
}
