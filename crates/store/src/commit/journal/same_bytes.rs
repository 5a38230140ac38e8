//! Comparing what two readers give.

use std::io::{self, BufRead};

/// Returns whether both give the same bytes, of which no more is held than their buffers do. What comes
/// behind a difference is not read.
///
/// # Errors
/// When one of them cannot be read.
pub(in crate::commit) fn have_same_bytes(mut one: impl BufRead, mut other: impl BufRead) -> io::Result<bool> {
    loop {
        let (here, there) = (filled(&mut one)?, filled(&mut other)?);
        let length = here.len().min(there.len());
        if length == 0 {
            return Ok(here.is_empty() && there.is_empty());
        }
        if here[..length] != there[..length] {
            return Ok(false);
        }
        one.consume(length);
        other.consume(length);
    }
}

/// The bytes that come next; none at the end.
fn filled(source: &mut impl BufRead) -> io::Result<&[u8]> {
    while let Err(error) = source.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    source.fill_buf()
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn bytes_are_compared_whatever_the_pieces() {
        for (one, other, is_same) in [
            ("", "", true),
            ("a", "", false),
            ("", "a", false),
            ("abcdefg", "abcdefg", true),
            ("abcdefg", "abcdefgh", false),
            ("abcdefg", "abcdeFg", false),
        ] {
            let pieces = |text: &'static str, size| BufReader::with_capacity(size, text.as_bytes());
            assert_eq!(have_same_bytes(pieces(one, 2), pieces(other, 3)).unwrap(), is_same, "{one} {other}");
        }
    }
}
