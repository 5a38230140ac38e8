//! Problems that keep a file, or a part of it, out of its catalogue.

use crate::artifact::ProjectPath;
use stepmark_frontmatter::ParseError;

/// A file that should be in a catalogue and cannot be read as it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}{}: {kind}", self.place())]
pub struct EntryProblem {
    /// The file or folder.
    pub path: ProjectPath,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The kind of problem.
    pub kind: EntryProblemKind,
}

/// A kind of problem with a file of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryProblemKind {
    /// The frontmatter, or the whole file where it is YAML, cannot be read.
    #[error("its frontmatter cannot be read, so no catalogue can say what it is: {0}")]
    Frontmatter(ParseError),
    /// The frontmatter has no end.
    #[error("its frontmatter has no closing `---`, so no catalogue can say what it is")]
    Unclosed,
    /// A skill without frontmatter at its start.
    #[error("it does not begin with frontmatter, so it is no skill: write `name` and `description` there")]
    NoFrontmatter,
    /// A skill needs the key, with text.
    #[error("its frontmatter has no `{key}` with text, so it is no skill")]
    KeyMissing {
        /// The key.
        key: &'static str,
    },
    /// A skill is called as its folder.
    #[error(
        "its `name` is `{name}` and its folder is called `{folder}`: agents find it only if both are the same"
    )]
    NameDiffers {
        /// The state in the frontmatter.
        name: String,
        /// The folder's name.
        folder: String,
    },
    /// The file or folder cannot be read at all.
    #[error("it cannot be read: {reason}")]
    Unreadable {
        /// The message of the system.
        reason: String,
    },
    /// A name in the folder is no UTF-8, so no catalogue can hold it.
    #[error("the name `{name}` in it is not UTF-8, so no catalogue can hold it")]
    NameNotUtf8 {
        /// The name, with replacement characters.
        name: String,
    },
    /// A catalogue or book of the installer cannot be read; it is as if it were not there.
    #[error(
        "the installer's file cannot be read, so columns, modules and their order are taken from the folders: {reason}"
    )]
    InstallersBook {
        /// The problem with it.
        reason: String,
    },
}

impl EntryProblem {
    /// A problem with a file as a whole.
    pub fn of_file(path: &ProjectPath, kind: EntryProblemKind) -> Self {
        Self { path: path.clone(), line: None, kind }
    }

    fn place(&self) -> String {
        self.line.map(|line| format!(":{line}")).unwrap_or_default()
    }
}
