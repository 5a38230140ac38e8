//! Findings for people: the place in the source with a caret, as rustc shows it.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use stepmark_core::{
    check::{Finding, Severity},
    document::LineIndex,
};

/// A file, ready to be shown around findings.
pub(crate) struct Excerpt<'f> {
    bytes: &'f [u8],
    text: String,
    lines: LineIndex,
}

impl<'f> Excerpt<'f> {
    pub(crate) fn new(bytes: &'f [u8]) -> Self {
        Self { bytes, text: shown(bytes), lines: LineIndex::new(bytes) }
    }

    /// `line:column` of a byte offset.
    pub(crate) fn position(&self, offset: usize) -> stepmark_core::document::Position {
        self.lines.position(self.bytes, offset)
    }

    /// The report of one finding.
    pub(crate) fn report(&self, finding: &Finding) -> String {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let start = shown_len(&self.bytes[..finding.span.start.min(self.bytes.len())]);
        let end = shown_len(&self.bytes[..finding.span.end.min(self.bytes.len())]);
        let first_line = self.text[start..end.max(start)].find('\n').map_or(end, |at| start + at);
        let snippet = Snippet::source(self.text.as_str())
            .path(finding.path.as_str())
            .annotation(AnnotationKind::Primary.span(start..first_line.max(start)));
        let mut group = level.primary_title(finding.message.as_str()).id(finding.rule).element(snippet);
        if let Some(help) = &finding.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        Renderer::styled().render(&[group])
    }
}

/// The bytes as text that a terminal can show: what is no UTF-8 becomes U+FFFD, a lone CR a line end, and any other
/// control character its picture, so that a file cannot steer the terminal.
fn shown(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let lossy = String::from_utf8_lossy(bytes);
    let mut rest = lossy.chars().peekable();
    while let Some(c) = rest.next() {
        text.push(match c {
            '\r' if rest.peek() == Some(&'\n') => continue,
            '\r' => '\n',
            '\n' | '\t' => c,
            '\u{FEFF}' => continue,
            '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{FFFD}'),
            '\u{7f}'..='\u{9f}' => '\u{FFFD}',
            c => c,
        });
    }
    text
}

/// How long `prefix` of a file is as [`shown`].
fn shown_len(prefix: &[u8]) -> usize {
    // A CR at the cut belongs to a CRLF that is shown as one character.
    shown(prefix.strip_suffix(b"\r").unwrap_or(prefix)).len()
}
