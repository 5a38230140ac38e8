//! Writing to git's index: that of a hook (`GIT_INDEX_FILE`), or else the repository's.

use crate::Error;
use crate::git::{failed_as, no_git, pipe, unknown_answer};
use std::{io::Write, process::Stdio};

use crate::disk::root::Root;
use crate::git::process;
use stepmark_model::artifact::ProjectPath;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    mode: String,
    object: String,
    path: Vec<u8>,
}

impl IndexEntry {
    /// `None` for no entry, or a conflict.
    pub(crate) fn find(root: &Root, path: &ProjectPath) -> Result<Option<Self>, Error> {
        let arguments = ["ls-files", "--stage", "-z", "--full-name", "--", path.as_str()];
        Ok(parse(&answer(root, &arguments, b"")?))
    }

    /// For a new regular file; `prefix` is a folder of the work tree (empty, or ending with `/`).
    pub(crate) fn of_new(root: &Root, prefix: &str, path: &ProjectPath, bytes: &[u8]) -> Result<Self, Error> {
        let path = format!("{prefix}{path}").into_bytes();
        Self { mode: "100644".to_owned(), object: String::new(), path }.with_bytes(root, bytes)
    }

    /// Stores the bytes unfiltered.
    pub(crate) fn with_bytes(self, root: &Root, bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self {
            object: object_name(root, &["hash-object", "-w", "--no-filters", "--stdin"], bytes)?,
            ..self
        })
    }

    pub(crate) fn holds(&self, root: &Root, bytes: &[u8]) -> Result<bool, Error> {
        Ok(self.object == object_name(root, &["hash-object", "--no-filters", "--stdin"], bytes)?)
    }
}

pub(crate) fn write(root: &Root, entries: &[IndexEntry]) -> Result<(), Error> {
    let mut lines = Vec::new();
    for IndexEntry { mode, object, path } in entries {
        lines.extend_from_slice(format!("{mode} {object}\t").as_bytes());
        lines.extend_from_slice(path);
        lines.push(0);
    }
    answer(root, &["update-index", "-z", "--index-info"], &lines).map(drop)
}

fn parse(listed: &[u8]) -> Option<IndexEntry> {
    let entry = listed.strip_suffix(b"\0").filter(|entry| !entry.contains(&0))?;
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(&entry[..tab]).ok()?;
    let [mode, object, "0"] = head.split(' ').collect::<Vec<_>>()[..] else { return None };
    Some(IndexEntry { mode: mode.to_owned(), object: object.to_owned(), path: entry[tab + 1..].to_vec() })
}

fn object_name(root: &Root, arguments: &[&str], bytes: &[u8]) -> Result<String, Error> {
    let name = String::from_utf8_lossy(&answer(root, arguments, bytes)?).trim().to_owned();
    if process::is_object_name(&name) { Ok(name) } else { Err(unknown_answer(name)) }
}

fn answer(root: &Root, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Error> {
    let mut process = process::git(root.path(), arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(no_git)?;
    // These commands read all input before printing, so neither side blocks. Git reports read errors itself.
    let written = process.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input));
    let output = process.wait_with_output().map_err(pipe)?;
    if output.status.success() {
        return written.map(|()| output.stdout).map_err(pipe);
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(failed_as(arguments, &reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_without_conflict_is_read() {
        let entry = |mode: &str, path: &[u8]| {
            Some(IndexEntry { mode: mode.to_owned(), object: "ab".to_owned(), path: path.to_vec() })
        };
        for (listed, expected) in [
            (&b"100644 ab 0\tdocs/a b\t.md\0"[..], entry("100644", b"docs/a b\t.md")),
            (b"100755 ab 0\tx\n\0", entry("100755", b"x\n")),
            (b"100644 ab 2\tx\0", None),
            (b"100644 ab 0\tx\x00100644 ab 0\ty\0", None),
            (b"100644 ab 0 x\0", None),
            (b"", None),
        ] {
            assert_eq!(parse(listed), expected, "{}", String::from_utf8_lossy(listed));
        }
    }
}
