//! A project in a temporary folder, for the tests of this stage.
#![expect(clippy::disallowed_methods, reason = "tests make and look at files directly")]

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::commit::{
    ArtifactLock, CommitError, CommitOptions, FileDecision, FsyncPolicy, Outcome, Transaction,
};
use crate::disk::root::Root;
use stepmark_model::artifact::ProjectPath;

/// Removed when dropped.
pub(crate) struct ScratchProject {
    _folder: tempfile::TempDir,
    pub(crate) root: Root,
}

pub(crate) const PRD: &str = "docs/prd.md";

/// The bytes that it holds at first.
pub(crate) const OLD: &[u8] = b"old\n";

impl ScratchProject {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let project = Self { _folder: folder, root };
        fs::create_dir(project.place("docs")).unwrap();
        project.write(PRD, OLD);
        project
    }

    pub(crate) fn place(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        fs::write(self.place(path), bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.place(path)).unwrap()
    }

    pub(crate) fn lock(&self, path: &str) -> ArtifactLock {
        ArtifactLock::acquire(&self.root, &named(path), Duration::ZERO).unwrap()
    }

    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        names_in(&self.place(folder))
    }
}

pub(crate) fn named(path: &str) -> ProjectPath {
    ProjectPath::new(path).unwrap()
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub(crate) fn fast() -> CommitOptions {
    CommitOptions { fsync: FsyncPolicy::Never, ..CommitOptions::default() }
}

/// A reason why an update was not made: the caller's, or the commit's.
#[derive(Debug)]
pub(crate) enum UpdateError<E> {
    Decide(E),
    Commit(CommitError),
}

impl<E> From<CommitError> for UpdateError<E> {
    fn from(error: CommitError) -> Self {
        Self::Commit(error)
    }
}

/// Lets `decide` make the new content of the file at `path` (`None`: leave it), and replaces it.
pub(crate) fn update<E>(
    root: &Root,
    path: &ProjectPath,
    options: &CommitOptions,
    mut decide: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, E>,
) -> Result<Outcome, UpdateError<E>> {
    let transaction = Transaction::new(root, std::slice::from_ref(path), options).looking_first();
    let decide = |found: &[Option<&[u8]>]| match found {
        [Some(bytes)] => {
            let new = decide(bytes).map_err(UpdateError::Decide)?;
            Ok((vec![new.map_or(FileDecision::Keep, FileDecision::Write)], ()))
        }
        _ => Err(UpdateError::from(CommitError::Missing { path: path.clone() }).into()),
    };
    transaction.run(decide, |(), _| Ok(Vec::new())).map(|outcomes| outcomes[0])
}
