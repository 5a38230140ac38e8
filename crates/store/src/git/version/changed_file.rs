//! The change of a file between two states of a repository.

use stepmark_model::artifact::ProjectPath;

/// A file that is not the same on both sides. Symbolic links and submodules are no files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path now; the last one, if the file is gone.
    pub path: ProjectPath,
    /// The path before, if it was moved.
    pub renamed_from: Option<ProjectPath>,
    /// Its bytes before; `None` where it is new.
    pub before: Option<Vec<u8>>,
    /// Its bytes now; `None` where it was deleted, or moved to a name that nobody asked for.
    pub after: Option<Vec<u8>>,
}

/// The changes between two states of a repository, in the order of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitChanges {
    /// The files that were asked for and changed.
    pub files: Vec<ChangedFile>,
    /// Files that a merge left in conflict: they have no state to be compared.
    pub unmerged: Vec<ProjectPath>,
    /// Files too large to be read.
    pub over_limit: Vec<OverLimit>,
    /// Paths that are no UTF-8, with U+FFFD in place of what is none.
    pub not_utf8: Vec<String>,
}

/// A file that has more bytes than stepmark reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// The file.
    pub path: ProjectPath,
    /// The number of bytes that it has.
    pub size: u64,
}
