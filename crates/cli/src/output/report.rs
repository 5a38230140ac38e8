//! Findings for people: source with a caret, as in rustc; also for command line text.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

use stepmark_frontmatter::{LineIndex, Position};
use stepmark_model::{
    check::{Finding, Safety, Severity},
    selection::SelectionError,
};
use stepmark_view::wording::{on_one_line, visible};

pub(crate) struct Excerpt<'f> {
    bytes: &'f [u8],
    lines: LineIndex,
}

pub(crate) const SHOWN_OF_A_FILE: usize = 100;

const SHOWN_OF_A_LINE: usize = 1000;

impl<'f> Excerpt<'f> {
    pub(crate) fn new(bytes: &'f [u8]) -> Self {
        Self { bytes, lines: LineIndex::new(bytes) }
    }

    /// Also returns the number of findings beyond [`SHOWN_OF_A_FILE`].
    pub(crate) fn reports<'a>(
        &self,
        findings: impl IntoIterator<Item = &'a Finding>,
    ) -> (Vec<String>, usize) {
        let mut findings = findings.into_iter();
        let shown = findings.by_ref().take(SHOWN_OF_A_FILE).map(|finding| self.report(finding)).collect();
        (shown, findings.count())
    }

    pub(crate) fn position(&self, offset: usize) -> stepmark_frontmatter::Position {
        self.lines.position(self.bytes, offset)
    }

    pub(crate) fn report(&self, finding: &Finding) -> String {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let (path, window) = (on_one_line(finding.path.as_str()), self.window(finding));
        let marked = AnnotationKind::Primary.span(window.marked);
        let snippet = Snippet::source(window.text).line_start(window.place.line).annotation(marked);
        let title = level.primary_title(on_one_line(&finding.message)).id(finding.rule.id);
        let mut group = match window.is_cut {
            false => title.element(snippet.path(path)),
            true => {
                let Position { line, column } = window.place;
                title.element(Origin::path(path).line(line).char_column(column)).element(snippet)
            }
        };
        if let Some(help) = &finding.help {
            group = group.element(Level::HELP.message(on_one_line(help)));
        }
        if let Some(fix) = &finding.fix {
            let words = format!("{} (`{}`)", on_one_line(&fix.title), command(fix.safety));
            group = group.element(Level::HELP.with_name("fix").message(words));
        }
        Renderer::styled().render(&[group])
    }

    fn window(&self, finding: &Finding) -> Window {
        let start = finding.span.start.min(self.bytes.len());
        let place = self.position(start);
        let line = self.lines.start_of(place.line);
        let end_of = |from: usize| {
            let rest = &self.bytes[from..];
            rest.iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'))
                .map_or(self.bytes.len(), |at| from + at)
        };
        let end = end_of(start);
        let is_cut = end - line > 4 * SHOWN_OF_A_LINE;
        let is_inside = |at: &usize| self.bytes.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
        let (from, to) = match is_cut {
            false => (line, end),
            true => {
                let from = (line..start.saturating_sub(SHOWN_OF_A_LINE).max(line) + 1).rev().find(is_inside);
                let to = (start.saturating_add(SHOWN_OF_A_LINE).min(end)..end).find(is_inside);
                (from.unwrap_or(line), to.unwrap_or(end))
            }
        };
        let stop = finding.span.end.clamp(start, to);
        let before = shown(&self.bytes[from..start]);
        let marked = before.len()..before.len() + shown(&self.bytes[start..stop]).len();
        Window { text: before + &shown(&self.bytes[start..to]), marked, place, is_cut }
    }
}

struct Window {
    text: String,
    marked: Range<usize>,
    place: Position,
    is_cut: bool,
}

const fn command(safety: Safety) -> &'static str {
    match safety {
        Safety::Safe => "stepmark check --fix",
        Safety::Unsafe => "stepmark check --fix --unsafe-fixes",
    }
}

/// Printable: invalid UTF-8 becomes U+FFFD, a lone CR a line end; drops a byte order mark, and makes control
/// and invisible characters visible.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    visible(text.strip_prefix('\u{FEFF}').unwrap_or(&text))
}

pub(crate) fn marked_place(name: &str, text: &str, offset: usize) -> String {
    let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (before, after) = (visible(&text[..offset]), visible(&text[offset..]));
    let is_in_word = |character: char| character.is_alphanumeric() || character == '_';
    let word = after.find(|character| !is_in_word(character)).unwrap_or(after.len());
    let length = if word > 0 { word } else { after.chars().next().map_or(0, char::len_utf8) };
    let source = format!("{before}{after}");
    let span = before.len()..before.len() + length;
    let snippet = Snippet::source(source.as_str()).path(name).annotation(AnnotationKind::Primary.span(span));
    let shown = Renderer::plain().render(&[Level::ERROR.primary_title("").element(snippet)]);
    // The message has the title already.
    shown.split_once('\n').map_or(shown.as_str(), |(_, place)| place).to_owned()
}

pub(crate) fn question_report(option: &str, text: &str, error: &SelectionError) -> String {
    // Counted in the printable text: pictures of control characters have other lengths.
    let length = |end: usize| on_one_line(&text[..end]).len();
    let (shown, span) = (on_one_line(text), length(error.span.start)..length(error.span.end));
    let snippet = Snippet::source(shown.as_str()).path(option).annotation(AnnotationKind::Primary.span(span));
    let mut group = Level::ERROR.primary_title(on_one_line(&error.to_string())).element(snippet);
    if let Some(help) = error.help() {
        group = group.element(Level::HELP.message(on_one_line(&help)));
    }
    Renderer::styled().render(&[group])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::findings::sample::plain;
    use stepmark_frontmatter::Span;
    use stepmark_model::{artifact::ProjectPath, check::rule_of};

    fn finding(start: usize, end: usize) -> Finding {
        let path = ProjectPath::new("a.md").unwrap();
        Finding::new(rule_of("SM106").unwrap(), &path, Span::new(start, end), "twice")
    }

    #[test]
    fn the_line_of_a_finding_is_shown() {
        for (text, start, end, wanted) in [
            ("a: 1\nb: 2\n", 5, 6, "2 | b: 2\n  | ^"),
            ("a: 1\r\nb: 2\r\nc", 6, 10, "2 | b: 2\n  | ^^^^"),
            ("a: 1\rb: 2\rc", 5, 99, "2 | b: 2\n  | ^^^^"),
            ("a: \u{1b}x", 3, 4, "1 | a: ␛x\n  |    ^"),
        ] {
            let report = plain(&Excerpt::new(text.as_bytes()).report(&finding(start, end)));
            assert!(report.contains(wanted), "{text:?}: {report}");
        }
    }

    /// The text that a report shows, and reads, does not grow with its line.
    #[test]
    fn of_a_long_line_a_part_is_shown() {
        let text = format!("a: 1\n{}here{}\n", "é".repeat(300_000), "x".repeat(300_000));
        let at = text.find("here").unwrap();
        let report = plain(&Excerpt::new(text.as_bytes()).report(&finding(at, at + 4)));
        assert!(
            report.contains("a.md:2:300001\n") && report.contains("here") && report.contains("^^^^"),
            "{report}"
        );
        assert!(report.len() < 5000, "{report}");
    }

    /// Fifty thousand findings of a megabyte: all of it once, not once for each of them.
    #[test]
    fn the_first_findings_are_shown_and_the_others_counted() {
        let text = "k: 1 and some more\n".repeat(50_000);
        let findings: Vec<Finding> = (0..50_000).map(|at| finding(at * 19, at * 19 + 1)).collect();
        let excerpt = Excerpt::new(text.as_bytes());
        let (shown, more) = excerpt.reports(&findings);
        assert_eq!((shown.len(), more), (SHOWN_OF_A_FILE, 50_000 - SHOWN_OF_A_FILE));
        let windows = findings.iter().map(|finding| excerpt.window(finding).text.len());
        assert_eq!(windows.sum::<usize>(), 50_000 * 18);
    }

    #[test]
    fn marks_the_word_at_the_place() {
        for (text, offset, wanted) in [
            (
                "SELECT pth FROM artifacts",
                7,
                " --> query:1:8\n  |\n1 | SELECT pth FROM artifacts\n  |        ^^^",
            ),
            ("SELECT é FROM\nx\u{1b}", 16, " --> query:2:2\n  |\n2 | x␛\n  |  ^"),
            ("a", 99, " --> query:1:2\n  |\n1 | a\n  |  ^"),
        ] {
            assert_eq!(marked_place("query", text, offset), wanted);
        }
    }
}
