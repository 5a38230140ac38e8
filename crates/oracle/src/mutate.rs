//! Bytes changed a little: what a fuzzer does, seeded.

use crate::{Choices, Random};

/// Pieces whose place decides what YAML means.
const PIECES: [&[u8]; 40] = [
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"  ",
    b"\t",
    b": ",
    b":",
    b"- ",
    b"-",
    b"# c",
    b" #",
    b"'",
    b"\"",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b"&a ",
    b"*a",
    b"!t ",
    b"!!str ",
    b"|\n",
    b">-\n",
    b"|+\n",
    b"? ",
    b"---\n",
    b"...\n",
    b"%YAML 1.2\n",
    b"null",
    b"~",
    b"\\",
    b"\xEF\xBB\xBF",
    b"\xE2\x80\xA8",
    b"\xC2\x85",
    b"\xF0\x9F\x98\x80",
    b"\0",
    b"\xFF",
    b"<<: *a\n",
];

/// `bytes` with up to six small changes: pieces put in, bytes taken out, lines doubled, moved and cut.
pub fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let decisions = random.bytes(64);
    let mut choices = Choices::new(&decisions);
    for _ in 0..=choices.below(6) {
        let length = bytes.len();
        let at = random.below(length + 1);
        let end = (at + 1 + choices.below(12)).min(length);
        match choices.below(8) {
            0..=2 => {
                let piece = *choices.pick(&PIECES);
                bytes.splice(at..at, piece.iter().copied());
            }
            3 => {
                let piece = *choices.pick(&PIECES);
                bytes.splice(at..end, piece.iter().copied());
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let copy = bytes[at..end].to_vec();
                let to = random.below(length + 1);
                bytes.splice(to..to, copy);
            }
            6 => {
                let line = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                let copy = bytes[line..end.max(line)].to_vec();
                bytes.splice(line..line, copy);
            }
            _ if at < length => bytes[at] ^= 1 << choices.below(8),
            _ => {}
        }
    }
    bytes
}
