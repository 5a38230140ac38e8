//! Writing the files of a projection.

use std::collections::BTreeMap;

use super::{OnEdit, ProjectedFile, Projection, Witness, record_files::lock, written_files::WrittenFiles};
use crate::{
    commit::{
        CommitError, CommitOptions, Expected, Outcome, PublishError, create, read_whole, replace_whole,
    },
    disk::{Root, WalkError},
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath, ProjectPathError},
    projection::FileState,
};

/// The end of the name under which a version is kept that somebody edited: `AGENTS.md.edited`, then
/// `AGENTS.md.edited-2`.
const EDITED_SUFFIX: &str = ".edited";

/// The number of edited versions that are kept beside a file at most.
const EDITED_VERSIONS: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    pub written: Vec<ProjectPath>,
    /// The number of files that were right already.
    pub unchanged: usize,
    /// Those of the written that were not as they had been written before.
    pub edited: Vec<ProjectPath>,
    pub kept: Vec<ProjectPath>,
}

#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    #[error("cannot write `{path}`: a file is there that stepmark did not make; nothing was changed")]
    Foreign { path: ProjectPath },
    #[error("`{path}` was written by another program: bring it in with `{import}`, or move it away")]
    NotImported { path: ProjectPath, import: &'static str },
    #[error("another program holds `{path}` all the time: end it, then `stepmark coordination project`")]
    Locked { path: ProjectPath },
    #[error(
        "cannot write `{path}`: a hundred edited versions are kept beside it already; nothing was changed"
    )]
    ManyEdited { path: ProjectPath },
    #[error(transparent)]
    Path(#[from] ProjectPathError),
    #[error("cannot remove `{path}`")]
    Remove { path: ProjectPath, source: std::io::Error },
    #[error("cannot note what is written for `{name}`; nothing was changed")]
    Memory { name: &'static str, source: std::io::Error },
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    Walk(#[from] WalkError),
}

impl ProjectionError {
    /// Returns whether another program wrote a file meanwhile, so that starting again may help.
    pub const fn is_conflict(&self) -> bool {
        let Self::Commit(CommitError::Publish(error)) = self else { return false };
        matches!(error, PublishError::Conflict(_) | PublishError::Busy { .. })
    }
}

/// Writes the files of `projection` that are not what they should be, one after the other, each atomically,
/// if it still is what the projection found.
pub fn publish<P: Projection>(
    root: &Root,
    options: &CommitOptions,
    projection: &P,
) -> Result<Published, ProjectionError> {
    // Where it cannot be made, each file is still compared before it is replaced.
    let _lock = lock(root, P::FACTS.name).ok();
    publish_locked(root, options, projection)
}

/// The same, under the lock of the projection.
pub(super) fn publish_locked<P: Projection>(
    root: &Root,
    options: &CommitOptions,
    projection: &P,
) -> Result<Published, ProjectionError> {
    let files = projection.files();
    if let Some(file) = files.iter().find(|file| file.is_foreign) {
        return Err(ProjectionError::Foreign { path: file.path.clone().into_owned() });
    }
    let mut before = WrittenFiles::of(root, P::FACTS.name);
    let (mut done, mut digests) = (Published::default(), BTreeMap::new());
    let published = files.iter().try_for_each(|file| {
        let digest = publish_file(root, options, file, &before, &mut done)?;
        if file.witness == Witness::Memory {
            digests.insert(file.path.clone().into_owned(), digest);
        }
        Ok(())
    });
    // One that is lost makes no difference but that an edit is not told from an older version.
    let _forgotten = before.intend(&digests, &BTreeMap::new());
    published.map(|()| done)
}

pub(crate) fn was_written(root: &Root, name: &'static str, path: &ProjectPath) -> bool {
    WrittenFiles::of(root, name).has(path)
}

fn publish_file(
    root: &Root,
    options: &CommitOptions,
    file: &ProjectedFile<'_>,
    before: &WrittenFiles<'_>,
    done: &mut Published,
) -> Result<FileHash, ProjectionError> {
    let wanted = FileHash::of(&file.bytes);
    let state = file.state(wanted, before.digest(&file.path));
    if state == FileState::Current {
        done.unchanged += 1;
    } else {
        if file.on_edit == OnEdit::Keep && state.may_be_edited() {
            done.kept.extend(keep_edited(root, options, &file.path)?);
        }
        let expected = file.found.map_or(Expected::Absent, Expected::Hash);
        match replace_whole(root, &file.path, expected, &file.bytes, options)? {
            Outcome::Unchanged => done.unchanged += 1,
            Outcome::Written { .. } | Outcome::Deleted { .. } => {
                done.written.push(file.path.clone().into_owned());
                done.edited.extend((state == FileState::Edited).then(|| file.path.clone().into_owned()));
            }
        }
    }
    Ok(wanted)
}

/// Copies the file at `path` beside itself, under the first name that is free or has these bytes already;
/// `None` where it is gone.
fn keep_edited(
    root: &Root,
    options: &CommitOptions,
    path: &ProjectPath,
) -> Result<Option<ProjectPath>, ProjectionError> {
    let Some(bytes) = read_whole(root, path)? else { return Ok(None) };
    for number in 1..=EDITED_VERSIONS {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let copy = ProjectPath::new(format!("{path}{EDITED_SUFFIX}{number}"))?;
        match read_whole(root, &copy)? {
            Some(found) if found == bytes => return Ok(Some(copy)),
            Some(_) => {}
            None => {
                create(root, &copy, &bytes, options)?;
                return Ok(Some(copy));
            }
        }
    }
    Err(ProjectionError::ManyEdited { path: path.clone() })
}
