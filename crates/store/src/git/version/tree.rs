//! A folder as git holds it (gitformat-tree(5)): entries of `MODE NAME\0` and the binary name of an object.

use std::fmt::Write as _;

/// A tree object.
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

    /// The name of the regular file `file` in it.
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

/// Bytes in hexadecimal digits, as git writes the names of objects.
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
