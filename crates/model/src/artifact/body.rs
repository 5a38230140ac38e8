//! State that stands in the body, where no reader of frontmatter sees it.

use memchr::memmem;

use super::{Diagnosis, Problem};
use stepmark_frontmatter::{Document, Span, heading_title};

/// A line `Status: review` of the body, as story files carry it (docs/formats.md, "Sprint status and
/// stories").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyStatus {
    /// The status word as written.
    pub text: String,
    /// The span of the word.
    pub span: Span,
}

/// The first `Status:` line of the body before its second heading of level 2, and headings that should be
/// keys.
pub(super) fn read(document: &Document<'_>, found: &mut Vec<Diagnosis>) -> Option<BodyStatus> {
    let body = document.body();
    let bytes = &document.bytes()[body.range()];
    let mut looked_at = 0;
    for at in memmem::find_iter(bytes, b"stepsCompleted") {
        if at < looked_at {
            continue;
        }
        let line = line_around(bytes, at);
        looked_at = line.end;
        if is_steps_heading(&bytes[line.range()]) {
            found.push(Diagnosis::new(Problem::StepsInBody, line.shifted(body.start)));
        }
    }
    let at = memmem::find_iter(bytes, b"Status:").find(|at| is_status_line(bytes, *at))?;
    let line = line_around(bytes, at);
    let value = Span::new(at + b"Status:".len(), line.end);
    let text = String::from_utf8_lossy(&bytes[value.range()]);
    let is_mark = |c: char| matches!(c, ' ' | '\t' | '*' | '`' | '\'' | '"');
    let blanks = text.len() - text.trim_start_matches(is_mark).len();
    // A sentence ends with a full stop, a status does not.
    let word = text.trim_matches(is_mark).trim_end_matches('.').trim_end_matches(is_mark).to_owned();
    let start = body.start + value.start + blanks;
    (!word.is_empty()).then(|| BodyStatus { span: Span::new(start, start + word.len()), text: word })
}

/// `## stepsCompleted:`: a key that became a heading. A heading that only speaks of the key is none.
fn is_steps_heading(line: &[u8]) -> bool {
    let after_key = heading_title(line).and_then(|title| title.strip_prefix(b"stepsCompleted"));
    after_key.is_some_and(|rest| matches!(rest.trim_ascii_start(), [] | [b':', ..]))
}

/// `Status:` at the start of a line, bold or not.
fn is_status_line(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    let marks = before.iter().rev().take_while(|byte| **byte == b'*').count();
    before[..at - marks].last().is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
}

fn line_around(bytes: &[u8], at: usize) -> Span {
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |end| at + end);
    Span::new(start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> Option<String> {
        let found = read(&Document::scan(text.as_bytes()), &mut Vec::new())?;
        assert_eq!(&text.as_bytes()[found.span.range()], found.text.as_bytes());
        Some(found.text)
    }

    #[test]
    fn finds_the_status_line_of_a_story() {
        assert_eq!(status("# Story 1.1\n\nStatus: review\n"), Some("review".to_owned()));
        assert_eq!(status("---\na: 1\n---\n**Status:** in-progress\r\n"), Some("in-progress".to_owned()));
        for marked in
            ["`done`", "done.", "**done**.", "`done`.", " 'done'", "*`done`*", "\"done.\"", "** done"]
        {
            assert_eq!(status(&format!("Status: {marked}\n")), Some("done".to_owned()), "{marked}");
        }
        assert_eq!(status("Status: `.`\n"), None);
        assert_eq!(status("The Status: none\nStatus:\n"), None);
        assert_eq!(status("---\nStatus: done\n---\n"), None);
    }

    #[test]
    fn a_heading_that_should_be_a_key_is_reported() {
        let mut found = Vec::new();
        read(
            &Document::scan(
                b"# PRD\n## stepsCompleted: [1]\nabout stepsCompleted\n### If `stepsCompleted` is empty\n",
            ),
            &mut found,
        );
        assert_eq!(found, [Diagnosis::new(Problem::StepsInBody, Span::new(6, 28))]);
    }
}
