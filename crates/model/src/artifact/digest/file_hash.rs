//! The SHA-256 of a file's raw bytes.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest, Sha256};
use std::{fmt, str::FromStr};

/// Over raw bytes: stored in `files-manifest.csv`, and guards replacements against lost updates
/// (docs/design.md, "Digests"). Displayed as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileHash([u8; 32]);

stepmark_packs::schema_of_scalar!(FileHash, {"type": "string"});

impl FileHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for FileHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0_u8; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        out.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for FileHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a SHA-256: 64 hexadecimal digits are wanted")]
pub struct FileHashError {
    pub text: String,
}

/// In [`DIGIT_VALUES`]: not a hexadecimal digit.
const NO_DIGIT: u8 = 0x80;

const DIGIT_VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value as usize] as usize] = value;
        values[b"0123456789ABCDEF"[value as usize] as usize] = value;
        value += 1;
    }
    values
};

impl FromStr for FileHash {
    type Err = FileHashError;

    fn from_str(text: &str) -> Result<Self, FileHashError> {
        let wrong = || FileHashError { text: text.to_owned() };
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(wrong());
        }
        let mut digest = [0_u8; 32];
        // A manifest has up to a hundred thousand hashes: look up each digit, check them at the end.
        let mut seen = 0;
        for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = (DIGIT_VALUES[usize::from(pair[0])], DIGIT_VALUES[usize::from(pair[1])]);
            seen |= high | low;
            *byte = high << 4 | low & 15;
        }
        if seen & NO_DIGIT != 0 {
            return Err(wrong());
        }
        Ok(Self(digest))
    }
}

impl Serialize for FileHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FileHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Hashes with all line ends as LF, and as CRLF: Git converts them on checkout (`core.autocrlf`), which a
/// manifest must not report. A lone CR is not a line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineEndHashes {
    pub lf: FileHash,
    /// Only an LF without a CR before it becomes CRLF.
    pub crlf: FileHash,
}

impl LineEndHashes {
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = LineEndHasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    pub fn holds(&self, hash: FileHash) -> bool {
        self.lf == hash || self.crlf == hash
    }
}

/// Incremental, for files read in pieces.
#[derive(Clone, Debug, Default)]
pub struct LineEndHasher {
    lf: Sha256,
    crlf: Sha256,
    /// A CR at the end is not hashed into `lf` yet: an LF may follow.
    cr_waits: bool,
}

impl LineEndHasher {
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
    use super::*;
    use proptest::prelude::*;

    /// The example of FIPS 180-2, appendix B.1.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn shows_and_reads_lower_case_hexadecimal() {
        assert_eq!(FileHash::of(b"abc").to_string(), ABC);
        assert_eq!(ABC.parse(), Ok(FileHash::of(b"abc")));
        assert_eq!(ABC.to_uppercase().parse(), Ok(FileHash::of(b"abc")));
    }

    #[test]
    fn refuses_what_is_no_digest() {
        let last_digit_wrong = format!("{}g", &ABC[..63]);
        for text in ["", "ba78", last_digit_wrong.as_str(), "é".repeat(32).as_str()] {
            assert!(text.parse::<FileHash>().is_err(), "{text}");
        }
    }

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
