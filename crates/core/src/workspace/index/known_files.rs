//! The files as the database knows them: one value a folder, since all of them are wanted for every question, and few change.

use std::collections::HashMap;

use crate::{document::FileHash, workspace::file_stat::FileStat};

/// A file as the database knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) stat: FileStat,
    /// Whether the file was old enough when it was read that a later change cannot have the same stat.
    pub(super) is_settled: bool,
    /// The digest of its rows; `None` for a file without workflow state.
    pub(super) rows: Option<FileHash>,
}

/// Files by their paths.
pub(super) type KnownFiles = HashMap<String, Known>;

/// The lengths of a path and of the parts behind it, in bytes: four numbers of a stat, two answers, a digest.
const LENGTH: usize = 4;
const NUMBER: usize = 8;
const DIGEST: usize = 32;

/// The folder in which the file at `path` stands; empty for the root.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The files of `folder` as bytes, in the order of their names: the same files give the same bytes, no file none.
pub(super) fn folder_to_bytes(files: &KnownFiles, folder: &str) -> Vec<u8> {
    let inside = files.iter().filter(|(path, _)| folder_of(path) == folder);
    let mut sorted: Vec<(&str, &Known)> =
        inside.map(|(path, known)| (path.rsplit('/').next().unwrap_or_default(), known)).collect();
    sorted.sort_by_key(|(name, _)| *name);
    let mut bytes = Vec::with_capacity(sorted.len() * 128);
    for (name, known) in sorted {
        bytes.extend(u32::try_from(name.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(name.as_bytes());
        let FileStat { size, modified, changed, inode } = known.stat;
        bytes.extend(
            [size.to_le_bytes(), modified.to_le_bytes(), changed.to_le_bytes(), inode.to_le_bytes()].concat(),
        );
        bytes.extend([u8::from(known.is_settled), u8::from(known.rows.is_some())]);
        bytes.extend(known.rows.map_or([0; DIGEST], |rows| *rows.as_bytes()));
    }
    bytes
}

/// Adds the files of `folder` as [`folder_to_bytes`] wrote them; `None` where these are other bytes.
pub(super) fn add_folder(files: &mut KnownFiles, folder: &str, mut bytes: &[u8]) -> Option<()> {
    while !bytes.is_empty() {
        let length = u32::from_le_bytes(taken::<LENGTH>(&mut bytes)?);
        let (name, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
        bytes = rest;
        let stat = FileStat {
            size: u64::from_le_bytes(taken::<NUMBER>(&mut bytes)?),
            modified: i64::from_le_bytes(taken::<NUMBER>(&mut bytes)?),
            changed: i64::from_le_bytes(taken::<NUMBER>(&mut bytes)?),
            inode: u64::from_le_bytes(taken::<NUMBER>(&mut bytes)?),
        };
        let [is_settled, has_rows] = taken::<2>(&mut bytes)?;
        let digest = FileHash::from_digest(taken::<DIGEST>(&mut bytes)?);
        let known = Known { stat, is_settled: is_settled == 1, rows: (has_rows == 1).then_some(digest) };
        let name = std::str::from_utf8(name).ok()?;
        let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        files.insert(path, known);
    }
    Some(())
}

fn taken<const LENGTH: usize>(bytes: &mut &[u8]) -> Option<[u8; LENGTH]> {
    let (head, rest) = bytes.split_first_chunk::<LENGTH>()?;
    *bytes = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn known() -> impl Strategy<Value = Known> {
        let stat = (any::<u64>(), any::<i64>(), any::<i64>(), any::<u64>())
            .prop_map(|(size, modified, changed, inode)| FileStat { size, modified, changed, inode });
        let rows = prop::option::of(any::<[u8; 32]>().prop_map(FileHash::from_digest));
        (stat, any::<bool>(), rows).prop_map(|(stat, is_settled, rows)| Known { stat, is_settled, rows })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            files in prop::collection::hash_map("([a-c]/){0,2}[^/]{1,9}", known(), 0..20)
        ) {
            let mut read = KnownFiles::new();
            for folder in files.keys().map(|path| folder_of(path)).collect::<BTreeSet<_>>() {
                add_folder(&mut read, folder, &folder_to_bytes(&files, folder)).unwrap();
            }
            prop_assert_eq!(read, files);
        }

        #[test]
        fn other_bytes_are_read_as_nothing_or_as_files(bytes: Vec<u8>) {
            // What counts is that it ends: a digest of rows that is wrong leads to rows that are written again.
            let _ = add_folder(&mut KnownFiles::new(), "docs", &bytes);
        }
    }

    #[test]
    fn what_is_cut_off_is_no_list() {
        let stat = FileStat { size: 1, modified: 2, changed: 3, inode: 4 };
        let files = KnownFiles::from([("a.md".to_owned(), Known { stat, is_settled: true, rows: None })]);
        let bytes = folder_to_bytes(&files, "");
        for length in 1..bytes.len() {
            assert_eq!(add_folder(&mut KnownFiles::new(), "", &bytes[..length]), None, "{length}");
        }
        assert!(folder_to_bytes(&files, "docs").is_empty());
    }
}
