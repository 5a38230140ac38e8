//! The output of `git diff-index --raw -z` and `git diff-tree --raw -z` (git-diff(1), "Raw output format").

use std::fmt::Write as _;
use stepmark_model::artifact::ProjectPath;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawChange {
    /// The letter: `A`dded, `M`odified, `D`eleted, `R`enamed, `T`ype changed, `U`nmerged.
    pub(super) status: char,
    pub(super) before: Option<RawSide>,
    pub(super) after: Option<RawSide>,
    /// The path now; the last one, if the file is gone.
    pub(super) path: Vec<u8>,
    /// The path before, if it was moved.
    pub(super) renamed_from: Option<Vec<u8>>,
}

/// One side of an entry: a regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawSide {
    pub(super) object: String,
}

pub(super) fn parse(output: &[u8]) -> Result<Vec<RawChange>, String> {
    let mut changes = Vec::new();
    let mut parts = output.split(|byte| *byte == 0);
    while let Some(head) = parts.next().filter(|head| !head.is_empty()) {
        let unknown = || String::from_utf8_lossy(head).into_owned();
        let text = std::str::from_utf8(head).map_err(|_| unknown())?;
        let words: Vec<&str> = text.strip_prefix(':').ok_or_else(unknown)?.split(' ').collect();
        let [old_mode, new_mode, old_object, new_object, status] = words[..] else { return Err(unknown()) };
        let status = status.chars().next().ok_or_else(unknown)?;
        let first = parts.next().ok_or_else(unknown)?.to_vec();
        let (path, renamed_from) = if matches!(status, 'R' | 'C') {
            let path = parts.next().ok_or_else(unknown)?.to_vec();
            (path, Some(first).filter(|_| status == 'R'))
        } else {
            (first, None)
        };
        let before = side(old_mode, old_object).filter(|_| status != 'C');
        changes.push(RawChange { status, before, after: side(new_mode, new_object), path, renamed_from });
    }
    Ok(changes)
}

/// A regular file, executable or not; `None` for nothing (`000000`), a link (`120000`) and a submodule
/// (`160000`).
fn side(mode: &str, object: &str) -> Option<RawSide> {
    mode.starts_with("100").then(|| RawSide { object: object.to_owned() })
}

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
    pub files: Vec<ChangedFile>,
    /// Files that a merge left in conflict: they have no state to be compared.
    pub unmerged: Vec<ProjectPath>,
    pub over_limit: Vec<OverLimit>,
    /// Paths that are no UTF-8, with U+FFFD in place of what is none.
    pub not_utf8: Vec<String>,
}

/// A file that has more bytes than stepmark reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverLimit {
    pub path: ProjectPath,
    pub size: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    entries: Vec<u8>,
    /// The number of bytes that the name of an object has in this repository.
    name_length: usize,
}

impl Tree {
    /// The tree of these bytes, whose own name has so many hexadecimal digits.
    pub(super) const fn new(entries: Vec<u8>, digits: usize) -> Self {
        Self { entries, name_length: digits / 2 }
    }

    pub(super) fn object(&self, file: &str) -> Option<String> {
        let mut rest = self.entries.as_slice();
        while let Some(end) = memchr::memchr(0, rest) {
            let (head, name) = (&rest[..end], rest.get(end + 1..end + 1 + self.name_length)?);
            if head.starts_with(b"100")
                && head.splitn(2, |byte| *byte == b' ').nth(1) == Some(file.as_bytes())
            {
                return Some(hexadecimal(name));
            }
            rest = &rest[end + 1 + self.name_length..];
        }
        None
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing into a text does not fail.
        let _written = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(object: &str) -> Option<RawSide> {
        Some(RawSide { object: object.to_owned() })
    }

    #[test]
    fn every_kind_of_entry_is_read() {
        let output = b":000000 100644 00 a1 A\0docs/a b.md\0\
            :100644 100755 b0 b1 M\0docs/\xc3\xbc.md\0\
            :100644 000000 c0 00 D\0c\nd.md\0\
            :100644 100644 d0 d1 R087\0old.md\0new.md\0\
            :100644 120000 e0 e1 T\0link.md\0\
            :160000 160000 f0 f1 M\0sub\0\
            :100644 000000 g0 00 U\0conflict.md\0\
            :100644 100644 h0 h0 C100\0source.md\0copy.md\0";
        let changes = parse(output).unwrap();
        let seen: Vec<_> = changes.iter().map(|change| (change.status, change.path.as_slice())).collect();
        assert_eq!(
            seen,
            [
                ('A', &b"docs/a b.md"[..]),
                ('M', "docs/ü.md".as_bytes()),
                ('D', b"c\nd.md"),
                ('R', b"new.md"),
                ('T', b"link.md"),
                ('M', b"sub"),
                ('U', b"conflict.md"),
                ('C', b"copy.md"),
            ]
        );
        assert_eq!((&changes[0].before, &changes[0].after), (&None, &file("a1")));
        assert_eq!((&changes[2].before, &changes[2].after), (&file("c0"), &None));
        assert_eq!(changes[3].renamed_from.as_deref(), Some(&b"old.md"[..]));
        assert_eq!((&changes[4].before, &changes[4].after), (&file("e0"), &None), "a link is no file");
        assert_eq!((&changes[5].before, &changes[5].after), (&None, &None), "a submodule is none either");
        assert_eq!((&changes[7].before, &changes[7].renamed_from), (&None, &None), "a copy is new");
        assert_eq!(parse(b"").unwrap(), []);
    }

    #[test]
    fn another_form_is_an_error_and_no_panic() {
        for output in
            [&b"M\0a.md\0"[..], b":100644\0a.md\0", b":1 2 3 4 \0a\0", b":1 2 3 4 M", b":1 2 3 4 R1\0a"]
        {
            assert!(parse(output).is_err(), "{output:?}");
        }
    }

    #[test]
    fn files_have_names_and_nothing_else_has() {
        let mut entries = Vec::new();
        for (entry, byte) in [
            ("100644 a b.csv", 1),
            ("100755 run", 2),
            ("120000 link", 3),
            ("40000 sub", 4),
            ("160000 module", 5),
        ] {
            entries.extend_from_slice(entry.as_bytes());
            entries.push(0);
            // A zero inside a name is no end.
            entries.extend_from_slice(&[byte, 0].repeat(10));
        }
        let tree = Tree::new(entries.clone(), 40);
        assert_eq!(tree.object("a b.csv"), Some("0100".repeat(10)));
        assert_eq!(tree.object("run"), Some("0200".repeat(10)));
        for none in ["link", "sub", "module", "a", "", "missing"] {
            assert_eq!(tree.object(none), None, "{none}");
        }
        entries.truncate(30);
        assert_eq!(Tree::new(entries, 40).object("a b.csv"), None, "cut");
        assert_eq!(Tree::new(Vec::new(), 64).object("a"), None);
    }
}
