//! Sealed segments too large for a pack: replaced by the same bytes compressed.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments are read and replaced here")]

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Write},
    path::Path,
};

use flate2::bufread::MultiGzDecoder;

use crate::commit::{FsyncPolicy, folder::flush_folder, same_bytes::have_same_bytes};
use crate::disk::{own_file, own_file::Access};
use crate::history::compress;
use stepmark_model::journal::SegmentName;

/// Replaces the file of the segment by a compressed one, where it is not. Returns whether it did. The new file is flushed, read back and compared
/// before the other is removed.
pub(super) fn compress_alone(folder: &Path, name: &SegmentName, fsync: FsyncPolicy) -> io::Result<bool> {
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
        write(&folder.join(&staged), open(&plain)?, fsync)?;
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

fn write(place: &Path, segment: File, fsync: FsyncPolicy) -> io::Result<()> {
    // What a run that was killed left, or a repository put here.
    match fs::remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = BufWriter::new(File::create_new(place)?);
    compress(segment, &mut file)?;
    file.flush()?;
    let file = file.get_ref();
    if fsync == FsyncPolicy::Always { file.sync_all() } else { Ok(()) }
}
