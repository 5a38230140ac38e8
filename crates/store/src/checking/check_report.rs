//! The report of a check of several artifacts.

use std::borrow::Cow;

use crate::manifest::CacheOutcome;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    check::{Baseline, Finding, Judged, ProblemCounts},
};

/// A report of what is wrong with the artifacts that were checked.
#[derive(Clone, Debug, Default)]
pub struct CheckReport<'t> {
    /// A file for each artifact in the order of the paths; then files that stand beside them, where something
    /// is wrong there.
    pub files: Vec<CheckedFile<'t>>,
    /// The number of the files that are no artifacts.
    pub beside: usize,
    /// The number of findings that are not reported.
    pub left_out: LeftOut,
    /// The outcome of the cache that is kept for the next check.
    pub cache: CacheOutcome,
}

/// A file with what is wrong with it.
#[derive(Clone, Debug)]
pub struct CheckedFile<'t> {
    /// The file.
    pub path: ProjectPath,
    /// Its bytes, in which the spans of the findings count; none where it was not read again.
    pub bytes: Cow<'t, [u8]>,
    /// Its findings, in file order.
    pub findings: Vec<Finding>,
}

/// The number of findings that are not reported, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Accepted by a suppression.
    pub suppressed: usize,
    /// Known from the baseline.
    pub known: usize,
    /// In the baseline and no longer found; counted where all artifacts were checked.
    pub gone: usize,
    /// There before the change that was checked.
    pub old: usize,
}

/// The treatment of the findings of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// They are left out.
    LeftOut,
    /// They are reported like the others: whoever makes a baseline wants them all.
    Reported,
}

impl CheckReport<'_> {
    /// All findings, file by file.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.files.iter().flat_map(|file| &file.findings)
    }
}

impl<'t> CheckReport<'t> {
    /// Adds an artifact with what became of its findings, of which those in `baseline` are left out; returns
    /// how many are reported.
    pub(crate) fn add(
        &mut self,
        artifact: &'t Artifact,
        mut judged: Judged,
        baseline: &mut Baseline,
    ) -> ProblemCounts {
        self.left_out.suppressed += judged.suppressed;
        self.left_out.known += baseline.subtract(&mut judged.findings);
        let problems = ProblemCounts::of(&judged.findings);
        self.files.push(CheckedFile {
            path: artifact.path().clone(),
            bytes: Cow::Borrowed(artifact.bytes()),
            findings: judged.findings,
        });
        problems
    }

    /// Adds artifacts in which nothing is wrong, before any file beside them.
    pub(crate) fn add_clean(&mut self, paths: impl Iterator<Item = ProjectPath>) {
        let clean = |path| CheckedFile { path, bytes: Cow::Borrowed(&[][..]), findings: Vec::new() };
        self.files.extend(paths.map(clean));
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
    }

    /// Adds a file beside the artifacts, if something is wrong with it.
    pub(crate) fn add_beside(
        &mut self,
        path: ProjectPath,
        bytes: Vec<u8>,
        mut judged: Judged,
        baseline: &mut Baseline,
    ) {
        self.left_out.suppressed += judged.suppressed;
        self.left_out.known += baseline.subtract(&mut judged.findings);
        if !judged.findings.is_empty() {
            self.beside += 1;
            self.files.push(CheckedFile { path, bytes: Cow::Owned(bytes), findings: judged.findings });
        }
    }
}
