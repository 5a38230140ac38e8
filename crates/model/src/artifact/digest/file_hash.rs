//! The SHA-256 of a file's raw bytes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest, Sha256};

/// SHA-256 over the raw bytes of a file: what `files-manifest.csv` holds and what guards a replacement against a
/// lost update (DESIGN.md, invariants 5 and 11). Shown as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileHash([u8; 32]);

impl FileHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Takes a finished digest, for instance one computed piece by piece.
    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The 32 bytes of the digest.
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

/// A text that is not a SHA-256 in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a SHA-256: 64 hexadecimal digits are wanted")]
pub struct FileHashError {
    /// The text that was given.
    pub text: String,
}

/// Set in [`DIGIT_VALUES`] for what is no hexadecimal digit.
const NO_DIGIT: u8 = 0x80;

/// The value of every byte as a hexadecimal digit of either case.
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
        // A manifest holds a hundred thousand of these: look each digit up, and look at the end whether all were digits.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
