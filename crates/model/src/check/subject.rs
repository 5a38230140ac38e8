//! The subject of rules: an artifact, and the facts around it.

use super::{BaseVersion, Finding, Rule};
use crate::{
    artifact::{Artifact, Diagnosis, FileHash, Problem, ProjectPath},
    delegation::Chains,
    lifecycle::Lifecycle,
    workflow::{Chain, Progress},
};
use stepmark_frontmatter::Span;

/// An artifact with what is known around it. Whoever checks gathers these facts; a rule whose facts are
/// missing finds nothing.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The artifact.
    pub artifact: &'a Artifact,
    /// Its progress, where its workflow is known.
    pub progress: Option<&'a Progress<'a>>,
    /// The steps of its workflow, where that is known.
    pub chain: Option<&'a Chain>,
    /// The lifecycle of its status, where one applies.
    pub lifecycle: Option<&'a Lifecycle>,
    /// The files around it, where they were looked at.
    pub environment: Option<&'a dyn RuleEnvironment>,
    /// The chains of delegation of the project, where they were read.
    pub chains: Option<&'a Chains>,
    /// The artifact as it was at HEAD; `None` where it is new, or nobody looked.
    pub base: Option<BaseVersion<'a>>,
}

/// Questions of rules about the files of the project: on the disk, in the index of git, in a commit.
pub trait RuleEnvironment {
    /// Returns whether a file or folder is there.
    fn exists(&self, path: &ProjectPath) -> bool;
    /// The status in the ledger of a sprint at `ledger` of the story whose file is called `story`
    /// ([`SprintStatus`](crate::artifact::SprintStatus)); `None` where there is no such ledger, it cannot be
    /// read, or it does not know the story.
    fn sprint_status(&self, ledger: &ProjectPath, story: &str) -> Option<String>;
    /// The row of the file at `path` in the manifest of the project's artifacts.
    fn manifest_row(&self, path: &ProjectPath) -> ManifestRow;
}

/// The row of a file in a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestRow {
    /// There is no manifest that can be read, or the file is none of its business.
    Uncovered,
    /// It should list the file, and does not.
    Missing,
    /// It lists the file without a hash.
    WithoutHash,
    /// It lists the file with this hash.
    Hash(FileHash),
}

impl<'a> Subject<'a> {
    /// An artifact and its progress, without anything around them.
    pub const fn alone(artifact: &'a Artifact, progress: Option<&'a Progress<'a>>) -> Self {
        Self { artifact, progress, chain: None, lifecycle: None, environment: None, chains: None, base: None }
    }

    /// A finding at `span` of the artifact.
    pub(crate) fn finding(&self, rule: &'static Rule, span: Span, message: impl Into<String>) -> Finding {
        Finding::new(rule, self.artifact.path(), span, message)
    }

    /// The findings of those diagnoses of the artifact that `rule` is about, each with its own words.
    pub(crate) fn diagnosed(
        &self,
        rule: &'static Rule,
        is_about: fn(&Problem) -> bool,
    ) -> impl Iterator<Item = Finding> {
        self.diagnoses(is_about)
            .map(move |diagnosis| self.finding(rule, diagnosis.span, diagnosis.problem.to_string()))
    }

    /// The diagnoses of the artifact that a rule is about.
    pub(crate) fn diagnoses(&self, is_about: fn(&Problem) -> bool) -> impl Iterator<Item = &'a Diagnosis> {
        self.artifact.diagnoses().iter().filter(move |diagnosis| is_about(&diagnosis.problem))
    }

    /// The span of the list of steps; the start of the file without one.
    pub(crate) fn list(&self) -> Span {
        self.artifact.steps().map_or(Span::at(0), |steps| steps.span)
    }

    /// The span and spelling of the item `at` of the list.
    pub(crate) fn item(&self, at: usize) -> (Span, &'a str) {
        let item = self.artifact.steps().and_then(|steps| steps.items.get(at));
        item.map_or((self.list(), ""), |item| (item.span, item.spelling.as_str()))
    }
}
