//! The hashes of open files, read in pieces.

use std::{
    fs::File,
    io::{self, Read},
};

use sha2::{Digest, Sha256};

use stepmark_model::{
    artifact::FileHash,
    projection::files_manifest::{LineEndHasher, LineEndHashes},
};

/// Large enough that most artifacts are read at once, small enough to stay in the processor's cache.
const PIECE: usize = 64 * 1024;

/// Reads files and hashes them; one buffer serves them all.
#[derive(Debug)]
pub(crate) struct FileHasher {
    buffer: Box<[u8]>,
}

impl FileHasher {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; PIECE].into_boxed_slice() }
    }

    /// The SHA-256 of what `file` holds from here to its end, which a stat has said to be after `size` bytes;
    /// a wrong `size` costs a little time.
    pub(crate) fn hash(&mut self, file: File, size: u64) -> io::Result<FileHash> {
        let mut digest = Sha256::new();
        self.pieces(file, Some(size), |piece| digest.update(piece))?;
        Ok(FileHash::from_digest(digest.finalize().into()))
    }

    /// The hashes that it would have with other line ends.
    pub(crate) fn line_ends(&mut self, file: File) -> io::Result<LineEndHashes> {
        let mut hasher = LineEndHasher::default();
        self.pieces(file, None, |piece| hasher.update(piece))?;
        Ok(hasher.finish())
    }

    fn pieces(&mut self, mut file: File, size: Option<u64>, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let mut taken = 0;
        loop {
            match file.read(&mut self.buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => {
                    take(&self.buffer[..length]);
                    taken += length as u64;
                    // Less than was asked for, and at the end by the stat, too: the file has not grown since.
                    if length < PIECE && size == Some(taken) {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    #[test]
    fn hashes_files_of_any_length() {
        let mut hasher = FileHasher::new();
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
            let bytes: Vec<u8> = (0..length).map(|at| if at % 40 == 39 { b'\n' } else { b'\r' }).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            // What the file held at the time of the stat: as much, less because it has grown, or more.
            for size in [length, length / 2, 0, length.saturating_sub(PIECE), length + 1] {
                file.rewind().unwrap();
                let hash = hasher.hash(file.try_clone().unwrap(), size as u64).unwrap();
                assert_eq!(hash, FileHash::of(&bytes), "{length} {size}");
            }
            file.rewind().unwrap();
            assert_eq!(hasher.line_ends(file).unwrap(), LineEndHashes::of(&bytes), "{length}");
        }
    }
}
