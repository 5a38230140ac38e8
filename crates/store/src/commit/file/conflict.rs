//! The expected state of a file to be replaced, and the one found.

use crate::commit::ReadError;
use std::fs::{File, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::{fmt, io, path::PathBuf};
use stepmark_model::artifact::{FileHash, ProjectPath};

/// The state that the caller saw; the file is replaced only if it is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Absent,
    Hash(FileHash),
}

impl Expected {
    /// `None` if there was no file.
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

#[derive(Debug)]
pub enum Found {
    Absent,
    Bytes(Vec<u8>),
    /// Not a file any more, too large, or not permitted.
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

/// Another program wrote between reading and writing. The file has its bytes, not ours.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{path}` was changed by another program meanwhile (expected {expected}, found {found}): {}",
    Remains(kept.as_ref())
)]
pub struct Conflict {
    pub path: ProjectPath,
    pub expected: Expected,
    pub found: Found,
    /// A second version by that program, kept because it wrote several times during the replacement and only
    /// one could stay. For a person to look at.
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

#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commit) struct Attributes {
    mode: u32,
    owner: u32,
    group: u32,
}

#[cfg(unix)]
impl Attributes {
    pub(in crate::commit) fn of(metadata: &Metadata) -> Self {
        Self { mode: metadata.mode() & 0o7777, owner: metadata.uid(), group: metadata.gid() }
    }

    /// The mode to create the new file with: never wider than its final mode.
    pub(in crate::commit) fn creation_mode(self) -> u32 {
        self.mode & 0o777
    }

    /// Applies them to `file`. An owner or group that cannot be set is skipped, and so are rights that would
    /// then go to somebody else: the set-id bits, and group rights beyond those of others.
    pub(in crate::commit) fn apply(self, file: &File) -> io::Result<()> {
        let mut made = Self::of(&file.metadata()?);
        if (made.owner, made.group) != (self.owner, self.group) {
            // Only root may change the owner, but members may set the group.
            if !permitted(fchown(file, Some(self.owner), Some(self.group)))? {
                permitted(fchown(file, None, Some(self.group)))?;
            }
            made = Self::of(&file.metadata()?);
        }
        let mode = self.mode_under(made.owner, made.group);
        if mode != made.mode {
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// The mode if only this `owner` and `group` could be set.
    fn mode_under(self, owner: u32, group: u32) -> u32 {
        let mut mode = self.mode;
        if owner != self.owner {
            mode &= !0o6000;
        }
        if group != self.group {
            let others = mode & 0o007;
            mode = (mode & !0o2070) | ((mode & 0o070) & (others << 3));
        }
        mode
    }
}

/// False if the system refuses; other errors are returned. User namespaces answer `EINVAL` to ids that they
/// do not map, and some file systems have no owners.
#[cfg(unix)]
fn permitted(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) => match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => {
                Ok(false)
            }
            _ => Err(error),
        },
    }
}

#[cfg(not(unix))]
#[derive(Clone, Debug)]
pub(in crate::commit) struct Attributes(std::fs::Permissions);

#[cfg(not(unix))]
impl Attributes {
    pub(in crate::commit) fn of(metadata: &Metadata) -> Self {
        Self(metadata.permissions())
    }

    pub(in crate::commit) fn apply(self, file: &File) -> io::Result<()> {
        file.set_permissions(self.0)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn rights_do_not_move_to_another_owner_or_group() {
        let of = |mode| Attributes { mode, owner: 1, group: 2 };
        for (mode, owner, group, kept) in [
            (0o664, 1, 2, 0o664),
            (0o4755, 1, 2, 0o4755),
            (0o4755, 9, 2, 0o755),
            (0o2775, 1, 9, 0o755),
            (0o660, 1, 9, 0o600),
            (0o664, 1, 9, 0o644),
            (0o666, 1, 9, 0o666),
            (0o640, 9, 9, 0o600),
        ] {
            assert_eq!(of(mode).mode_under(owner, group), kept, "{mode:o} as {owner}:{group}");
        }
    }
}
