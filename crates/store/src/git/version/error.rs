//! The reasons why git cannot say what changed.

use std::{io, path::PathBuf};

use stepmark_model::artifact::ProjectPath;

/// A reason why the changes of a repository cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitVersionError {
    /// Git cannot be started.
    #[error("cannot run `git`, which knows what changed: install it, or put it on the search path")]
    NoGit {
        /// The error of the system.
        source: io::Error,
    },
    /// The project is in no repository.
    #[error("`{}` is in no git repository, so nothing can be compared: check files by their paths", folder.display())]
    NoRepository {
        /// The project's folder.
        folder: PathBuf,
    },
    /// A name leads to no commit.
    #[error(
        "`{name}` names no commit of this clone: fetch it first (a shallow clone lacks older commits; in GitHub Actions, \
         `fetch-depth: 0`)"
    )]
    NoCommit {
        /// The name as given.
        name: String,
    },
    /// Two commits have no common ancestor in this clone.
    #[error(
        "`{from}` and `{to}` have no common ancestor in this clone: fetch more of its history (in GitHub Actions, \
         `fetch-depth: 0`)"
    )]
    NoMergeBase {
        /// The one.
        from: String,
        /// The other.
        to: String,
    },
    /// An object that a file is made of is not there, as in a clone without blobs.
    #[error("the object {object} of `{path}` is not in this clone: `git fsck` tells more")]
    NoObject {
        /// The file.
        path: ProjectPath,
        /// The name of the object.
        object: String,
    },
    /// A command of git failed.
    #[error("`git {command}` failed: {reason}")]
    Failed {
        /// The command.
        command: String,
        /// The reason that it gives.
        reason: String,
    },
    /// The pipe to git broke.
    #[error("cannot read what git answers")]
    Pipe {
        /// The error of the system.
        source: io::Error,
    },
    /// Git answered in a form that is not known.
    #[error("git lists changes in a form that stepmark does not know: {answer}")]
    Unknown {
        /// The part that is not understood.
        answer: String,
    },
}
