//! Findings as GitHub Actions workflow commands, shown as annotations of changed files.
//!
//! docs.github.com, "Workflow commands for GitHub Actions"; escaping as in
//! `toolkit/packages/core/src/command.ts`.

use stepmark_model::check::{Finding, Severity};
use stepmark_view::wording::{on_one_line, visible};

use super::{Checked, CheckedFile};
use crate::output::report::Excerpt;

/// Unreadable files are errors.
pub(super) fn render(checked: &Checked<'_>) -> String {
    let mut text = String::new();
    for file in checked.with_findings() {
        let excerpt = file.excerpt();
        for finding in &file.findings {
            text.push_str(&command(file, &excerpt, finding));
        }
    }
    for problem in &checked.unreadable {
        text.push_str(&format!("::error title=cannot be read::{}\n", data(problem)));
    }
    text
}

fn command(file: &CheckedFile<'_>, excerpt: &Excerpt<'_>, finding: &Finding) -> String {
    let word = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let (start, end) = (excerpt.position(finding.span.start), excerpt.position(finding.span.end));
    // GitHub accepts no end column for several lines.
    let end_column =
        if start.line == end.line { format!(",endColumn={}", end.column) } else { String::new() };
    let help = finding.help.iter().map(|help| format!("\nhelp: {help}"));
    let message = [finding.message.clone()].into_iter().chain(help).collect::<String>();
    format!(
        "::{word} file={},line={},endLine={},col={}{end_column},title={}::{}\n",
        property(file.path.as_str()),
        start.line,
        end.line,
        start.column,
        property(&format!("{} {}", finding.rule.id, finding.rule.name)),
        data(&message),
    )
}

/// After the second `::`. Logs interpret control characters, so they are replaced by pictures.
fn data(text: &str) -> String {
    visible(&text.replace("\r\n", "\n")).replace('%', "%25").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    on_one_line(text).replace('%', "%25").replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::output::findings::sample::Sample;

    #[test]
    fn every_command_is_one_line() {
        let text = render(&Sample::nasty().checked());
        assert!(text.lines().all(|line| line.starts_with("::")), "{text}");
        assert_snapshot!(text);
    }

    #[test]
    fn what_would_end_a_command_early_is_escaped() {
        for (text, message, value) in [
            ("a::b", "a::b", "a%3A%3Ab"),
            ("50%, or\n::error::x", "50%25, or%0A::error::x", "50%25%2C or␊%3A%3Aerror%3A%3Ax"),
            ("a\r\nb\rc", "a%0Ab␍c", "a␍␊b␍c"),
            ("\u{1b}[31m", "␛[31m", "␛[31m"),
            ("déjà vu", "déjà vu", "déjà vu"),
        ] {
            assert_eq!((data(text).as_str(), property(text).as_str()), (message, value), "{text:?}");
        }
    }
}
