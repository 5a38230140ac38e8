//! Text on the lines below its key: literal behind `|`, folded behind `>` (YAML 1.2.2, §8.1).

use super::{Reader, inline::is_over, line::Line};
use crate::{Node, ScalarStyle};

/// The header of a block scalar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    style: ScalarStyle,
    chomping: Chomping,
}

/// The line breaks at the end that belong to the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chomping {
    /// None.
    Strip,
    /// One.
    Clip,
    /// All.
    Keep,
}

impl Header {
    /// The header that `line` starts with; one that says how far the text is indented is left to the full
    /// parser.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let style = if line.first() == Some(&b'>') { ScalarStyle::Folded } else { ScalarStyle::Literal };
        let (chomping, rest) = match line.get(1) {
            Some(b'-') => (Chomping::Strip, &line[2..]),
            Some(b'+') => (Chomping::Keep, &line[2..]),
            _ => (Chomping::Clip, &line[1..]),
        };
        is_over(rest).then_some(Self { style, chomping })
    }
}

impl<'a> Reader<'a> {
    /// The text below a header whose key or dash stands at `indent`. It ends before the first line that
    /// stands no further right than `indent`; one in between, an empty text and a last line without a break
    /// are left to the full parser.
    pub(super) fn block_scalar(&mut self, header: Header, indent: usize) -> Option<Node<'a>> {
        let bytes = self.text.as_bytes();
        let is_blank = |line: &Line| line.content == line.end;
        let (mut folded, mut depth) = (Folded::new(header), None);
        let (mut start, mut end) = (self.at, self.at);
        while let Some(line) = Line::at(bytes, self.at) {
            if !is_blank(&line) && line.indent <= indent {
                // The full parser has looked so far when it knows.
                end = line.content;
                break;
            }
            let first = match depth {
                None if is_blank(&line) => line.indent + 1,
                None => {
                    start = line.content;
                    *depth.insert(line.indent)
                }
                Some(depth) => depth,
            };
            if is_blank(&line) && line.indent <= first {
                if line.next <= bytes.len() {
                    folded.blank_line(depth.is_none().then_some(line.indent));
                }
                end = line.next.min(bytes.len());
            } else if line.indent < first || line.next > bytes.len() {
                return None;
            } else {
                let from = line.content - (line.indent - first);
                folded.line(&self.text[from..line.end]);
                end = line.next;
            }
            self.at = line.next;
        }
        let text = folded.finish(depth?)?;
        Some(self.scalar(header.style, start, end, text.into()))
    }
}

/// Text that is put together from its lines.
struct Folded {
    header: Header,
    text: String,
    /// Some line stands in the text, whose break is not in it yet.
    has_line: bool,
    /// The last line starts with a blank: its breaks are kept.
    is_indented: bool,
    /// Blank lines behind it.
    blank_lines: usize,
    /// The most blanks of a blank line before the first line.
    widest: usize,
}

impl Folded {
    const fn new(header: Header) -> Self {
        Self { header, text: String::new(), has_line: false, is_indented: false, blank_lines: 0, widest: 0 }
    }

    /// Takes a line without text; `width` is given before the first line that has some.
    fn blank_line(&mut self, width: Option<usize>) {
        self.blank_lines += 1;
        self.widest = self.widest.max(width.unwrap_or_default());
    }

    fn line(&mut self, line: &str) {
        let is_indented = line.starts_with(' ');
        let is_folded = self.header.style == ScalarStyle::Folded && !self.is_indented && !is_indented;
        match (self.has_line, is_folded) {
            (true, true) if self.blank_lines == 0 => self.text.push(' '),
            (true, false) => self.text.push('\n'),
            _ => {}
        }
        self.breaks();
        self.text.push_str(line);
        (self.has_line, self.is_indented) = (true, is_indented);
    }

    fn breaks(&mut self) {
        self.text.extend(std::iter::repeat_n('\n', std::mem::take(&mut self.blank_lines)));
    }

    /// The text, whose lines are indented by `depth`; `None` where a blank line before them was wider.
    fn finish(mut self, depth: usize) -> Option<String> {
        if self.header.chomping != Chomping::Strip {
            self.text.push('\n');
        }
        if self.header.chomping == Chomping::Keep {
            self.breaks();
        }
        (self.widest <= depth).then_some(self.text)
    }
}
