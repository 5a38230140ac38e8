//! Reading a file that may be replaced.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: files are read here; folders are made and flushed here"
)]

use crate::disk::own_file::remove_if_there;
use crate::disk::root::{ResolveError, Root};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::{fs, io, io::Read, os::unix::fs::OpenOptionsExt, time::SystemTime};
use stepmark_model::artifact::{ProjectPath, READ_LIMIT};

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("`{path}` is not a regular file")]
    NotAFile { path: ProjectPath },
    #[error("`{path}` has {size} bytes, more than the {READ_LIMIT} that stepmark reads")]
    TooLarge {
        path: ProjectPath,
        /// In bytes, as far as read.
        size: u64,
    },
    #[error("cannot read `{path}`")]
    Io { path: ProjectPath, source: io::Error },
}

#[derive(Debug)]
pub(in crate::commit) struct FileContent {
    pub(in crate::commit) bytes: Vec<u8>,
    /// `None` if the system does not know.
    pub(in crate::commit) modified: Option<SystemTime>,
}

/// Errors name `path`. `None` if there is no file.
pub(in crate::commit) fn read_file(
    path: &ProjectPath,
    place: &Path,
) -> Result<Option<FileContent>, ReadError> {
    let failed = |source| ReadError::Io { path: path.clone(), source };
    let file = match read_options().open(place) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if is_link(&error) => return Err(ReadError::NotAFile { path: path.clone() }),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(ReadError::NotAFile { path: path.clone() });
    }
    let too_large = |size| ReadError::TooLarge { path: path.clone(), size };
    if metadata.len() > READ_LIMIT {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    file.take(READ_LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > READ_LIMIT {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(Some(FileContent { bytes, modified: metadata.modified().ok() }))
}

/// Does not follow links: `place` was resolved, so a final link is newer. Never blocks on a pipe.
#[cfg(unix)]
fn read_options() -> OpenOptions {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.cast_signed());
    options
}

#[cfg(not(unix))]
fn read_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

#[cfg(unix)]
fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_link(_error: &io::Error) -> bool {
    false
}

/// Says when commits wait for the disk. Atomicity does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FsyncPolicy {
    /// Flush the file before it gets its name, then the folder: acknowledged commits survive a power loss.
    #[default]
    Always,
    /// Left to the system: survives only the end of the process. For tests and rebuildable files.
    Never,
}

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error("cannot make the folder `{}` for `{path}`; no file was written", folder.display())]
    Make { path: ProjectPath, folder: PathBuf, source: io::Error },
}

pub fn make_folders_to(root: &Root, path: &ProjectPath, fsync: FsyncPolicy) -> Result<(), FolderError> {
    let place = root.resolve_for_writing(path)?;
    let missing: Vec<&Path> = place
        .ancestors()
        .skip(1)
        .take_while(|folder| *folder != root.path() && fs::symlink_metadata(folder).is_err())
        .collect();
    for folder in missing.into_iter().rev() {
        make_folder(folder, fsync).map_err(|source| FolderError::Make {
            path: path.clone(),
            folder: folder.to_owned(),
            source,
        })?;
    }
    Ok(())
}

fn make_folder(folder: &Path, fsync: FsyncPolicy) -> io::Result<()> {
    match fs::create_dir(folder) {
        // Another process has just created it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        done => done?,
    }
    folder.parent().map_or(Ok(()), |above| flush_folder(above, fsync))
}

/// Replaces whatever a killed run or a repository left there, and flushes.
pub(in crate::commit) fn write_anew(
    place: &Path,
    fsync: FsyncPolicy,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    remove_if_there(place)?;
    let mut file = File::create_new(place)?;
    write(&mut file)?;
    if fsync == FsyncPolicy::Always { file.sync_all() } else { Ok(()) }
}

pub(in crate::commit) fn flush_folder(folder: &Path, fsync: FsyncPolicy) -> io::Result<()> {
    match fsync {
        // Only Unix can open and flush folders; elsewhere the file system does it.
        FsyncPolicy::Always if cfg!(unix) => File::open(folder)?.sync_all(),
        FsyncPolicy::Always | FsyncPolicy::Never => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_regular_files_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = ProjectPath::new("x").unwrap();
        let place = folder.path().join("x");
        assert!(read_file(&path, &place).unwrap().is_none());
        std::fs::write(&place, "bytes").unwrap();
        assert_eq!(read_file(&path, &place).unwrap().unwrap().bytes, b"bytes");
        std::fs::File::options().write(true).open(&place).unwrap().set_len(READ_LIMIT + 1).unwrap();
        let refused = read_file(&path, &place);
        assert!(matches!(refused, Err(ReadError::TooLarge { size, .. }) if size == READ_LIMIT + 1));
        assert!(matches!(read_file(&path, folder.path()), Err(ReadError::NotAFile { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn neither_follows_links_nor_waits_for_pipes() {
        let folder = tempfile::tempdir().unwrap();
        let path = ProjectPath::new("x").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        assert!(matches!(read_file(&path, &link), Err(ReadError::NotAFile { .. })));

        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(matches!(read_file(&path, &pipe), Err(ReadError::NotAFile { .. })));
    }
}
