//! Files in the format of another system that follow the records of a project after each commit.
//!
//! What another program changed in such a file is never replaced silently: it is *drift*, told record by
//! record. A record in drift stays in the file as it is until a person imports or overwrites it; the others
//! go on.
//!
//! # Protocol
//! Under the lock of the projection: the records are read (whoever comes last writes the latest state) → the
//! files are compared with the digests of what was written → the digest of what is about to be written is
//! noted → the files are replaced, unflushed → what the records say is kept, to tell later changes by. A kill
//! at any call leaves files that are known as written here; after a loss of power an older one may be told as
//! drift, and nothing is lost, since all of it can be made again.
#![expect(clippy::disallowed_methods, reason = "an edge module: lock files are opened here")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, OpenOptions},
    io,
};

use super::{
    ProjectionError,
    comparison::{compare, foreign},
    found_files::{FoundFiles, hashed},
    written_files::WrittenFiles,
};
use crate::{
    commit::{CommitError, CommitOptions, Expected, FsyncPolicy, LockError, replace_hashed},
    disk::{Root, file_lock, local_state::StateFolder},
};
use stepmark_model::artifact::ProjectPath;

/// The bytes of files, by their paths.
pub(crate) type Files = BTreeMap<ProjectPath, Vec<u8>>;

/// The number of times that files are compared anew where other programs write them meanwhile.
const ATTEMPTS: usize = 8;

/// A format in which the records of a system are kept for its other programs.
pub(crate) trait RecordFormat {
    /// The records, as the format holds them.
    type State;
    /// The change of a record that was made in a file.
    type Drift: DriftedRecord;
    /// A reason why the records cannot be read.
    type Error: From<ProjectionError>;

    /// The name under which what was written is remembered.
    fn name(&self) -> &'static str;

    /// The command that brings in what its files hold.
    fn import(&self) -> &'static str;

    /// The command that writes its files.
    fn project(&self) -> &'static str;

    /// The paths that its files may have.
    fn paths(&self) -> Vec<ProjectPath>;

    /// The records of the project, as they are now.
    ///
    /// # Errors
    /// When they cannot be read.
    fn present(&self) -> Result<Self::State, Self::Error>;

    /// The files that hold `state`.
    fn render(&self, state: &Self::State) -> Files;

    /// The records that `files` hold; `None` where they are no files of the format.
    fn read(&self, files: &Files) -> Option<Self::State>;

    /// Returns whether both say the same, times of writing aside.
    fn is_same(&self, one: &Self::State, other: &Self::State) -> bool;

    /// Puts `theirs`, which another program wrote, together with `ours`; `base` is what both come from, where
    /// that is known. Records of which `is_overwritten` says so are ours.
    fn merge(
        &self,
        versions: (Option<&Self::State>, &Self::State, &Self::State),
        is_overwritten: &dyn Fn(&str) -> bool,
    ) -> (Self::State, Vec<Self::Drift>);
}

/// The change of a record that another program made in a file.
pub(crate) trait DriftedRecord {
    /// The id of the record.
    fn id(&self) -> &str;
}

/// The records whose changes in the files are given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// None: drift stays.
    None,
    /// Those with these ids.
    Records(BTreeSet<String>),
    /// All.
    All,
}

impl Overwrite {
    pub(super) fn holds(&self, id: &str) -> bool {
        match self {
            Self::None => false,
            Self::Records(ids) => ids.contains(id),
            Self::All => true,
        }
    }
}

/// The state of the files after they followed the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed<D> {
    /// The files that were written.
    pub written: Vec<ProjectPath>,
    /// The records that other programs changed in the files, and which stay there as they are.
    pub drift: Vec<D>,
    /// Those whose changes were given up.
    pub overwritten: Vec<D>,
    /// Files that could not be read any more and were made again; the path of what stood there, in the local
    /// state of this clone.
    pub kept: Vec<String>,
    /// The reason why the files do not say yet what the records say; the records are changed all the same.
    pub behind: Option<String>,
}

impl<D> Default for Followed<D> {
    fn default() -> Self {
        Self {
            written: Vec::new(),
            drift: Vec::new(),
            overwritten: Vec::new(),
            kept: Vec::new(),
            behind: None,
        }
    }
}

/// Makes the files of `format` follow its records.
///
/// # Errors
/// When the records cannot be read, a file of another program stands there that was never imported, or one
/// cannot be written.
pub(crate) fn follow<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
    overwrite: &Overwrite,
    found: &mut FoundFiles,
) -> Result<Followed<F::Drift>, F::Error> {
    let _lock = lock(root, format.name()).map_err(|source| local(format.name(), source))?;
    let mut last = None;
    for _ in 0..ATTEMPTS {
        match attempt(root, options, format, overwrite, found) {
            Err(Attempted::Again(error)) => {
                *found = FoundFiles::default();
                last = Some(error);
            }
            Err(Attempted::Failed(error)) => return Err(error),
            Ok(followed) => return Ok(followed),
        }
    }
    let busy = || local(format.name(), io::ErrorKind::ResourceBusy.into());
    Err(last.unwrap_or_else(busy).into())
}

/// Compares the files of `format` with its records, and writes nothing.
///
/// # Errors
/// As of [`follow`].
pub(crate) fn drift<F: RecordFormat>(root: &Root, format: &F) -> Result<Vec<F::Drift>, F::Error> {
    let (state, written) = (format.present()?, WrittenFiles::of(root, format.name()));
    let mut found = FoundFiles::default();
    found.read(root, format.paths())?;
    Ok(compare(format, &state, (&found, &written), &Overwrite::None)?.drift)
}

/// Takes files that say what `state` says, and that another clone or build wrote, for what was written last:
/// to be called before a change, so that the change is not taken for theirs.
///
/// # Errors
/// When the files cannot be read, or it cannot be noted.
pub(crate) fn adopt<F: RecordFormat>(
    root: &Root,
    format: &F,
    state: &F::State,
    found: &mut FoundFiles,
) -> Result<(), F::Error> {
    found.read(root, format.paths())?;
    if foreign(found, &WrittenFiles::of(root, format.name())).next().is_none() {
        return Ok(());
    }
    let failed = |source| local(format.name(), source);
    let _lock = lock(root, format.name()).map_err(failed)?;
    let mut written = WrittenFiles::of(root, format.name());
    match compare(format, state, (found, &written), &Overwrite::None) {
        Ok(compared) if !compared.adopted.is_empty() => {
            written.intend(&compared.adopted).map_err(failed)?;
            written.keep(&hashed(format.render(state))).map_err(failed)?;
        }
        // The command that comes next tells what is wrong with them.
        _ => {}
    }
    Ok(())
}

enum Attempted<E> {
    Again(ProjectionError),
    Failed(E),
}

impl<E: From<ProjectionError>> From<ProjectionError> for Attempted<E> {
    fn from(error: ProjectionError) -> Self {
        if error.is_conflict() { Self::Again(error) } else { Self::Failed(error.into()) }
    }
}

fn attempt<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
    overwrite: &Overwrite,
    found: &mut FoundFiles,
) -> Result<Followed<F::Drift>, Attempted<F::Error>> {
    let failed = |source| local(format.name(), source);
    let state = format.present().map_err(Attempted::Failed)?;
    let mut written = WrittenFiles::of(root, format.name());
    found.read(root, format.paths())?;
    let compared = compare(format, &state, (found, &written), overwrite)?;
    let ours = hashed(format.render(&state));
    let mut followed =
        Followed { drift: compared.drift, overwritten: compared.overwritten, ..Followed::default() };
    for path in compared.damaged {
        let bytes = found.get(&path).map_or(&[][..], |found| &found.bytes);
        followed.kept.push(written.keep_copy(&path, bytes).map_err(failed)?);
    }
    // A file with records in drift is not noted as written here: the next comparison finds them again.
    written.intend(&ours.iter().map(|(path, file)| (path.clone(), file.hash)).collect()).map_err(failed)?;
    let unflushed = CommitOptions { fsync: FsyncPolicy::Never, ..*options };
    let stays = |path: &ProjectPath| compared.adopted.contains_key(path);
    for (path, file) in compared.files.as_ref().unwrap_or(&ours).iter().filter(|(path, _)| !stays(path)) {
        let before = found.get(path).map(|found| found.hash);
        if before != Some(file.hash) {
            let expected = before.map_or(Expected::Absent, Expected::Hash);
            replace_hashed(root, path, expected, (&file.bytes, file.hash), &unflushed)
                .map_err(ProjectionError::from)?;
            followed.written.push(path.clone());
        }
    }
    if !followed.written.is_empty() || !compared.adopted.is_empty() {
        written.intend(&compared.adopted).map_err(failed)?;
        written.keep(&ours).map_err(failed)?;
    }
    Ok(followed)
}

/// Takes away the files of `format` that nobody else has changed, and returns them.
///
/// # Errors
/// When one of them cannot be removed.
pub(crate) fn withdraw<F: RecordFormat>(
    root: &Root,
    format: &F,
) -> Result<Vec<ProjectPath>, ProjectionError> {
    let _lock = lock(root, format.name()).map_err(|source| local(format.name(), source))?;
    let written = WrittenFiles::of(root, format.name());
    let (mut found, mut removed) = (FoundFiles::default(), Vec::new());
    found.read(root, format.paths())?;
    for (path, _) in found.iter().filter(|(path, found)| written.knows(path, found.hash)) {
        remove(root, path)?;
        removed.push(path.clone());
    }
    Ok(removed)
}

/// Removes the file at `path`.
///
/// # Errors
/// When it is there and cannot be removed.
pub(crate) fn remove(root: &Root, path: &ProjectPath) -> Result<(), ProjectionError> {
    let place =
        root.resolve_for_writing(path).map_err(|error| CommitError::from(LockError::Resolve(error)))?;
    match fs::remove_file(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| ProjectionError::Remove { path: path.clone(), source }),
    }
}

/// Waits for the lock of the projection `name`, which is held until the file is dropped.
fn lock(root: &Root, name: &str) -> io::Result<File> {
    let folder = root.state().make(StateFolder::Projections).map_err(io::Error::other)?;
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(format!("{name}.lock")))?;
    file_lock::exclusive(&lock)?;
    Ok(lock)
}

fn local(name: &'static str, source: io::Error) -> ProjectionError {
    ProjectionError::Memory { name, source }
}
