//! The hashes that a file would have with other line ends.

use sha2::{Digest, Sha256};

use crate::artifact::FileHash;

/// The SHA-256 of a file's bytes with all line ends turned to LF, and with all turned to CRLF. Git changes line ends
/// on checkout (`core.autocrlf`), and a manifest must not cry wolf over that. A lone CR is no line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineEndHashes {
    /// Hash with every CRLF turned into LF.
    pub lf: FileHash,
    /// Hash with every LF that follows no CR turned into CRLF.
    pub crlf: FileHash,
}

impl LineEndHashes {
    /// The hashes of `bytes` after either conversion.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = LineEndHasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Whether one of the conversions gives `hash`.
    pub fn holds(&self, hash: FileHash) -> bool {
        self.lf == hash || self.crlf == hash
    }
}

/// Computes [`LineEndHashes`] piece by piece, for files that are read in pieces.
#[derive(Clone, Debug, Default)]
pub struct LineEndHasher {
    lf: Sha256,
    crlf: Sha256,
    /// The bytes so far end with a CR, which is not in `lf` yet: an LF may follow.
    cr_waits: bool,
}

impl LineEndHasher {
    /// Takes the next bytes of the file.
    pub fn update(&mut self, piece: &[u8]) {
        let mut start = 0;
        for at in memchr::memchr_iter(b'\n', piece) {
            self.line(&piece[start..at]);
            if self.cr_waits {
                self.cr_waits = false;
            } else {
                self.crlf.update(b"\r");
            }
            self.lf.update(b"\n");
            self.crlf.update(b"\n");
            start = at + 1;
        }
        self.line(&piece[start..]);
    }

    /// Takes bytes without LF.
    fn line(&mut self, bytes: &[u8]) {
        let Some((last, before)) = bytes.split_last() else {
            return;
        };
        if self.cr_waits {
            self.lf.update(b"\r");
        }
        self.crlf.update(bytes);
        self.cr_waits = *last == b'\r';
        self.lf.update(if self.cr_waits { before } else { bytes });
    }

    /// The hashes of all bytes taken.
    pub fn finish(mut self) -> LineEndHashes {
        if self.cr_waits {
            self.lf.update(b"\r");
        }
        let hash = |digest: Sha256| FileHash::from_digest(digest.finalize().into());
        LineEndHashes { lf: hash(self.lf), crlf: hash(self.crlf) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn converts_either_way_and_leaves_a_lone_cr() {
        for (bytes, lf, crlf) in [
            ("a\nb\r\nc", "a\nb\nc", "a\r\nb\r\nc"),
            ("a\rb\r\r\n\r", "a\rb\r\n\r", "a\rb\r\r\n\r"),
            ("\n\n", "\n\n", "\r\n\r\n"),
            ("", "", ""),
        ] {
            let wanted =
                LineEndHashes { lf: FileHash::of(lf.as_bytes()), crlf: FileHash::of(crlf.as_bytes()) };
            assert_eq!(LineEndHashes::of(bytes.as_bytes()), wanted, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[\r\nab]{0,40}", cuts in proptest::collection::vec(0..40_usize, 0..5)) {
            let mut hasher = LineEndHasher::default();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut start = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                hasher.update(&text.as_bytes()[start..cut]);
                start = cut;
            }
            let lf = text.replace("\r\n", "\n");
            let crlf = lf.replace('\n', "\r\n");
            let wanted = LineEndHashes { lf: FileHash::of(lf.as_bytes()), crlf: FileHash::of(crlf.as_bytes()) };
            prop_assert_eq!(hasher.finish(), wanted);
        }
    }
}
