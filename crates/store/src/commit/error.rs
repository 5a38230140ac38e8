//! Reasons why a commit did not end well, and what they mean for its files.

use std::io;

use crate::commit::{FolderError, LockError, PublishError, ReadError, StageError};
use stepmark_model::artifact::ProjectPath;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    #[error("there is no file `{path}` in the project")]
    Missing { path: ProjectPath },
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The new content did not get its name; a [`Conflict`](crate::commit::Conflict) among the reasons.
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(
        "nothing was changed: {questions} times, git or another program was asked about {}, and another program wrote it \
         meanwhile",
        named(paths)
    )]
    OutdatedAnswers { paths: Vec<ProjectPath>, questions: u32 },
    #[error("`{path}` and `{other}` are the same file: name it once")]
    SameFile { path: ProjectPath, other: ProjectPath },
    #[error("cannot write the redo record of `{path}`; nothing was changed")]
    Redo { path: ProjectPath, source: io::Error },
    #[error(
        "`{path}` is changed, but the journal could not be written: the next command that writes completes the history"
    )]
    History { path: ProjectPath, source: io::Error },
    #[error(
        "`{path}` is changed and history tells of it, but the redo record could not be cleared: the next command that writes clears it"
    )]
    Record { path: ProjectPath, source: io::Error },
    #[error(
        "the commit of `{path}` was begun and is not finished, so it is unknown which of its files are changed: the next command \
         that writes finishes it"
    )]
    Unfinished { path: ProjectPath, source: Box<CommitError> },
    #[error("a commit that was cut off earlier cannot be finished yet; nothing else was changed")]
    Earlier { source: Box<CommitError> },
    /// A lease could not be written; it is as it was.
    #[error("cannot write the lease of `{path}`")]
    Lease { path: ProjectPath, source: io::Error },
    #[error("cannot use the record of commits that were cut off; nothing was changed")]
    Recover { source: io::Error },
    #[error(
        "another program wrote `{path}` in the middle of the commit: its bytes stand, the other files of the commit are \
         changed, and the journal says so; look at it and run the command again"
    )]
    Overtaken { path: ProjectPath },
}

/// The state of the files of a commit that ended with an error: whether they have their new content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// No file was changed: the command can be run again.
    NotWritten,
    /// The files have their new content, but for those that the error names; what is missing besides, the
    /// error says.
    Written,
    /// A part of the files may have it. The next command that writes finishes the commit; where the error
    /// names bytes of another program that are kept, a person has to look.
    Unknown,
}

impl WriteState {
    /// The word for it in JSON: `not_written`, `written` or `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotWritten => "not_written",
            Self::Written => "written",
            Self::Unknown => "unknown",
        }
    }
}

pub(crate) fn named(paths: &[ProjectPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}

impl PublishError {
    pub const fn write_state(&self) -> WriteState {
        match self {
            Self::Flush { .. } | Self::Remains { .. } => WriteState::Written,
            Self::Conflict(conflict) if conflict.kept.is_some() => WriteState::Unknown,
            Self::Conflict(_) | Self::Check { .. } | Self::Busy { .. } | Self::Rename { .. } => {
                WriteState::NotWritten
            }
        }
    }
}

impl CommitError {
    /// Returns whether the files of the commit have their new content.
    pub const fn write_state(&self) -> WriteState {
        match self {
            Self::Publish(error) => error.write_state(),
            Self::History { .. } | Self::Record { .. } | Self::Overtaken { .. } => WriteState::Written,
            Self::Unfinished { .. } => WriteState::Unknown,
            Self::Missing { .. }
            | Self::Lock(_)
            | Self::Read(_)
            | Self::Folder(_)
            | Self::Stage(_)
            | Self::OutdatedAnswers { .. }
            | Self::SameFile { .. }
            | Self::Redo { .. }
            | Self::Lease { .. }
            | Self::Recover { .. }
            | Self::Earlier { .. } => WriteState::NotWritten,
        }
    }
}
