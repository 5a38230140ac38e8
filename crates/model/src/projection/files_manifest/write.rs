//! Rows → the bytes of `files-manifest.csv`.

use super::{FileRow, UnlistablePath, row::unlistable};

/// The header of every v6 release of the official installer.
pub(super) const HEADER: &str = "type,name,module,path,hash";

/// The bytes of a manifest that holds `rows` in the given order, exactly as the official installer writes
/// them: a bare header, every field quoted, LF after each row, no byte order mark, and **no** escaping
/// (docs/formats.md). That is why the `csv` crate does not write this file: it would double a quote, which
/// the installer's reader drops.
///
/// # Errors
/// When a field holds what the installer's reader would read back as something else.
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

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::artifact::FileHash;

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
}
