//! The meaning of an error for the files of a commit.

use crate::commit::{CommitError, PublishError};

/// The state of the files of a commit that ended with an error: whether they have their new content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// No file was changed: the command can be run again.
    NotWritten,
    /// The files have their new content, but for those that the error names; what is missing besides, the error says.
    Written,
    /// A part of the files may have it. The next command that writes finishes the commit; where the error names bytes of another program
    /// that are kept, a person has to look.
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

impl PublishError {
    /// Returns whether the file has its new content.
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
            | Self::SameFile { .. }
            | Self::Redo { .. }
            | Self::Lease { .. }
            | Self::Recover { .. }
            | Self::Earlier { .. } => WriteState::NotWritten,
        }
    }
}
