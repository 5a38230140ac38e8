//! `.stepmark/local/`: what belongs to one clone and is not disposable.
#![expect(clippy::disallowed_methods, reason = "an edge module: folders are made here")]

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{
    artifact::ProjectPath,
    root::{ResolveError, Root},
};

/// The folder `name` of `.stepmark/local/`, resolved: none of the three may lead out of the project.
#[expect(clippy::expect_used, reason = "the path is made of constants")]
pub(super) fn resolved(root: &Root, name: &str) -> Result<PathBuf, ResolveError> {
    root.resolve_for_writing(&ProjectPath::new(format!(".stepmark/local/{name}")).expect("a relative path"))
}

/// The same, for callers whose errors are those of the system.
pub(super) fn local_folder(root: &Root, name: &str) -> io::Result<PathBuf> {
    resolved(root, name).map_err(io::Error::other)
}

/// Makes `folder`, which stands in `.stepmark/local/`, and that one too; git is told to ignore it even without `init`.
pub(super) fn make_local_folder(folder: &Path) -> io::Result<()> {
    let local = folder.parent().unwrap_or(folder);
    fs::create_dir_all(local)?;
    // Before the folder, whose presence says that all this is done: a process killed here leaves it to the next one.
    let ignore = local.join(".gitignore");
    if fs::metadata(&ignore).map_or(true, |found| found.len() == 0) {
        File::create(&ignore)?.write_all(b"*\n")?;
    }
    fs::create_dir_all(folder)
}
