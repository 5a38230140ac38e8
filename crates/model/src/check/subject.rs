//! The subject of rules: an artifact, and the facts around it.

use super::{Finding, Rule};
use crate::artifact::{Artifact, Diagnosis, FileHash, Problem, ProjectPath};
use crate::coordination::{CoordinationFacts, Record};
use crate::tracked_artifact::{Membership, TrackedArtifact};
use crate::workflow::{BindingReason, Chain, Progress};
use crate::{asdd, asdd::AsddFacts, autodev::AutodevFacts};
use crate::{delegation::Chains, flows::FlowFacts, journal::Loss, lifecycle::Lifecycle};
use BindingReason::{FileNameWords, OutputPattern, Track};
use std::{cell::OnceCell, sync::Arc};
use stepmark_frontmatter::Span;
use stepmark_packs::Kind;

/// An artifact with what is known around it. Whoever checks gathers these facts; a rule whose facts are
/// missing finds nothing.
pub struct Subject<'a> {
    pub artifact: &'a Artifact,
    /// The artifact with its workflow and lifecycles, where these were looked up.
    tracked: Option<&'a TrackedArtifact>,
    /// Read by the first rule that asks.
    progress: OnceCell<Option<Progress<'a>>>,
    /// Asked by the first rule that wants them.
    autodev: OnceCell<Option<AutodevFacts>>,
    /// Read by the first rule that asks.
    record: OnceCell<Option<Record>>,
    /// Read by the first rule that asks.
    slice: OnceCell<Option<asdd::Record>>,
    /// Asked by the first rule that wants them.
    asdd: OnceCell<Option<Arc<AsddFacts>>>,
    /// Asked by the first rule that wants them.
    coordination: OnceCell<Option<Arc<CoordinationFacts>>>,
    pub(crate) environment: Option<&'a dyn RuleEnvironment>,
    /// The chains of delegation of the project, where they were read.
    pub(crate) chains: Option<&'a Chains>,
    /// The artifact as it was at HEAD; `None` where it is new, or nobody looked.
    pub(crate) base: Option<BaseVersion<'a>>,
}

/// Questions of rules about the files of the project: on the disk, in the index of git, in a commit.
pub trait RuleEnvironment {
    fn exists(&self, path: &ProjectPath) -> bool;
    /// The status in the ledger of a sprint at `ledger` of the story whose file is called `story`
    /// ([`SprintStatus`](crate::bmad::sprint::SprintStatus)); `None` where there is no such ledger, it cannot
    /// be read, or it does not know the story.
    fn sprint_status(&self, ledger: &ProjectPath, story: &str) -> Option<String>;
    /// Returns whether git knows `name` as a commit; true where nobody can say.
    fn is_commit(&self, _name: &str) -> bool {
        true
    }
    fn manifest_row(&self, path: &ProjectPath) -> ManifestRow;
    fn autodev(&self, artifact: &Artifact) -> Option<AutodevFacts>;
    /// The facts about the coordination of the project; `None` where it has none that can be read.
    fn coordination(&self) -> Option<Arc<CoordinationFacts>>;
    /// The facts about ASDD in the project; `None` where it does not use it, or they cannot be read.
    fn asdd(&self) -> Option<Arc<AsddFacts>>;
    /// The flows of the project; `None` where it has none that can be read.
    fn flows(&self) -> Option<Arc<FlowFacts>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestRow {
    /// There is no manifest that can be read, or the file is none of its business.
    Uncovered,
    /// It should list the file, and does not.
    Missing,
    WithoutHash,
    Hash(FileHash),
}

impl<'a> Subject<'a> {
    /// An artifact with its workflow and its lifecycle, without other files.
    pub fn of(tracked: &'a TrackedArtifact) -> Self {
        Self { tracked: Some(tracked), ..Self::alone(tracked.artifact()) }
    }

    /// An artifact without anything around it.
    pub const fn alone(artifact: &'a Artifact) -> Self {
        Self {
            artifact,
            tracked: None,
            progress: OnceCell::new(),
            autodev: OnceCell::new(),
            record: OnceCell::new(),
            slice: OnceCell::new(),
            asdd: OnceCell::new(),
            coordination: OnceCell::new(),
            environment: None,
            chains: None,
            base: None,
        }
    }

    #[must_use]
    pub fn within(self, environment: &'a dyn RuleEnvironment) -> Self {
        Self { environment: Some(environment), ..self }
    }

    #[must_use]
    pub fn with_chains(self, chains: Option<&'a Chains>) -> Self {
        Self { chains, ..self }
    }

    #[must_use]
    pub fn since(self, base: BaseVersion<'a>) -> Self {
        Self { base: Some(base), ..self }
    }

    pub fn progress(&self) -> Option<&Progress<'a>> {
        self.progress.get_or_init(|| self.tracked?.progress()).as_ref()
    }

    /// The steps of its workflow, where that is known.
    pub fn chain(&self) -> Option<&'a Chain> {
        Some(&self.tracked?.workflow()?.chain)
    }

    /// Returns whether nothing but the name of its file says which workflow it belongs to.
    pub(crate) fn is_bound_by_file_name(&self) -> bool {
        match self.tracked.map(TrackedArtifact::membership) {
            Some(Membership::Member { evidence, .. }) if !evidence.is_empty() => evidence
                .iter()
                .all(|reason| matches!(reason, FileNameWords { .. } | OutputPattern | Track(_))),
            _ => false,
        }
    }

    pub fn lifecycle(&self) -> Option<&'a Lifecycle> {
        Some(&self.tracked?.lifecycle()?.lifecycle)
    }

    /// Its kind, where a pack of the project says which.
    pub(crate) fn kind(&self) -> Option<&'a Kind> {
        self.tracked?.lifecycle()?.kind.as_deref()
    }

    pub(crate) fn rival(&self) -> Option<&'a Kind> {
        self.tracked?.lifecycle()?.rival.as_deref()
    }

    /// The facts about autodev, where it is the state file of a project that uses it.
    pub(crate) fn autodev(&self) -> Option<&AutodevFacts> {
        self.autodev.get_or_init(|| self.environment?.autodev(self.artifact)).as_ref()
    }

    pub(crate) fn record(&self) -> Option<&Record> {
        // Most artifacts are none, and need not be read again.
        let read = || self.artifact.state().kind.and_then(|_| Record::of(self.artifact).ok());
        self.record.get_or_init(read).as_ref()
    }

    pub(crate) fn slice(&self) -> Option<&asdd::Record> {
        let read = || self.artifact.state().kind.and_then(|_| asdd::Record::of(self.artifact).ok());
        self.slice.get_or_init(read).as_ref()
    }

    /// The facts about ASDD in the project, where it is one of its records.
    pub(crate) fn asdd(&self) -> Option<&AsddFacts> {
        self.slice()?;
        self.asdd.get_or_init(|| self.environment?.asdd()).as_deref()
    }

    /// The facts about the coordination of the project, where it is one of its records.
    pub(crate) fn coordination(&self) -> Option<&CoordinationFacts> {
        self.record()?;
        self.coordination.get_or_init(|| self.environment?.coordination()).as_deref()
    }

    pub(crate) fn waits_for_import(&self) -> bool {
        self.tracked.is_some_and(TrackedArtifact::waits_for_import)
    }

    pub(crate) fn finding(&self, rule: &'static Rule, span: Span, message: impl Into<String>) -> Finding {
        Finding::new(rule, self.artifact.path(), span, message)
    }

    pub(crate) fn diagnosed(
        &self,
        rule: &'static Rule,
        is_about: fn(&Problem) -> bool,
    ) -> impl Iterator<Item = Finding> {
        self.diagnoses(is_about)
            .map(move |diagnosis| self.finding(rule, diagnosis.span, diagnosis.problem.to_string()))
    }

    pub(crate) fn diagnoses(&self, is_about: fn(&Problem) -> bool) -> impl Iterator<Item = &'a Diagnosis> {
        self.artifact.diagnoses().iter().filter(move |diagnosis| is_about(&diagnosis.problem))
    }

    /// The span of the list of steps; the start of the file without one.
    pub(crate) fn list(&self) -> Span {
        self.artifact.steps().map_or(Span::at(0), |steps| steps.span)
    }

    pub(crate) fn item(&self, at: usize) -> (Span, &'a str) {
        let item = self.artifact.steps().and_then(|steps| steps.items.get(at));
        item.map_or((self.list(), ""), |item| (item.span, item.spelling.as_str()))
    }
}

/// An artifact as it was in the commit that a change starts from.
#[derive(Clone, Copy)]
pub struct BaseVersion<'a> {
    pub tracked: &'a TrackedArtifact,
    /// The losses that history accepts; `None`: none, since it was not asked.
    pub accepted: Option<&'a dyn AcceptedLosses>,
}

pub trait AcceptedLosses {
    /// Returns whether somebody took this away through stepmark, so that history knows who and why.
    fn accepts(&self, loss: &Loss<'_>) -> bool;

    /// Returns whether something was accepted by what the newer state of the repository does not hold, so
    /// that whoever gets that state cannot see why. Asked after all that may be accepted.
    fn is_missing(&self) -> bool {
        false
    }
}

impl<'a> BaseVersion<'a> {
    pub(crate) const fn artifact(&self) -> &'a Artifact {
        self.tracked.artifact()
    }

    pub(crate) fn lifecycle(&self) -> Option<&'a Lifecycle> {
        Some(&self.tracked.lifecycle()?.lifecycle)
    }

    pub(crate) fn accepts(&self, loss: Loss<'_>) -> bool {
        self.accepted.is_some_and(|accepted| accepted.accepts(&loss))
    }
}
