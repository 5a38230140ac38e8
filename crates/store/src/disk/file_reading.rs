//! Reading files of the work tree, within the limit.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: files are read here; cache files are written here"
)]

use std::fs::File;
use std::io::{Read, Write as _};
use std::{fs, io, os::unix::fs::OpenOptionsExt, path::Path, process};
use stepmark_model::artifact::READ_LIMIT;

/// Opens the file at `place`, never waiting for the other end of a pipe.
pub(crate) fn open_file(place: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(place)
}

/// Reads all of `file` behind what `bytes` hold. What is no regular file, or has more than [`READ_LIMIT`]
/// bytes, is an error.
pub(crate) fn read_within_limit(mut file: File, bytes: &mut Vec<u8>) -> io::Result<()> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if metadata.len() > READ_LIMIT {
        return Err(too_large());
    }
    let (before, size) = (bytes.len(), usize::try_from(metadata.len()).unwrap_or(0));
    bytes.resize(before + size + 1, 0);
    let read = read_once(&mut file, &mut bytes[before..])?;
    bytes.truncate(before + read);
    // Less than there was room for, and at the end by the stat, too: nothing is left to read.
    if read == size {
        return Ok(());
    }
    file.take((READ_LIMIT + 1).saturating_sub(read as u64)).read_to_end(bytes)?;
    if (bytes.len() - before) as u64 > READ_LIMIT { Err(too_large()) } else { Ok(()) }
}

/// The bytes of the regular file at `place`, within the limit.
pub(crate) fn read_file(place: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_within_limit(open_file(place)?, &mut bytes)?;
    Ok(bytes)
}

/// Returns the error of a file with more than [`READ_LIMIT`] bytes.
pub(crate) fn too_large() -> io::Error {
    let reason = format!("it has more than the {READ_LIMIT} bytes that stepmark reads");
    io::Error::new(io::ErrorKind::FileTooLarge, reason)
}

fn read_once(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Replaces the file at `file` by `bytes`.
///
/// It is renamed into place but not flushed to the disk: whoever reads it recognises a torn one.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let staged = file.with_extension(format!("{}.tmp", process::id()));
    // What stands there is of a process that died, or a link that a repository brought.
    fs::remove_file(&staged).ok();
    let written = File::create_new(&staged)
        .and_then(|mut target| target.write_all(bytes))
        .and_then(|()| fs::rename(&staged, file));
    if written.is_err() {
        // What went wrong is told; that the remains could not be removed either adds nothing.
        fs::remove_file(&staged).ok();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_whatever_its_stat_says() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("prd.md");
        for text in ["", "a", "---\nstatus: done\n---\n"] {
            std::fs::write(&place, text).unwrap();
            let mut bytes = b"before ".to_vec();
            read_within_limit(open_file(&place).unwrap(), &mut bytes).unwrap();
            assert_eq!(bytes, format!("before {text}").into_bytes());
        }
        let error = read_within_limit(open_file(folder.path()).unwrap(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        File::create(&place).unwrap().set_len(READ_LIMIT + 1).unwrap();
        let error = read_within_limit(open_file(&place).unwrap(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        // Its stat says that it has no bytes.
        if cfg!(target_os = "linux") {
            let mut bytes = Vec::new();
            read_within_limit(open_file(Path::new("/proc/self/status")).unwrap(), &mut bytes).unwrap();
            assert!(bytes.starts_with(b"Name:"));
        }
    }
}
