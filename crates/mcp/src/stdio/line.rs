//! Lines of bounded length.

use std::io::{self, BufRead, Read};

/// In bytes. The largest tool answer is a hundredth of it.
pub const LONGEST_LINE: usize = 4 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without the line end.
    Whole(Vec<u8>),
    TooLong,
    End,
}

/// The last line may lack its end.
pub(super) fn next(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    let most = LONGEST_LINE as u64 + 1;
    if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(Line::End);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= LONGEST_LINE {
        return Ok(Line::Whole(line));
    }
    skip_rest(input)?;
    Ok(Line::TooLong)
}

fn skip_rest(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let here = input.fill_buf()?;
        let end = here.iter().position(|byte| *byte == b'\n');
        let is_last = here.is_empty() || end.is_some();
        let length = end.map_or(here.len(), |end| end + 1);
        input.consume(length);
        if is_last {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_their_end_or_with_the_input_and_long_ones_are_skipped() {
        let long = vec![b'x'; LONGEST_LINE + 1];
        let input = [b"one\n\n", &long[1..], b"\n", &long, b"\ntwo\n", &long[..], b"more\nthree"].concat();
        let mut input = io::BufReader::with_capacity(8192, input.as_slice());
        let mut lines = Vec::new();
        loop {
            match next(&mut input).unwrap() {
                Line::End => break,
                Line::Whole(line) if line.len() == LONGEST_LINE => lines.push("longest".to_owned()),
                Line::Whole(line) => lines.push(String::from_utf8(line).unwrap()),
                Line::TooLong => lines.push("too long".to_owned()),
            }
        }
        assert_eq!(lines, ["one", "", "longest", "too long", "two", "too long", "three"]);
    }
}
