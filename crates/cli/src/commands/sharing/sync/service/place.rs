//! The file of a service.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge: the file belongs to the user's system, not to a project"
)]

use std::{fs, io, path::Path};

use crate::exit::{Exit, Failure};

/// Writes it, with its folder. Answers whether it was not there like that. It is no state: where that is cut
/// off, it is written again.
pub(in super::super) fn write(file: &Path, text: &str) -> Result<bool, Failure> {
    let failed =
        |error: io::Error| Failure::new(Exit::Io, format!("cannot write `{}`: {error}", file.display()));
    if fs::read(file).is_ok_and(|bytes| bytes == text.as_bytes()) {
        return Ok(false);
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(file, text).map_err(failed)?;
    Ok(true)
}

/// Removes it, and the link that made it start. Answers whether it was there.
pub(in super::super) fn remove(file: &Path, link: Option<&Path>) -> Result<bool, Failure> {
    if let Some(link) = link {
        gone(link)?;
    }
    gone(file)
}

fn gone(file: &Path) -> Result<bool, Failure> {
    match fs::remove_file(file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::new(Exit::Io, format!("cannot remove `{}`: {error}", file.display()))),
    }
}
