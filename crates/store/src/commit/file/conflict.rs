//! The state that a file must have to be replaced, and the one that is there instead.

use std::{fmt, path::PathBuf};

use crate::commit::ReadError;
use stepmark_model::artifact::{FileHash, ProjectPath};

/// The state of the file that the caller saw, and that must still be there when it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// There was no file.
    Absent,
    /// The file held bytes of this hash.
    Hash(FileHash),
}

impl Expected {
    /// The state to expect after `bytes` were read; `None` where there was no file.
    pub fn of(bytes: Option<&[u8]>) -> Self {
        bytes.map_or(Self::Absent, |bytes| Self::Hash(FileHash::of(bytes)))
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => out.write_str("no file"),
            Self::Hash(hash) => write!(out, "SHA-256 {hash}"),
        }
    }
}

/// The state that was found in place of the expected one.
#[derive(Debug)]
pub enum Found {
    /// No file.
    Absent,
    /// Other bytes.
    Bytes(Vec<u8>),
    /// Something that cannot be read: not a file any more, too large, or not permitted.
    Unreadable(ReadError),
}

impl Found {
    pub(in crate::commit) fn of(read: Result<Option<Vec<u8>>, ReadError>) -> Self {
        match read {
            Ok(Some(bytes)) => Self::Bytes(bytes),
            Ok(None) => Self::Absent,
            Err(error) => Self::Unreadable(error),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => out.write_str("no file"),
            Self::Bytes(bytes) => write!(out, "SHA-256 {}", FileHash::of(bytes)),
            Self::Unreadable(error) => write!(out, "what cannot be read ({error})"),
        }
    }
}

/// Another program changed the file between reading and writing. Its bytes are there, and ours are not
/// written.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{path}` was changed by another program meanwhile (expected {expected}, found {found}): {}",
    Remains(kept.as_ref())
)]
pub struct Conflict {
    /// The file.
    pub path: ProjectPath,
    /// The state that the caller had seen.
    pub expected: Expected,
    /// The state that the other program left there.
    pub found: Found,
    /// The path of other bytes of that program that are kept, when it wrote several times into the instants
    /// of the replacement and only one of its versions could stay in place. Such a conflict is for a person
    /// to look at.
    pub kept: Option<PathBuf>,
}

struct Remains<'kept>(Option<&'kept PathBuf>);

impl fmt::Display for Remains<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => out.write_str("nothing was written; run the command again"),
            Some(kept) => {
                write!(out, "some of its bytes are kept in `{}`; compare the two files", kept.display())
            }
        }
    }
}
