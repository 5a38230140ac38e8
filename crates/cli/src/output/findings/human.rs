//! Findings for people: source, caret, help, summary.

use std::fmt::Write as _;

use stepmark_model::check::ProblemCounts;
use stepmark_store::checking::LeftOut;

use super::{Checked, Detail, Fixable};
use crate::output::{on_one_line, spinner::count};

/// Reports with an empty line after each, then the summary. Styled: the caller removes styles.
pub(super) fn render(checked: &Checked<'_>, detail: Detail) -> String {
    let mut text = String::new();
    for file in checked.with_findings() {
        let excerpt = file.excerpt();
        let (reports, more) = excerpt.reports(file.findings.iter().filter(|finding| detail.shows(finding)));
        for report in reports {
            text.push_str(&report);
            text.push_str("\n\n");
        }
        text.push_str(&unshown(file.path.as_str(), more));
    }
    for file in &checked.fixed {
        for remedy in &file.made {
            let (path, title) = (on_one_line(file.path.as_str()), on_one_line(&remedy.title));
            text.push_str(&format!("fixed {path}: {} {title}\n", remedy.rule.id));
        }
    }
    if detail == Detail::Full {
        text.push_str(&summary(checked.artifacts(), checked.counts(), checked.left_out));
        if checked.more() > 0 {
            text.push_str(&format!("{} not shown: `--limit`\n", count(checked.more(), "finding")));
        }
        text.push_str(&fixable_text(checked.fixable()));
        text.push_str(&gone(checked.left_out));
    }
    text
}

fn unshown(path: &str, more: usize) -> String {
    match more {
        0 => String::new(),
        more => {
            let (path, findings) = (on_one_line(path), count(more, "more finding"));
            format!("{path}: {findings}; `--format short` and `--json` show all\n\n")
        }
    }
}

fn summary(artifacts: usize, counts: ProblemCounts, left_out: LeftOut) -> String {
    let ProblemCounts { errors, warnings, notes } = counts;
    let mut text = format!(
        "{}: {}, {}, {}",
        count(artifacts, "artifact"),
        count(errors, "error"),
        count(warnings, "warning"),
        count(notes, "note"),
    );
    for (count, what) in [
        (left_out.suppressed, "suppressed"),
        (left_out.known, "known from the baseline"),
        (left_out.old, "there before"),
    ] {
        if count > 0 {
            text.push_str(&format!("; {count} {what}"));
        }
    }
    text.push('\n');
    text
}

fn fixable_text(Fixable { safe, with_care }: Fixable) -> String {
    let mut text = String::new();
    let _infallible = match (safe, with_care) {
        (0, 0) => Ok(()),
        (safe, 0) => writeln!(text, "`--fix` fixes {safe} of them"),
        (0, with_care) => writeln!(text, "`--fix --unsafe-fixes` fixes {with_care} of them"),
        (safe, with_care) => {
            writeln!(text, "`--fix` fixes {safe} of them, `--fix --unsafe-fixes` {with_care} more")
        }
    };
    text
}

fn gone(left_out: LeftOut) -> String {
    if left_out.gone == 0 {
        return String::new();
    }
    let findings = count(left_out.gone, "finding");
    format!(
        "{findings} of the baseline no longer there: `stepmark check --write-baseline` makes it smaller\n"
    )
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::output::findings::sample::{Sample, plain};

    #[test]
    fn shows_nasty_files_as_they_are() {
        assert_snapshot!(plain(&render(&Sample::nasty().checked(), Detail::Full)));
    }

    #[test]
    fn what_is_not_shown_is_said() {
        assert_eq!(unshown("a.md", 0), "");
        assert_eq!(unshown("a.md", 1), "a.md: 1 more finding; `--format short` and `--json` show all\n\n");
        assert_eq!(unshown("a\n.md", 9).lines().next().map(|line| line.ends_with("show all")), Some(true));
    }

    #[test]
    fn only_problems_are_shown_where_that_is_wanted() {
        let text = plain(&render(&Sample::nasty().checked(), Detail::Problems));
        assert!(text.contains("error[SM106]") && !text.contains("note["), "{text}");
        assert!(!text.contains("artifacts:"), "{text}");
    }

    #[test]
    fn the_summary_says_what_can_be_fixed() {
        let fixes = |safe, with_care| fixable_text(Fixable { safe, with_care });
        assert_eq!(fixes(0, 0), "");
        assert_eq!(fixes(2, 0), "`--fix` fixes 2 of them\n");
        assert_eq!(fixes(0, 1), "`--fix --unsafe-fixes` fixes 1 of them\n");
        assert_eq!(fixes(1, 1), "`--fix` fixes 1 of them, `--fix --unsafe-fixes` 1 more\n");
    }

    #[test]
    fn the_summary_says_what_is_left_out() {
        let counts = ProblemCounts { errors: 1, warnings: 2, notes: 0 };
        let said = |suppressed, known, gone| {
            let left_out = LeftOut { suppressed, known, gone, old: 0 };
            summary(1, counts, left_out) + &super::gone(left_out)
        };
        assert_eq!(said(0, 0, 0), "1 artifact: 1 error, 2 warnings, 0 notes\n");
        assert!(said(3, 0, 0).ends_with("0 notes; 3 suppressed\n"));
        assert!(said(3, 1, 0).ends_with("; 3 suppressed; 1 known from the baseline\n"));
        assert!(said(0, 0, 2).contains("\n2 findings of the baseline no longer there"));
    }
}
