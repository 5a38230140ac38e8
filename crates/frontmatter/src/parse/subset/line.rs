//! One line and its indentation.

/// A line of the text; all places count its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The number of spaces it starts with.
    pub(super) indent: usize,
    /// The offset of its first other byte; its end for a blank line.
    pub(super) content: usize,
    /// The offset of its line break; the end of the text for a last line without one.
    pub(super) end: usize,
    /// The start of the next line.
    pub(super) next: usize,
}

impl Line {
    /// The line that starts at `start`; `None` at the end of the text.
    pub(super) fn at(text: &[u8], start: usize) -> Option<Self> {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let feed = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let end = if rest[..feed].ends_with(b"\r") { feed - 1 } else { feed };
        let indent = rest[..end].iter().take_while(|byte| **byte == b' ').count();
        Some(Self { indent, content: start + indent, end: start + end, next: start + feed + 1 })
    }
}
