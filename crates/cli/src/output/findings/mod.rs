//! Findings of a check in several text formats. A renderer is a pure function of the same data, in a file of
//! its own.

mod github;
mod human;
pub(crate) mod json;
mod junit;
mod sarif;
#[cfg(test)]
pub(crate) mod sample;
mod short;

use clap::ValueEnum;
use stepmark_model::{
    artifact::ProjectPath,
    check::{Declined, Finding, ProblemCounts, Remedy, Safety, Severity},
};
use stepmark_store::checking::LeftOut;

use super::{Reader, report::Excerpt};
use crate::exit::{Exit, Failure};

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The place in the source with a caret, and a summary
    #[default]
    Human,
    /// One line each: `PATH:LINE:COLUMN: SEVERITY ID MESSAGE`
    Short,
    /// JSON of the schema `stepmark.check/1`; what `--json` asks for
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands of GitHub Actions, which become annotations
    Github,
    /// JUnit XML, for the test reports of CI servers
    Junit,
}

/// Formats for programs always have all findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    Full,
    Problems,
}

#[derive(Clone, Debug)]
pub(crate) struct CheckedFile<'a> {
    pub(crate) path: &'a ProjectPath,
    /// Findings refer to them: from the working tree, the index, or a commit.
    pub(crate) bytes: &'a [u8],
    pub(crate) findings: Vec<Finding>,
}

impl<'a> CheckedFile<'a> {
    pub(crate) fn at(path: &'a ProjectPath, bytes: &'a [u8], findings: &[Finding]) -> Self {
        let at = |finding: &Finding| Finding { path: path.clone(), ..finding.clone() };
        Self { path, bytes, findings: findings.iter().map(at).collect() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Checked<'a> {
    files: Vec<CheckedFile<'a>>,
    /// One line each.
    unreadable: Vec<String>,
    fixed: Vec<FixedArtifact>,
    left_out: LeftOut,
    beside: usize,
    /// If not all findings are shown: totals by severity, fixable ones, and the number left out.
    cut: Option<(ProblemCounts, Fixable, usize)>,
}

#[derive(Clone, Debug)]
pub(crate) struct FixedArtifact {
    pub(crate) path: ProjectPath,
    pub(crate) made: Vec<Remedy>,
    pub(crate) declined: Vec<Declined>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Fixable {
    pub(crate) safe: usize,
    #[serde(rename = "unsafe")]
    pub(crate) with_care: usize,
}

impl<'a> Checked<'a> {
    pub(crate) fn new(mut files: Vec<CheckedFile<'a>>, unreadable: Vec<String>) -> Self {
        files.sort_by_key(|file| file.path);
        for file in &mut files {
            file.findings.sort_by_key(|finding| (finding.span, finding.rule.id));
        }
        Self { files, unreadable, fixed: Vec::new(), left_out: LeftOut::default(), beside: 0, cut: None }
    }

    pub(crate) fn after(mut self, mut fixed: Vec<FixedArtifact>) -> Self {
        fixed.sort_by(|one, other| one.path.cmp(&other.path));
        self.fixed = fixed;
        self
    }

    pub(crate) fn fixed(&self) -> &[FixedArtifact] {
        &self.fixed
    }

    pub(crate) fn with_left_out(self, left_out: LeftOut) -> Self {
        Self { left_out, ..self }
    }

    pub(crate) fn with_beside(self, beside: usize) -> Self {
        Self { beside, ..self }
    }

    pub(crate) fn cut(mut self, limit: Option<usize>) -> Self {
        let found = self.findings().count();
        let Some(more) = limit.and_then(|limit| found.checked_sub(limit)).filter(|more| *more > 0) else {
            return self;
        };
        self.cut = Some((self.counts(), self.fixable(), more));
        // Worst first.
        let mut severities: Vec<Severity> = self.findings().map(|finding| finding.severity).collect();
        severities.sort();
        severities.truncate(found - more);
        let least = severities.last().copied();
        let mut of_least = severities.iter().filter(|severity| Some(**severity) == least).count();
        for file in &mut self.files {
            file.findings.retain(|finding| {
                if Some(finding.severity) != least {
                    return Some(finding.severity) < least;
                }
                let is_shown = of_least > 0;
                of_least = of_least.saturating_sub(1);
                is_shown
            });
        }
        self
    }

    fn more(&self) -> usize {
        self.cut.map_or(0, |(_, _, more)| more)
    }

    fn artifacts(&self) -> usize {
        self.files.len().saturating_sub(self.beside)
    }

    pub(crate) fn counts(&self) -> ProblemCounts {
        self.cut.map_or_else(|| ProblemCounts::of(self.findings()), |(counts, ..)| counts)
    }

    pub(crate) fn unreadable(&self) -> &[String] {
        &self.unreadable
    }

    pub(crate) fn rendered(&self, format: Format, detail: Detail) -> Result<String, Failure> {
        match format {
            Format::Human => Ok(human::render(self, detail)),
            Format::Short => Ok(short::render(self, detail)),
            Format::Github => Ok(github::render(self)),
            Format::Json => json::render(self).map_err(|error| Failure::from_error(Exit::Io, &error)),
            Format::Sarif => sarif::render(self).map_err(|error| Failure::from_error(Exit::Io, &error)),
            Format::Junit => junit::render(self).map_err(|error| Failure::from_error(Exit::Io, &error)),
        }
    }

    /// Other files need no excerpt, which loads their whole text.
    fn with_findings(&self) -> impl Iterator<Item = &CheckedFile<'a>> {
        self.files.iter().filter(|file| !file.findings.is_empty())
    }

    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.files.iter().flat_map(|file| &file.findings)
    }

    fn fixable(&self) -> Fixable {
        if let Some((_, fixable, _)) = self.cut {
            return fixable;
        }
        let count = |safety| {
            self.findings()
                .filter(|finding| finding.fix.as_ref().is_some_and(|fix| fix.safety == safety))
                .count()
        };
        Fixable { safe: count(Safety::Safe), with_care: count(Safety::Unsafe) }
    }
}

impl<'a> CheckedFile<'a> {
    fn excerpt(&self) -> Excerpt<'a> {
        Excerpt::new(self.bytes)
    }
}

impl Format {
    pub(crate) const fn reader(self) -> Reader {
        match self {
            Self::Human | Self::Short => Reader::Person,
            Self::Json | Self::Sarif | Self::Github | Self::Junit => Reader::Program,
        }
    }
}

impl Detail {
    fn shows(self, finding: &Finding) -> bool {
        self == Self::Full || finding.severity != Severity::Note
    }
}

#[cfg(test)]
mod tests {
    use super::{sample::Sample, *};

    #[test]
    fn the_order_does_not_depend_on_who_came_first() {
        let sample = Sample::nasty();
        let mut files = sample.files();
        files.reverse();
        files.iter_mut().for_each(|file| file.findings.reverse());
        let reversed = Checked::new(files, sample.unreadable());
        for format in Format::value_variants() {
            let (one, other) = (sample.checked(), &reversed);
            let text = |checked: &Checked<'_>| checked.rendered(*format, Detail::Full).unwrap();
            assert_eq!(text(&one), text(other), "{format:?}");
        }
    }

    #[test]
    fn the_gravest_are_shown_and_all_are_counted() {
        let sample = Sample::nasty();
        let (all, found) = (sample.checked().counts(), sample.checked().findings().count());
        let mut gravest: Vec<Severity> =
            sample.checked().findings().map(|finding| finding.severity).collect();
        gravest.sort();
        for limit in [1, 2, found - 1, found, found + 1] {
            let cut = sample.checked().cut(Some(limit));
            let mut shown: Vec<Severity> = cut.findings().map(|finding| finding.severity).collect();
            shown.sort();
            assert_eq!(shown, gravest[..limit.min(found)]);
            assert_eq!(shown[0], Severity::Error);
            assert_eq!((cut.counts(), cut.more()), (all, found.saturating_sub(limit)));
        }
    }

    #[test]
    fn machines_are_told_of_notes_whatever_people_want() {
        let sample = Sample::nasty();
        let text = |format, detail| sample.checked().rendered(format, detail).unwrap();
        for format in Format::value_variants() {
            let is_shorter = text(*format, Detail::Problems).len() < text(*format, Detail::Full).len();
            assert_eq!(is_shorter, matches!(format, Format::Human | Format::Short), "{format:?}");
        }
    }
}
