//! Schema `stepmark.check/1`: fields are added, never renamed or removed.

use stepmark_frontmatter::Span;
use stepmark_model::check::{Finding, Fix, ProblemCounts, Remedy};
use stepmark_store::checking::LeftOut;

use super::{Checked, Fixable, FixedArtifact};
use crate::output::{Row, report::Excerpt};

answers! { Answer<'a>
    /// `check`: findings, and fixes made
    "stepmark.check/1" Check (CheckWire<'a>)
    struct CheckWire<'a> {
        /// The number of artifacts that were checked; files that are none are not counted.
        artifacts: usize,
        #[schemars(with = "Vec<Row<FindingWire>>")] findings: Vec<FindingWire<'a>>,
        /// The number of findings that are not among these.
        more: usize,
        unreadable: &'a [String], counts: ProblemCounts, fixable: Fixable,
        /// The fixes that were made before the file was checked.
        fixed: Vec<RemedyWire<'a>>,
        declined: Vec<DeclinedWire<'a>>, left_out: LeftOutWire,
    }
    // Findings that a suppression accepts, that the baseline knows, and those of it that are gone.
    struct LeftOutWire { suppressed: usize, known: usize, gone: usize }
    struct RemedyWire<'a> {
        id: &'static str, name: &'static str, path: &'a str, message: &'a str, safety: &'static str,
        title: &'a str,
    }
    struct DeclinedWire<'a> { #[serde(flatten)] remedy: RemedyWire<'a>, reason: String }
    struct FindingWire<'a> {
        id: &'static str,
        /// The same as `name`, from before there was an id.
        rule: &'static str,
        name: &'static str, severity: &'static str, path: &'a str, #[serde(flatten)] place: PlaceWire,
        message: &'a str, help: Option<&'a str>, fix: Option<FixWire<'a>>,
    }
    // A place in a file: lines and columns from 1, columns in characters; offsets in bytes from 0. The end is
    // behind the last one.
    struct PlaceWire {
        line: usize, column: usize, end_line: usize, end_column: usize, offset: usize, end_offset: usize,
    }
    struct FixWire<'a> {
        safety: &'static str, title: &'a str,
        /// In order, without overlap; all places count in the file as it was checked.
        edits: Vec<EditWire<'a>>,
    }
    struct EditWire<'a> { #[serde(flatten)] place: PlaceWire, text: &'a str }
}

pub(super) fn render(checked: &Checked<'_>) -> Result<String, serde_json::Error> {
    let findings = checked.with_findings().flat_map(|file| {
        let excerpt = file.excerpt();
        file.findings.iter().map(move |finding| FindingWire::new(finding, &excerpt))
    });
    let LeftOut { suppressed, known, gone, .. } = checked.left_out;
    let wire = Answer::Check(CheckWire {
        artifacts: checked.artifacts(),
        findings: findings.collect(),
        more: checked.more(),
        unreadable: &checked.unreadable,
        counts: checked.counts(),
        fixable: checked.fixable(),
        fixed: checked.fixed.iter().flat_map(fixed).collect(),
        declined: checked.fixed.iter().flat_map(declined).collect(),
        left_out: LeftOutWire { suppressed, known, gone },
    });
    Ok(serde_json::to_string(&wire)? + "\n")
}

fn fixed(file: &FixedArtifact) -> impl Iterator<Item = RemedyWire<'_>> {
    file.made.iter().map(|remedy| RemedyWire::new(file, remedy))
}

fn declined(file: &FixedArtifact) -> impl Iterator<Item = DeclinedWire<'_>> {
    file.declined.iter().map(|declined| DeclinedWire {
        remedy: RemedyWire::new(file, &declined.remedy),
        reason: declined.reason.to_string(),
    })
}

impl<'a> RemedyWire<'a> {
    fn new(file: &'a FixedArtifact, remedy: &'a Remedy) -> Self {
        Self {
            id: remedy.rule.id,
            name: remedy.rule.name,
            path: file.path.as_str(),
            message: &remedy.message,
            safety: remedy.safety.as_str(),
            title: &remedy.title,
        }
    }
}

impl<'a> FindingWire<'a> {
    fn new(finding: &'a Finding, excerpt: &Excerpt<'_>) -> Self {
        Self {
            id: finding.rule.id,
            rule: finding.rule.name,
            name: finding.rule.name,
            severity: finding.severity.as_str(),
            path: finding.path.as_str(),
            place: PlaceWire::new(finding.span, excerpt),
            message: &finding.message,
            help: finding.help.as_deref(),
            fix: finding.fix.as_ref().map(|fix| FixWire::new(fix, excerpt)),
        }
    }
}

impl<'a> FixWire<'a> {
    fn new(fix: &'a Fix, excerpt: &Excerpt<'_>) -> Self {
        let edits = fix
            .splices
            .iter()
            .map(|splice| EditWire { place: PlaceWire::new(splice.span, excerpt), text: &splice.text });
        Self { safety: fix.safety.as_str(), title: &fix.title, edits: edits.collect() }
    }
}

impl PlaceWire {
    fn new(span: Span, excerpt: &Excerpt<'_>) -> Self {
        let (start, end) = (excerpt.position(span.start), excerpt.position(span.end));
        Self {
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            offset: span.start,
            end_offset: span.end,
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::output::findings::sample::Sample;

    #[test]
    fn says_everything_with_places() {
        let text = render(&Sample::nasty().checked()).unwrap();
        assert_eq!(text.lines().count(), 1);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
    }
}
