//! The bytes that a comment covers.

use stepmark_frontmatter::Span;

/// The entry or item that the comment `comment` stands beside or above: its line, and the lines that belong
/// to it.
pub(super) fn covered(bytes: &[u8], content: Span, comment: Span) -> Span {
    let lines = lines(bytes, content);
    let Some(own) = lines.iter().position(|line| line.holds(comment)) else { return comment };
    let is_alone = bytes[lines[own].start..comment.start].trim_ascii().is_empty();
    let is_filler = |line: &Span| {
        let text = bytes[line.range()].trim_ascii();
        text.is_empty() || text.starts_with(b"#")
    };
    let first = if is_alone {
        lines.iter().skip(own + 1).position(|line| !is_filler(line)).map(|at| own + 1 + at)
    } else {
        Some(own)
    };
    let Some(first) = first else { return comment };
    let indent = indent(bytes, lines[first]);
    let is_item = starts_item(bytes, lines[first]);
    let belongs = |line: &&Span| {
        let its = self::indent(bytes, **line);
        // A list may stand at the indent of its key.
        is_filler(line) || its > indent || (its == indent && !is_item && starts_item(bytes, **line))
            // The closing bracket of a flow list may stand below its key.
            || matches!(bytes[line.range()].trim_ascii().first(), Some(b']' | b'}'))
    };
    let last = lines[first + 1..].iter().take_while(belongs).count() + first;
    Span::new(lines[first].start, lines[last].end)
}

/// The lines of the frontmatter with their ends.
fn lines(bytes: &[u8], content: Span) -> Vec<Span> {
    let mut lines = Vec::new();
    let mut start = content.start;
    while start < content.end {
        let rest = &bytes[start..content.end];
        let mut end = memchr::memchr2(b'\n', b'\r', rest).map_or(content.end, |at| start + at + 1);
        if bytes[..end].ends_with(b"\r") && bytes[end..content.end].starts_with(b"\n") {
            end += 1;
        }
        lines.push(Span::new(start, end));
        start = end;
    }
    lines
}

fn indent(bytes: &[u8], line: Span) -> usize {
    bytes[line.range()].iter().take_while(|byte| **byte == b' ').count()
}

fn starts_item(bytes: &[u8], line: Span) -> bool {
    let text = bytes[line.range()].trim_ascii();
    text == b"-" || text.starts_with(b"- ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_covered(frontmatter: &str) -> String {
        let at = frontmatter.find("#!").unwrap();
        let end = frontmatter[at..].find(['\n', '\r']).map_or(frontmatter.len(), |length| at + length);
        let bytes = frontmatter.as_bytes();
        let span = covered(bytes, Span::new(0, bytes.len()), Span::new(at, end));
        frontmatter[span.range()].to_owned()
    }

    #[test]
    fn a_comment_covers_its_entry_or_the_next() {
        for (frontmatter, expected) in [
            ("a: 1\nb: 2 #!\nc: 3\n", "b: 2 #!\n"),
            ("a: 1\n#!\nb: 2\nc: 3\n", "b: 2\n"),
            ("#!\n# more\n\nb:\n- 1\n- 2\nc: 3\n", "b:\n- 1\n- 2\n"),
            ("b: #!\n  - 1\n\n  - 2\nc: 3\n", "b: #!\n  - 1\n\n  - 2\n"),
            ("b:\n- 1 #!\n- 2\n", "- 1 #!\n"),
            ("b:\n- 1\n#!\n- a: 2\n  b: 3\n- 4\n", "- a: 2\n  b: 3\n"),
            ("b: [ #!\n  1,\n]\nc: 3\n", "b: [ #!\n  1,\n]\n"),
            ("a: 1\r\n#!\r\nb: 2\r\n", "b: 2\r\n"),
            ("a: 1\n#!", "#!"),
        ] {
            assert_eq!(text_covered(frontmatter), expected, "{frontmatter:?}");
        }
    }
}
