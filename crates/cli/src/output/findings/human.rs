//! Findings for people: source, caret, help, and a summary.

use std::fmt::Write as _;

use super::{Checked, Detail, Fixable};
use crate::output::{on_one_line, wire::ProblemCounts, wording::count};

/// The reports, each with an empty line behind it, then the summary. Styled: whoever prints it takes the colours out where
/// they are not wanted.
pub(super) fn render(checked: &Checked<'_>, detail: Detail) -> String {
    let mut text = String::new();
    for file in &checked.files {
        let excerpt = file.excerpt();
        for finding in file.findings.iter().filter(|finding| detail.shows(finding)) {
            text.push_str(&excerpt.report(finding));
            text.push_str("\n\n");
        }
    }
    for file in &checked.mended {
        for remedy in &file.made {
            let (path, title) = (on_one_line(file.path.as_str()), on_one_line(&remedy.title));
            text.push_str(&format!("fixed {path}: {} {title}\n", remedy.rule.id));
        }
    }
    if detail == Detail::Full {
        text.push_str(&summary(checked.files.len(), checked.counts(), checked.fixable()));
    }
    text
}

fn summary(artifacts: usize, counts: ProblemCounts, fixable: Fixable) -> String {
    let ProblemCounts { errors, warnings, notes } = counts;
    let mut text = format!(
        "{}: {}, {}, {}\n",
        count(artifacts, "artifact"),
        count(errors, "error"),
        count(warnings, "warning"),
        count(notes, "note"),
    );
    let Fixable { safe, with_care } = fixable;
    // Writing to a string never fails.
    let _infallible = match (safe, with_care) {
        (0, 0) => Ok(()),
        (safe, 0) => writeln!(text, "`--fix` mends {safe} of them"),
        (0, with_care) => writeln!(text, "`--fix --unsafe-fixes` mends {with_care} of them"),
        (safe, with_care) => {
            writeln!(text, "`--fix` mends {safe} of them, `--fix --unsafe-fixes` {with_care} more")
        }
    };
    text
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
    fn only_problems_are_shown_where_that_is_wanted() {
        let text = plain(&render(&Sample::nasty().checked(), Detail::Problems));
        assert!(text.contains("error[SM106]") && !text.contains("note["), "{text}");
        assert!(!text.contains("artifacts:"), "{text}");
    }

    #[test]
    fn the_summary_says_what_can_be_mended() {
        let fixes = |safe, with_care| {
            let counts = ProblemCounts { errors: 1, warnings: 2, notes: 0 };
            let text = summary(1, counts, Fixable { safe, with_care });
            text.strip_prefix("1 artifact: 1 error, 2 warnings, 0 notes\n").map(str::to_owned).unwrap()
        };
        assert_eq!(fixes(0, 0), "");
        assert_eq!(fixes(2, 0), "`--fix` mends 2 of them\n");
        assert_eq!(fixes(0, 1), "`--fix --unsafe-fixes` mends 1 of them\n");
        assert_eq!(fixes(1, 1), "`--fix` mends 1 of them, `--fix --unsafe-fixes` 1 more\n");
    }
}
