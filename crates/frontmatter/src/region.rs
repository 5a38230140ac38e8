//! The part of a file that an edit works on.

use super::{Document, Frontmatter, LIMITS, Span, scan::lines_from};

/// The part of a file that holds the YAML.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Between the fences.
    Frontmatter,
    /// The whole file, as `sprint-status.yaml` (docs/formats.md).
    WholeFile,
    /// The lines below the heading of this title in the body, up to the next heading, as autodev's
    /// `Current Step`. Where these lines are one fenced code block, its inside.
    Block(String),
}

/// A reason why a file has no such region.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// The file does not start with a fence.
    #[error("the file has no frontmatter")]
    NoFrontmatter,
    /// The opening fence is never closed.
    #[error("the frontmatter that opens in line 1 is never closed")]
    Unclosed {
        /// The opening fence.
        opening: Span,
    },
    /// No heading of that title.
    #[error("the body has no heading `{title}`")]
    NoBlock {
        /// The title that was sought.
        title: String,
    },
    /// Several headings of that title.
    #[error("the body has several headings `{title}`")]
    SeveralBlocks {
        /// The title that was sought.
        title: String,
    },
}

impl Region {
    /// Finds the span of the region in the file.
    ///
    /// # Errors
    /// When the file has no such region, or several.
    pub fn find(&self, document: &Document<'_>) -> Result<Span, RegionError> {
        match self {
            Self::Frontmatter => match document.frontmatter() {
                Frontmatter::Present { content, .. } => Ok(content),
                Frontmatter::Absent => Err(RegionError::NoFrontmatter),
                Frontmatter::Unclosed { opening } => Err(RegionError::Unclosed { opening }),
            },
            Self::WholeFile => {
                let start = if document.has_byte_order_mark() { 3 } else { 0 };
                Ok(Span::new(start, document.bytes().len()))
            }
            Self::Block(title) => block(document, title),
        }
    }
}

/// The part of a file in which a block is looked for, in bytes: a larger one is beyond what is read.
const SEARCHED: usize = 4 * LIMITS.bytes;

fn block(document: &Document<'_>, title: &str) -> Result<Span, RegionError> {
    let bytes = &document.bytes()[..document.bytes().len().min(SEARCHED)];
    let mut found = None;
    let mut open: Option<usize> = None;
    for line in lines_from(bytes, document.body().start.min(bytes.len())) {
        let Some(heading) = heading_title(&bytes[line.content.range()]) else { continue };
        if let Some(start) = open.take() {
            found = Some(Span::new(start, line.content.start));
        }
        if heading == title.as_bytes() {
            if found.is_some() {
                return Err(RegionError::SeveralBlocks { title: title.to_owned() });
            }
            open = Some(line.next);
        }
    }
    let found = open.map(|start| Span::new(start, bytes.len())).or(found);
    found
        .map(|lines| code_inside(bytes, lines))
        .ok_or_else(|| RegionError::NoBlock { title: title.to_owned() })
}

/// The title of an ATX heading (CommonMark §4.2) without its marks.
pub fn heading_title(line: &[u8]) -> Option<&[u8]> {
    let marks = line.iter().take_while(|byte| **byte == b'#').count();
    let rest = &line[marks..];
    if !(1..=6).contains(&marks) || !(rest.is_empty() || rest.starts_with(b" ") || rest.starts_with(b"\t")) {
        return None;
    }
    Some(rest.trim_ascii().trim_suffix_marks())
}

trait TrimClosingMarks {
    fn trim_suffix_marks(&self) -> &Self;
}

impl TrimClosingMarks for [u8] {
    /// Without a closing sequence of `#`.
    fn trim_suffix_marks(&self) -> &Self {
        let kept = self.iter().rposition(|byte| *byte != b'#').map_or(0, |last| last + 1);
        if self[..kept].ends_with(b" ") { self[..kept].trim_ascii_end() } else { self }
    }
}

/// The inside of the fenced code block that `lines` consist of; `lines` without surrounding blank lines
/// otherwise.
fn code_inside(bytes: &[u8], lines: Span) -> Span {
    let filled: Vec<_> = lines_from(&bytes[..lines.end], lines.start)
        .filter(|line| !bytes[line.content.range()].trim_ascii().is_empty())
        .collect();
    let (Some(first), Some(last)) = (filled.first(), filled.last()) else { return Span::at(lines.start) };
    let is_code_fence = |span: Span| bytes[span.range()].starts_with(b"```");
    if filled.len() > 1 && is_code_fence(first.content) && is_code_fence(last.content) {
        return Span::new(first.next, last.content.start);
    }
    Span::new(first.content.start, last.next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_of<'t>(text: &'t str, title: &str) -> Result<&'t str, RegionError> {
        let document = Document::scan(text.as_bytes());
        Region::Block(title.to_owned()).find(&document).map(|span| &text[span.range()])
    }

    #[test]
    fn a_block_is_what_stands_below_its_heading() {
        let text = "# State\n\n## Current Step\n\nflow: x\nstep: 3\n\n## Next\n\na: 1\n";
        assert_eq!(block_of(text, "Current Step"), Ok("flow: x\nstep: 3\n"));
        assert_eq!(block_of(text, "Next"), Ok("a: 1\n"));
        assert_eq!(block_of(text, "State"), Ok(""));
        let fenced = "## S ##\n```yaml\na: 1\n```\n";
        assert_eq!(block_of(fenced, "S"), Ok("a: 1\n"));
    }

    #[test]
    fn a_title_must_stand_once() {
        assert!(matches!(block_of("# A\n", "B"), Err(RegionError::NoBlock { .. })));
        assert!(matches!(block_of("# A\nx\n# A\ny\n", "A"), Err(RegionError::SeveralBlocks { .. })));
    }
}
