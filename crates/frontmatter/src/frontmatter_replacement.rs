//! Putting other text between the fences, whatever stands there now.

use super::{Document, Frontmatter, LineEnding, Region, scan::lines_from};

/// A file whose frontmatter was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The file.
    pub bytes: Vec<u8>,
    /// The fences before the replacement.
    pub fences: Fences,
}

/// The fences of a file before the replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fences {
    /// Both stood there: what was between them is replaced, every other byte stays.
    Whole,
    /// There were none: both were put before the text, of which every byte stays.
    Missing,
    /// There was an opening one alone. The lines below it that look like frontmatter were replaced and a
    /// closing fence set; from the first line on that does not, every byte stays.
    Unclosed {
        /// The number of lines that were replaced.
        replaced_lines: usize,
    },
}

/// Puts `text`, whose last line must have its end, into `region`; a block that is missing, or not to be told,
/// is put at the end of the file.
pub fn replace_region(bytes: &[u8], region: &Region, text: &str) -> Replacement {
    let found = match region {
        Region::Frontmatter => return replace_frontmatter(bytes, text),
        Region::WholeFile | Region::Block(_) => region.find(&Document::scan(bytes)).ok(),
    };
    if let Some(span) = found {
        let bytes = [&bytes[..span.start], text.as_bytes(), &bytes[span.end..]].concat();
        return Replacement { bytes, fences: Fences::Whole };
    }
    let title = if let Region::Block(title) = region { title.as_str() } else { "" };
    let line_end = LineEnding::first_of(bytes).unwrap_or(LineEnding::Lf).as_str();
    let between = if bytes.is_empty() || bytes.ends_with(b"\n") { "" } else { line_end };
    let heading = format!("{between}{line_end}## {title}{line_end}{line_end}");
    Replacement { bytes: [bytes, heading.as_bytes(), text.as_bytes()].concat(), fences: Fences::Missing }
}

/// Puts `frontmatter`, whose last line must have its end, between the fences of a file.
pub fn replace_frontmatter(bytes: &[u8], frontmatter: &str) -> Replacement {
    let document = Document::scan(bytes);
    let text = frontmatter.as_bytes();
    let line_end = LineEnding::first_of(text).or_else(|| LineEnding::first_of(bytes));
    let fence = format!("---{}", line_end.unwrap_or(LineEnding::Lf).as_str());
    let fence = fence.as_bytes();
    match document.frontmatter() {
        Frontmatter::Present { content, .. } => {
            let bytes = [&bytes[..content.start], text, &bytes[content.end..]].concat();
            Replacement { bytes, fences: Fences::Whole }
        }
        Frontmatter::Absent => {
            let (mark, rest) = bytes.split_at(document.body().start);
            Replacement { bytes: [mark, fence, text, fence, rest].concat(), fences: Fences::Missing }
        }
        Frontmatter::Unclosed { opening } => {
            let (end, replaced_lines) = end_of_frontmatter(bytes, opening.end, frontmatter);
            let before = &bytes[..opening.start];
            let bytes = [before, fence, text, fence, &bytes[end..]].concat();
            Replacement { bytes, fences: Fences::Unclosed { replaced_lines } }
        }
    }
}

/// The end of frontmatter without a closing fence: before the first line that neither stands in `known` nor
/// has the shape of a line of YAML. A blank line and a heading, which YAML would take for a comment, end it.
fn end_of_frontmatter(bytes: &[u8], opening_end: usize, known: &str) -> (usize, usize) {
    let mut lines = lines_from(bytes, opening_end);
    // What is left of the opening fence's own line.
    let mut end = lines.next().map_or(bytes.len(), |line| line.next);
    let mut count = 0;
    for line in lines {
        let text = &bytes[line.content.range()];
        if !(known.lines().any(|known| known.as_bytes() == text) || has_shape_of_yaml(text)) {
            break;
        }
        end = line.next;
        count += 1;
    }
    (end, count)
}

fn has_shape_of_yaml(line: &[u8]) -> bool {
    let trimmed = line.trim_ascii();
    let Some(first) = trimmed.first() else { return false };
    let is_indented = line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    let is_item = trimmed == b"-" || trimmed.starts_with(b"- ") && !trimmed.starts_with(b"- [");
    let key = trimmed.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_key = key.len() < trimmed.len()
        && !key.is_empty()
        && key.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'"' | b'\''));
    is_indented || is_item || is_key || matches!(first, b']' | b'}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(file: &str, frontmatter: &str) -> (String, Fences) {
        let Replacement { bytes, fences } = replace_frontmatter(file.as_bytes(), frontmatter);
        (String::from_utf8(bytes).unwrap(), fences)
    }

    #[test]
    fn whole_fences_keep_every_other_byte() {
        let file = "\u{feff}---  \r\na: [1\r\n...\r\nBody\r\n---\r\n";
        let expected = "\u{feff}---  \r\na: 1\r\n...\r\nBody\r\n---\r\n";
        assert_eq!(replaced(file, "a: 1\r\n"), (expected.to_owned(), Fences::Whole));
        assert_eq!(replaced("---\nx\n---", ""), ("---\n---".to_owned(), Fences::Whole));
    }

    #[test]
    fn a_file_without_fences_becomes_the_body() {
        assert_eq!(replaced("# T\n", "a: 1\n"), ("---\na: 1\n---\n# T\n".to_owned(), Fences::Missing));
        let marked = replaced("\u{feff}# T\n", "a: 1\r\n").0;
        assert_eq!(marked, "\u{feff}---\r\na: 1\r\n---\r\n# T\n");
        assert_eq!(replaced("", "a: 1\n").0, "---\na: 1\n---\n");
    }

    #[test]
    fn an_unclosed_fence_is_closed_before_what_is_no_yaml() {
        for (below, kept, lines) in [
            ("a: 2\nlist:\n  - 'x'\n- y\n]\n\n# Body\n", "\n# Body\n", 5),
            ("a: 2\n# Body\ntext\n", "# Body\ntext\n", 1),
            ("a: 2\n# known\nText, more text: a colon\n", "Text, more text: a colon\n", 2),
            ("Some words\n", "Some words\n", 0),
            ("a: 2", "", 1),
            ("- [ ] a task\n", "- [ ] a task\n", 0),
            ("", "", 0),
        ] {
            let (file, fences) = replaced(&format!("---\n{below}"), "a: 1\n# known\n");
            assert_eq!(file, format!("---\na: 1\n# known\n---\n{kept}"), "{below:?}");
            assert_eq!(fences, Fences::Unclosed { replaced_lines: lines }, "{below:?}");
        }
        assert_eq!(replaced("---", "a: 1\n").0, "---\na: 1\n---\n");
    }
}
