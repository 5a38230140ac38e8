//! Rows → bytes of `files-manifest.csv`, in whole or only hashes.

use std::ops::Range;

use super::{FileRow, UnlistablePath, read::unlistable};
use crate::artifact::FileHash;
use memchr::memmem;

/// Of all v6 installers.
pub(super) const HEADER: &str = "type,name,module,path,hash";

/// In the exact format of the installer: bare header, all fields quoted, LF, no byte order mark, and **no**
/// escaping (docs/formats.md). So the `csv` crate cannot write it: it would double quotes, which the
/// installer's reader drops.
pub fn write(rows: &[FileRow<'_>]) -> Result<Vec<u8>, UnlistablePath> {
    const HASH_QUOTES_COMMAS_AND_LF: usize = 64 + 10 + 4 + 1;
    let texts: usize =
        rows.iter().map(|row| row.kind.len() + row.name.len() + row.module.len() + row.path.len()).sum();
    let mut bytes = Vec::with_capacity(HEADER.len() + 1 + texts + rows.len() * HASH_QUOTES_COMMAS_AND_LF);
    bytes.extend_from_slice(HEADER.as_bytes());
    bytes.push(b'\n');
    for row in rows {
        for field in [&row.kind, &row.name, &row.module, &row.path] {
            if let Some(reason) = unlistable(field) {
                return Err(UnlistablePath { path: row.path.to_string(), reason });
            }
            bytes.push(b'"');
            bytes.extend_from_slice(field.as_bytes());
            bytes.extend_from_slice(b"\",");
        }
        bytes.push(b'"');
        if let Some(hash) = &row.hash {
            bytes.extend_from_slice(hash.to_string().as_bytes());
        }
        bytes.extend_from_slice(b"\"\n");
    }
    Ok(bytes)
}

const HASH: usize = 64;

const AFTER_HASH: &[u8] = b"\"\n";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renewal {
    Current,
    Outdated(Range<usize>),
}

/// The bytes to change for `hash`. `None` unless the manifest has exactly one row of `path` in the format of
/// [`write()`]: then it has to be rewritten.
pub fn renewal(manifest: &[u8], path: &str, hash: FileHash) -> Option<Renewal> {
    let fresh = write(&[FileRow::of(path, Some(hash)).ok()?]).ok()?;
    // From the header's line end to the hash, and after it.
    let begin = memchr::memchr(b'\n', &fresh)?;
    let before = &fresh[begin..fresh.len() - AFTER_HASH.len() - HASH];
    let mut found = memmem::find_iter(manifest, before);
    let place = found.next()? + before.len();
    if found.next().is_some() {
        return None;
    }
    let place = place..place + HASH;
    let written: FileHash = std::str::from_utf8(manifest.get(place.clone())?).ok()?.parse().ok()?;
    if !manifest[place.end..].starts_with(AFTER_HASH) {
        return None;
    }
    Some(if written == hash { Renewal::Current } else { Renewal::Outdated(place) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::FileHash;
    use std::borrow::Cow;

    #[test]
    fn writes_a_bare_header_and_quotes_every_field() {
        let rows = [
            FileRow::of("docs/prd.md", Some(FileHash::of(b"abc"))).unwrap(),
            FileRow::of("x", None).unwrap(),
        ];
        assert_eq!(
            String::from_utf8(write(&rows).unwrap()).unwrap(),
            "type,name,module,path,hash\n\
             \"md\",\"prd\",\"docs\",\"docs/prd.md\",\
             \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n\
             \"file\",\"x\",\"x\",\"x\",\"\"\n"
        );
        assert_eq!(write(&[]).unwrap(), b"type,name,module,path,hash\n");
    }

    #[test]
    fn refuses_a_field_that_would_be_read_back_otherwise() {
        let mut row = FileRow::of("docs/prd.md", None).unwrap();
        row.name = Cow::Borrowed("pr\"d");
        assert!(write(&[row]).is_err());
    }

    fn hash(text: &str) -> FileHash {
        FileHash::of(text.as_bytes())
    }

    fn manifest(paths: &[&str]) -> Vec<u8> {
        let rows: Vec<_> = paths.iter().map(|path| FileRow::of(path, Some(hash(path))).unwrap()).collect();
        write(&rows).unwrap()
    }

    /// Renewing rows is what writing the whole anew would have done.
    #[test]
    fn a_renewed_row_is_the_row_of_a_new_manifest() {
        let paths = ["docs/a.md", "docs/b.md", "a.md", "docs/a.md.bak"];
        for (at, path) in paths.iter().enumerate() {
            let mut bytes = manifest(&paths);
            assert_eq!(renewal(&bytes, path, hash(path)), Some(Renewal::Current));
            let Some(Renewal::Outdated(place)) = renewal(&bytes, path, hash("new")) else { panic!("{path}") };
            bytes[place].copy_from_slice(hash("new").to_string().as_bytes());
            let rows: Vec<_> = paths
                .iter()
                .enumerate()
                .map(|(place, path)| {
                    FileRow::of(path, Some(hash(if place == at { "new" } else { path }))).unwrap()
                })
                .collect();
            assert_eq!(bytes, write(&rows).unwrap(), "{path}");
        }
    }

    #[test]
    fn what_is_not_written_as_we_write_it_is_not_touched() {
        let new = hash("new");
        assert_eq!(renewal(&manifest(&["a.md"]), "b.md", new), None, "no row");
        assert_eq!(renewal(&manifest(&["a.md", "a.md"]), "a.md", new), None, "two rows");
        let edited = |from: &str, to: &str| {
            String::from_utf8(manifest(&["a.md"])).unwrap().replace(from, to).into_bytes()
        };
        assert_eq!(renewal(&edited("\"md\"", "\"txt\""), "a.md", new), None, "another type");
        assert_eq!(renewal(&edited("\"\n", "\",\"more\"\n"), "a.md", new), None, "more columns");
        assert_eq!(renewal(&edited("\n\"md\"", "\n \"md\""), "a.md", new), None, "a blank before it");
        assert_eq!(
            renewal(b"type,name,module,path,hash\n\"md\",\"a\",\"a.md\",\"a.md\",\"\"\n", "a.md", new),
            None
        );
        assert_eq!(renewal(b"", "a.md", new), None);
    }
}
