//! The fences: where the frontmatter stands in the bytes of a file, and which line ends it uses.

use super::{LineIndex, Position, Span};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The bytes of a file, split into frontmatter and body without touching them. Scanning never fails and never
/// decodes: the body may hold any bytes.
///
/// Fence rules (docs/formats.md, and the readers of the field): the first line, after an optional byte order
/// mark, is `---`; the frontmatter ends at the next line that is `---` or `...`; a fence is a whole line,
/// blanks may trail. A line ends at LF, CRLF or a lone CR, as in YAML.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    bytes: &'a [u8],
    frontmatter: Frontmatter,
}

/// The frontmatter of a file, as its fences enclose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frontmatter {
    /// The file does not start with a fence.
    Absent,
    /// A first and a second fence; `content` is all between their lines, `body` what follows the second.
    Present {
        /// From the start of the line after the opening fence to the start of the closing fence.
        content: Span,
        /// From the start of the line after the closing fence to the end of the file.
        body: Span,
    },
    /// A first fence and no second one.
    Unclosed {
        /// The opening fence line, without its line end.
        opening: Span,
    },
}

/// The line ending of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r`
    Cr,
}

impl LineEnding {
    /// The bytes of the line end.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }

    /// The line end of the first line of `bytes`, if it has one.
    pub fn first_of(bytes: &[u8]) -> Option<Self> {
        let at = memchr::memchr2(b'\n', b'\r', bytes)?;
        Some(match (bytes[at], bytes.get(at + 1)) {
            (b'\n', _) => Self::Lf,
            (_, Some(b'\n')) => Self::CrLf,
            _ => Self::Cr,
        })
    }
}

/// A line of a text: its content without the line end, and where the next line starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) content: Span,
    pub(crate) next: usize,
}

/// The line that starts at `start`; `None` at the end of `bytes`.
pub(crate) fn line_at(bytes: &[u8], start: usize) -> Option<Line> {
    let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
    let Some(length) = memchr::memchr2(b'\n', b'\r', rest) else {
        return Some(Line { content: Span::new(start, bytes.len()), next: bytes.len() });
    };
    let end = start + length;
    let width = if bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n') { 2 } else { 1 };
    Some(Line { content: Span::new(start, end), next: end + width })
}

/// All lines of `bytes` from `start` on.
pub(crate) fn lines_from(bytes: &[u8], start: usize) -> impl Iterator<Item = Line> + '_ {
    std::iter::successors(line_at(bytes, start), |line| line_at(bytes, line.next))
}

/// `line` is `fence` and blanks.
fn is_fence(line: &[u8], fence: &[u8]) -> bool {
    line.strip_prefix(fence).is_some_and(|rest| rest.iter().all(|byte| matches!(byte, b' ' | b'\t')))
}

fn is_closing(line: &[u8]) -> bool {
    is_fence(line, b"---") || is_fence(line, b"...")
}

impl<'a> Document<'a> {
    /// Finds the fences of `bytes`.
    pub fn scan(bytes: &'a [u8]) -> Self {
        let start = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Self { bytes, frontmatter: frontmatter_at(bytes, start) }
    }

    /// The bytes as they were given.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The frontmatter, as the fences enclose it.
    pub const fn frontmatter(&self) -> Frontmatter {
        self.frontmatter
    }

    /// All after the frontmatter; the whole file (after a byte order mark) where there is none.
    pub fn body(&self) -> Span {
        match self.frontmatter {
            Frontmatter::Present { body, .. } => body,
            Frontmatter::Unclosed { .. } => Span::at(self.bytes.len()),
            Frontmatter::Absent => {
                let start = if self.has_byte_order_mark() { BYTE_ORDER_MARK.len() } else { 0 };
                Span::new(start, self.bytes.len())
            }
        }
    }

    /// Returns whether the file starts with a UTF-8 byte order mark.
    pub fn has_byte_order_mark(&self) -> bool {
        self.bytes.starts_with(BYTE_ORDER_MARK)
    }

    /// Returns whether lines of the frontmatter end in different ways.
    pub fn has_mixed_line_ends(&self) -> bool {
        let Frontmatter::Present { content, .. } = self.frontmatter else { return false };
        if memchr::memchr(b'\r', &self.bytes[..content.end]).is_none() {
            return false;
        }
        let first = LineEnding::first_of(self.bytes);
        lines_from(self.bytes, content.start)
            .take_while(|line| line.content.start < content.end)
            .any(|line| LineEnding::first_of(&self.bytes[line.content.end..line.next]) != first)
    }

    /// The position of a byte offset. Reads the file from its start: for reports, not for loops.
    pub fn position(&self, offset: usize) -> Position {
        LineIndex::new(self.bytes).position(self.bytes, offset)
    }

    /// The form of the metadata at the start of the file, where it is none that is read here.
    pub fn foreign_head(&self) -> Option<&'static str> {
        let first = self.bytes.split(|byte| matches!(byte, b'\n' | b'\r')).next()?.trim_ascii_end();
        match first {
            _ if self.bytes.starts_with(b"\xff\xfe") || self.bytes.starts_with(b"\xfe\xff") => Some("UTF-16"),
            b"+++" => Some("TOML between `+++` lines"),
            b";;;" => Some("JSON between `;;;` lines"),
            b"{" | [b'{', b'"', ..] => Some("JSON"),
            [b'-', b'-', b'-', b'-', rest @ ..] if rest.iter().all(|byte| *byte == b'-') => {
                Some("a rule of more than three `-`")
            }
            [b'-', b'-', b'-', word @ ..]
                if !word.is_empty() && word.iter().all(u8::is_ascii_alphanumeric) =>
            {
                Some("a fence that names its language")
            }
            _ => None,
        }
    }

    /// A block of `key: value` lines between fences below blank lines, a title or HTML comments: readers see
    /// no frontmatter there. Below more headings than one another file is quoted.
    pub fn misplaced_frontmatter(&self) -> Option<Span> {
        if self.frontmatter != Frontmatter::Absent {
            return None;
        }
        let mut has_title = false;
        for line in lines_from(self.bytes, self.body().start) {
            let text = self.bytes[line.content.range()].trim_ascii();
            if is_fence(&self.bytes[line.content.range()], b"---") {
                let Frontmatter::Present { body, .. } = frontmatter_at(self.bytes, line.content.start) else {
                    return None;
                };
                let first = &self.bytes[line_at(self.bytes, line.next)?.content.range()];
                return is_key_line(first).then(|| Span::new(line.content.start, body.start));
            }
            let is_title = text.starts_with(b"#") && !std::mem::replace(&mut has_title, true);
            if !(text.is_empty() || is_title || text.starts_with(b"<!--")) {
                return None;
            }
        }
        None
    }
}

/// Returns whether a line starts with `word:`.
fn is_key_line(line: &[u8]) -> bool {
    let word = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let length = word.count();
    length > 0 && line.get(length) == Some(&b':')
}

fn frontmatter_at(bytes: &[u8], start: usize) -> Frontmatter {
    let Some(opening) = line_at(bytes, start) else { return Frontmatter::Absent };
    if !is_fence(&bytes[opening.content.range()], b"---") {
        return Frontmatter::Absent;
    }
    for line in lines_from(bytes, opening.next) {
        if is_closing(&bytes[line.content.range()]) {
            return Frontmatter::Present {
                content: Span::new(opening.next, line.content.start),
                body: Span::new(line.next, bytes.len()),
            };
        }
    }
    Frontmatter::Unclosed { opening: opening.content }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> Option<&str> {
        match Document::scan(text.as_bytes()).frontmatter() {
            Frontmatter::Present { content, .. } => Some(&text[content.range()]),
            _ => None,
        }
    }

    #[test]
    fn finds_whole_line_fences_only() {
        for (text, wanted) in [
            ("---\na: 1\n---\nbody\n", Some("a: 1\n")),
            ("\u{FEFF}---\na: 1\n---\n", Some("a: 1\n")),
            ("---\r\na: 1\r\n---\r\nbody", Some("a: 1\r\n")),
            ("---\ra: 1\r---\rbody", Some("a: 1\r")),
            ("--- \t\na: 1\n...  \nbody", Some("a: 1\n")),
            ("---\n---\n", Some("")),
            ("---\na: 1\n---", Some("a: 1\n")),
            ("---\na: x---\nb: --- y\n ---\n---\n", Some("a: x---\nb: --- y\n ---\n")),
            ("---\na: |\n  x\n---\n  y\n", Some("a: |\n  x\n")),
            ("", None),
            ("----\na: 1\n----\n", None),
            ("--- # c\na: 1\n---\n", None),
            (" ---\na: 1\n---\n", None),
            ("\n---\na: 1\n---\n", None),
            ("# Title\n---\na: 1\n---\n", None),
            ("---\na: 1\n", None),
        ] {
            assert_eq!(content(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn an_unclosed_fence_names_its_line() {
        let text = "\u{FEFF}---\r\na: 1\r\nbody";
        assert_eq!(
            Document::scan(text.as_bytes()).frontmatter(),
            Frontmatter::Unclosed { opening: Span::new(3, 6) }
        );
    }

    #[test]
    fn frontmatter_below_a_heading_is_reported_not_read() {
        let misplaced = |text: &str| Document::scan(text.as_bytes()).misplaced_frontmatter().is_some();
        assert!(misplaced("# PRD\n\n---\nstepsCompleted: [1]\n---\n"));
        assert!(misplaced("\n---\nstatus: done\n---\n"));
        assert!(!misplaced("# PRD\n\nSome text\n\n---\nstatus: done\n---\n"));
        assert!(!misplaced("# PRD\n\n---\n\nA rule, then text\n\n---\n"));
        assert!(!misplaced("---\na: 1\n---\n"));
    }

    #[test]
    fn mixed_line_ends_are_seen() {
        let mixed = |text: &str| Document::scan(text.as_bytes()).has_mixed_line_ends();
        assert!(mixed("---\r\na: 1\nb: 2\r\n---\r\n"));
        assert!(!mixed("---\r\na: 1\r\nb: 2\r\n---\nbody\n"));
    }

    proptest::proptest! {
        /// Scanning is total: any bytes are split, and the parts lie in the file in order.
        #[test]
        fn splits_any_bytes(bytes: Vec<u8>) {
            let document = Document::scan(&bytes);
            proptest::prop_assert_eq!(document.bytes(), &bytes[..]);
            if let Frontmatter::Present { content, body } = document.frontmatter() {
                proptest::prop_assert!(content.start <= content.end && content.end < body.start);
                proptest::prop_assert_eq!(body.end, bytes.len());
            }
        }
    }
}
