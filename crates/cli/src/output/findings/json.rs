//! Schema `stepmark.check/1`: fields are added, never renamed or removed.

use serde::Serialize;
use stepmark_frontmatter::Span;
use stepmark_model::check::{Finding, Fix, ProblemCounts, Remedy};
use stepmark_store::checking::LeftOut;

use super::{Checked, Fixable, FixedArtifact};
use crate::output::report::Excerpt;

#[derive(Debug, Serialize)]
struct CheckWire<'a> {
    schema: &'static str,
    artifacts: usize,
    findings: Vec<FindingWire<'a>>,
    more: usize,
    unreadable: &'a [String],
    counts: ProblemCounts,
    fixable: Fixable,
    fixed: Vec<RemedyWire<'a>>,
    declined: Vec<DeclinedWire<'a>>,
    left_out: LeftOutWire,
}

/// Suppressed, known to the baseline, and gone from it.
#[derive(Debug, Serialize)]
struct LeftOutWire {
    suppressed: usize,
    known: usize,
    gone: usize,
}

#[derive(Debug, Serialize)]
struct RemedyWire<'a> {
    id: &'static str,
    name: &'static str,
    path: &'a str,
    message: &'a str,
    safety: &'static str,
    title: &'a str,
}

#[derive(Debug, Serialize)]
struct DeclinedWire<'a> {
    #[serde(flatten)]
    remedy: RemedyWire<'a>,
    reason: String,
}

#[derive(Debug, Serialize)]
struct FindingWire<'a> {
    id: &'static str,
    /// Alias of `name`, from before ids.
    rule: &'static str,
    name: &'static str,
    severity: &'static str,
    path: &'a str,
    #[serde(flatten)]
    place: PlaceWire,
    message: &'a str,
    help: Option<&'a str>,
    fix: Option<FixWire<'a>>,
}

/// Lines and columns from 1, columns in characters; offsets in bytes from 0. Ends are exclusive.
#[derive(Debug, Serialize)]
struct PlaceWire {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    offset: usize,
    end_offset: usize,
}

#[derive(Debug, Serialize)]
struct FixWire<'a> {
    safety: &'static str,
    title: &'a str,
    /// Ordered, without overlap; positions refer to the checked file.
    edits: Vec<EditWire<'a>>,
}

#[derive(Debug, Serialize)]
struct EditWire<'a> {
    #[serde(flatten)]
    place: PlaceWire,
    text: &'a str,
}

pub(super) fn render(checked: &Checked<'_>) -> Result<String, serde_json::Error> {
    let findings = checked.with_findings().flat_map(|file| {
        let excerpt = file.excerpt();
        file.findings.iter().map(move |finding| FindingWire::new(finding, &excerpt))
    });
    let LeftOut { suppressed, known, gone, .. } = checked.left_out;
    let wire = CheckWire {
        schema: "stepmark.check/1",
        artifacts: checked.artifacts(),
        findings: findings.collect(),
        more: checked.more(),
        unreadable: &checked.unreadable,
        counts: checked.counts(),
        fixable: checked.fixable(),
        fixed: checked.fixed.iter().flat_map(fixed).collect(),
        declined: checked.fixed.iter().flat_map(declined).collect(),
        left_out: LeftOutWire { suppressed, known, gone },
    };
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
