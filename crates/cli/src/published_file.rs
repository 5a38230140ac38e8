//! Writes whole files for people atomically.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge: the file may stand outside of every project, where stepmark-core writes nothing"
)]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use stepmark_model::artifact::names_git_folder;
use tempfile::Builder;

/// In bytes; enough to identify the generator.
const BEGINNING: u64 = 4096;

#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishFileError {
    #[error("cannot write `{}`: it names no file", path.display())]
    NoFile { path: PathBuf },
    #[error("cannot write `{}`: a file is there that was not made by this command", path.display())]
    Foreign { path: PathBuf },
    #[error("cannot write `{}`: it is in git's own folder, where stepmark writes nothing", path.display())]
    GitFolder { path: PathBuf },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Durable. Replaces an empty file, or one whose start `is_ours`; creates the folder, and follows a link.
/// Writes directly into pipes and devices.
pub(crate) fn publish(
    path: &Path,
    bytes: &[u8],
    is_ours: impl Fn(&[u8]) -> bool,
) -> Result<(), PublishFileError> {
    let failed = |source| PublishFileError::Write { path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(failed)?;
    let no_file = || PublishFileError::NoFile { path: path.to_owned() };
    if is_in_git_folder(&absolute) {
        return Err(PublishFileError::GitFolder { path: path.to_owned() });
    }
    let there = match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(no_file()),
        Ok(there) if !there.is_file() => return give(path, bytes).map_err(failed),
        Ok(there) => {
            let start = beginning(path).map_err(failed)?;
            if !start.is_empty() && !is_ours(&start) {
                return Err(PublishFileError::Foreign { path: path.to_owned() });
            }
            Some(there)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    // Replaces the target of a link, not the link. A dangling link is replaced itself.
    let place = path.canonicalize().unwrap_or(absolute);
    let (Some(folder), Some(_)) = (place.parent(), place.file_name()) else { return Err(no_file()) };
    replace(&place, folder, bytes, there.map(|there| there.permissions())).map_err(failed)
}

fn is_in_git_folder(path: &Path) -> bool {
    let real = path.ancestors().find_map(|above| above.canonicalize().ok());
    let names_git =
        |place: &Path| place.components().any(|part| names_git_folder(&part.as_os_str().to_string_lossy()));
    names_git(path) || real.is_some_and(|real| names_git(&real))
}

fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(BEGINNING).read_to_end(&mut start)?;
    Ok(start)
}

fn give(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(bytes)
}

fn replace(
    place: &Path,
    folder: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut builder = Builder::new();
    builder.prefix(".stepmark-").suffix(".tmp");
    // Default permissions: the umask decides.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut staged = builder.tempfile_in(folder)?;
    staged.write_all(bytes)?;
    if let Some(permissions) = permissions {
        staged.as_file().set_permissions(permissions)?;
    }
    staged.as_file().sync_all()?;
    staged.persist(place).map_err(|error| error.error)?;
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}
