//! Sealed segments too large for a pack: replaced by the same bytes compressed.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments are read and replaced here")]

use std::{
    fs,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;

use crate::commit::{FsyncPolicy, file::flush_folder, file::write_anew};
use crate::disk::{own_file, own_file::Access};
use crate::history::compress;
use stepmark_model::journal::SegmentName;

/// Replaces the file of the segment by a compressed one, where it is not. Returns whether it did. The new
/// file is flushed, read back and compared before the other is removed.
pub(in crate::commit) fn compress_alone(
    folder: &Path,
    name: &SegmentName,
    fsync: FsyncPolicy,
) -> io::Result<bool> {
    let (plain, compressed) = (format!("{name}.jsonl"), format!("{name}.jsonl.gz"));
    let open = |name: &str| own_file::open(folder, name.as_ref(), Access::Read);
    match open(&plain) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => drop(found?),
    }
    let is_same = |compressed: &str| {
        let inside = MultiGzDecoder::new(BufReader::new(open(compressed)?));
        have_same_bytes(BufReader::new(open(&plain)?), BufReader::new(inside))
    };
    // What cannot be decompressed was not written to its end.
    if !is_same(&compressed).unwrap_or(false) {
        let staged = format!(".{compressed}.tmp");
        let segment = open(&plain)?;
        write_anew(&folder.join(&staged), fsync, |file| {
            let mut file = BufWriter::new(file);
            compress(segment, &mut file)?;
            file.flush()
        })?;
        if !is_same(&staged)? {
            return Err(io::Error::other("what was written does not lead back to the segment"));
        }
        fs::rename(folder.join(&staged), folder.join(&compressed))?;
        flush_folder(folder, fsync)?;
    }
    fs::remove_file(folder.join(&plain))?;
    flush_folder(folder, fsync)?;
    Ok(true)
}

/// Returns whether both give the same bytes, of which no more is held than their buffers do. What comes
/// behind a difference is not read.
fn have_same_bytes(mut one: impl BufRead, mut other: impl BufRead) -> io::Result<bool> {
    loop {
        let (here, there) = (filled(&mut one)?, filled(&mut other)?);
        let length = here.len().min(there.len());
        if length == 0 {
            return Ok(here.is_empty() && there.is_empty());
        }
        if here[..length] != there[..length] {
            return Ok(false);
        }
        one.consume(length);
        other.consume(length);
    }
}

/// The bytes that come next; none at the end.
fn filled(source: &mut impl BufRead) -> io::Result<&[u8]> {
    while let Err(error) = source.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    source.fill_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_compared_whatever_the_pieces() {
        for (one, other, is_same) in [
            ("", "", true),
            ("a", "", false),
            ("", "a", false),
            ("abcdefg", "abcdefg", true),
            ("abcdefg", "abcdefgh", false),
            ("abcdefg", "abcdeFg", false),
        ] {
            let pieces = |text: &'static str, size| BufReader::with_capacity(size, text.as_bytes());
            assert_eq!(have_same_bytes(pieces(one, 2), pieces(other, 3)).unwrap(), is_same, "{one} {other}");
        }
    }
}
