//! Findings for people: the place in the source with a caret, as rustc shows it.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use stepmark_core::{
    check::{Finding, Safety, Severity},
    document::LineIndex,
};
use stepmark_view::wording::{on_one_line, visible};

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
            .path(on_one_line(finding.path.as_str()))
            .annotation(AnnotationKind::Primary.span(start..first_line.max(start)));
        let mut group =
            level.primary_title(on_one_line(&finding.message)).id(finding.rule.id).element(snippet);
        if let Some(help) = &finding.help {
            group = group.element(Level::HELP.message(on_one_line(help)));
        }
        if let Some(fix) = &finding.fix {
            let words = format!("{} (`{}`)", on_one_line(&fix.title), command(fix.safety));
            group = group.element(Level::HELP.with_name("fix").message(words));
        }
        Renderer::styled().render(&[group])
    }
}

/// What makes a fix.
const fn command(safety: Safety) -> &'static str {
    match safety {
        Safety::Safe => "stepmark check --fix",
        Safety::Unsafe => "stepmark check --fix --unsafe-fixes",
    }
}

/// The bytes as text that a terminal can show: what is no UTF-8 becomes U+FFFD, a lone CR a line end, a byte order mark
/// at the beginning nothing, and what steers or hides is made visible.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    visible(text.strip_prefix('\u{FEFF}').unwrap_or(&text))
}

/// How long `prefix` of a file is as [`shown`].
fn shown_len(prefix: &[u8]) -> usize {
    // A CR at the cut belongs to a CRLF that is shown as one character.
    shown(prefix.strip_suffix(b"\r").unwrap_or(prefix)).len()
}
