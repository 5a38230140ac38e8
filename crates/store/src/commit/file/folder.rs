//! Folders: made where a new file needs them, and flushed, where the policy on waiting for the disk says so.
#![expect(clippy::disallowed_methods, reason = "an edge module: folders are made and flushed here")]

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use crate::disk::{own_file::remove_if_there, root::ResolveError, root::Root};
use stepmark_model::artifact::ProjectPath;

/// The policy on waiting until the bytes of a commit are on the disk. Atomicity does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FsyncPolicy {
    /// Flush the new file before it gets its name, and the folder after: what is acknowledged survives a loss
    /// of power.
    #[default]
    Always,
    /// Leave flushing to the system: survives the end of the process, not that of the machine. For tests and
    /// for files that can be rebuilt.
    Never,
}

/// A reason why the folder of a new file could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The folder is not inside the project, or cannot be reached.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The system refuses to make a folder, or to flush the one above it.
    #[error("cannot make the folder `{}` for `{path}`; no file was written", folder.display())]
    Make {
        /// The file that needs it.
        path: ProjectPath,
        /// The folder.
        folder: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// Makes the folders that lead to `path` where they are missing, inside the root, each durable in the one
/// above it.
///
/// # Errors
/// When one cannot be made; those that were made stay.
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
        // Another process made it a moment ago.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        done => done?,
    }
    folder.parent().map_or(Ok(()), |above| flush_folder(above, fsync))
}

/// Makes the file at `place` anew, in place of what a run that was killed left there or a repository put, and
/// flushes it.
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

/// Makes the names in `folder` durable.
pub(in crate::commit) fn flush_folder(folder: &Path, fsync: FsyncPolicy) -> io::Result<()> {
    match fsync {
        // Only Unix lets folders be opened and flushed; elsewhere the file system does it by itself.
        FsyncPolicy::Always if cfg!(unix) => File::open(folder)?.sync_all(),
        FsyncPolicy::Always | FsyncPolicy::Never => Ok(()),
    }
}
