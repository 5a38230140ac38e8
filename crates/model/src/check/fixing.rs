//! Applies fixes: each round makes all allowed fixes that do not touch each other, then checks the file
//! again.
//!
//! Guarantees: only bytes of fixes change, each fixed finding is gone, and there is no new error. Fixes that
//! would break this are declined with the reason.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{Finding, Fix, Rule, Safety, Severity};
use crate::{
    artifact::{Artifact, Diagnosis, FileHash, Problem, ProjectPath},
    asdd::{self, AsddFacts},
    autodev::AutodevFacts,
    coordination::{CoordinationFacts, Record},
    delegation::Chains,
    flows::FlowFacts,
    journal::Loss,
    lifecycle::Lifecycle,
    tracked_artifact::{Membership, TrackedArtifact},
    workflow::{BindingReason, Chain, Progress},
};
use BindingReason::{FileNameWords, OutputPattern, Track};
use stepmark_frontmatter::{Span, Splice};
use stepmark_packs::Kind;

/// The rest waits for the next run.
const MAX_ROUNDS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedFile {
    pub bytes: Vec<u8>,
    pub made: Vec<Remedy>,
    pub declined: Vec<Declined>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    pub rule: &'static Rule,
    pub message: String,
    pub safety: Safety,
    pub title: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declined {
    pub remedy: Remedy,
    pub reason: DeclineReason,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeclineReason {
    #[error("its splices do not fit the file")]
    OutOfPlace,
    #[error("the finding would still be there")]
    Ineffective,
    #[error("another fix would take it back")]
    Circular,
    #[error("it would make another error: {rule} {message}")]
    NewError {
        /// The rule that the fix would break.
        rule: &'static str,
        message: String,
    },
}

/// `find` returns findings in file order.
pub fn apply_fixes<E>(
    bytes: &[u8],
    allowed: Safety,
    mut find: impl FnMut(&[u8]) -> Result<Vec<Finding>, E>,
) -> Result<FixedFile, E> {
    let mut fixed = FixedFile { bytes: bytes.to_vec(), made: Vec::new(), declined: Vec::new() };
    let mut findings = find(bytes)?;
    let mut seen = vec![FileHash::of(bytes)];
    for _ in 0..MAX_ROUNDS {
        let chosen = chosen(&findings, allowed, &fixed.declined);
        if chosen.is_empty() {
            break;
        }
        let mut attempt = |fixes: &[Chosen<'_>]| attempt(&fixed.bytes, &findings, fixes, &seen, &mut find);
        let mut made = attempt(&chosen)?.map(|next| (next, &chosen[..]));
        // Together they fail: tries them one by one, up to the first success.
        for one in if made.is_err() { &chosen[..] } else { &[] } {
            let one = std::slice::from_ref(one);
            match attempt(one)? {
                Ok(next) => {
                    made = Ok((next, one));
                    break;
                }
                Err(reason) => {
                    fixed.declined.extend(
                        one.iter().map(|fix| Declined { remedy: fix.remedy(), reason: reason.clone() }),
                    );
                }
            }
        }
        let Ok((next, fixes)) = made else { continue };
        fixed.made.extend(fixes.iter().map(Chosen::remedy));
        seen.push(FileHash::of(&next.bytes));
        fixed.bytes = next.bytes;
        findings = next.findings;
    }
    Ok(fixed)
}

#[derive(Clone, Copy)]
struct Chosen<'f> {
    finding: &'f Finding,
    fix: &'f Fix,
}

struct Round {
    bytes: Vec<u8>,
    findings: Vec<Finding>,
}

impl Chosen<'_> {
    fn remedy(&self) -> Remedy {
        Remedy {
            rule: self.finding.rule,
            message: self.finding.message.clone(),
            safety: self.fix.safety,
            title: self.fix.title.clone(),
        }
    }
}

/// In file order; none touches another.
fn chosen<'f>(findings: &'f [Finding], allowed: Safety, declined: &[Declined]) -> Vec<Chosen<'f>> {
    let mut chosen: Vec<Chosen<'f>> = Vec::new();
    // Replaced ranges by start. Only splices of one fix may touch.
    let mut taken = BTreeMap::new();
    for finding in findings {
        let Some(fix) = finding.fix.as_ref().filter(|fix| fix.safety <= allowed && !fix.splices.is_empty())
        else {
            continue;
        };
        let next = Chosen { finding, fix };
        let is_declined = declined.iter().any(|declined| declined.remedy == next.remedy());
        if !is_declined && fix.splices.iter().all(|splice| !touches(&taken, splice.span)) {
            taken.extend(fix.splices.iter().map(|splice| (splice.span.start, splice.span.end)));
            chosen.push(next);
        }
    }
    chosen
}

/// Adjacent ranges touch, too.
fn touches(taken: &BTreeMap<usize, usize>, span: Span) -> bool {
    taken.range(..=span.end).next_back().is_some_and(|(_, end)| *end >= span.start)
}

fn attempt<E>(
    bytes: &[u8],
    findings: &[Finding],
    fixes: &[Chosen<'_>],
    seen: &[FileHash],
    find: &mut impl FnMut(&[u8]) -> Result<Vec<Finding>, E>,
) -> Result<Result<Round, DeclineReason>, E> {
    let Some(next) = spliced(bytes, fixes.iter().flat_map(|fix| &fix.fix.splices)) else {
        return Ok(Err(DeclineReason::OutOfPlace));
    };
    if seen.contains(&FileHash::of(&next)) {
        return Ok(Err(DeclineReason::Circular));
    }
    let left = find(&next)?;
    let (before, after) = (Tally::of(findings), Tally::of(&left));
    let made = Tally::of(fixes.iter().map(|fix| fix.finding));
    for fix in fixes {
        if after.count(fix.finding) + made.count(fix.finding) > before.count(fix.finding) {
            return Ok(Err(DeclineReason::Ineffective));
        }
    }
    let is_new = |finding: &&Finding| {
        finding.severity == Severity::Error && after.count(finding) > before.count(finding)
    };
    if let Some(error) = left.iter().find(is_new) {
        return Ok(Err(DeclineReason::NewError { rule: error.rule.id, message: error.message.clone() }));
    }
    Ok(Ok(Round { bytes: next, findings: left }))
}

/// Without positions: fixes move them.
struct Tally<'f>(HashMap<(&'static str, &'f str), usize>);

impl<'f> Tally<'f> {
    fn of(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut counts = HashMap::new();
        for finding in findings {
            *counts.entry(Self::key(finding)).or_default() += 1;
        }
        Self(counts)
    }

    fn key(finding: &Finding) -> (&'static str, &str) {
        (finding.rule.id, &finding.message)
    }

    fn count(&self, finding: &Finding) -> usize {
        self.0.get(&Self::key(finding)).copied().unwrap_or(0)
    }
}

/// `None` if splices overlap, exceed the file, or split a character.
fn spliced<'s>(bytes: &[u8], splices: impl Iterator<Item = &'s Splice>) -> Option<Vec<u8>> {
    let mut splices: Vec<_> = splices.collect();
    splices.sort_by_key(|splice| splice.span);
    let mut made = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for splice in splices {
        if splice.span.start > splice.span.end {
            return None;
        }
        made.extend_from_slice(bytes.get(at..splice.span.start)?);
        made.extend_from_slice(splice.text.as_bytes());
        at = splice.span.end;
    }
    made.extend_from_slice(bytes.get(at..)?);
    let is_torn = std::str::from_utf8(bytes).is_ok() && std::str::from_utf8(&made).is_err();
    (!is_torn).then_some(made)
}

/// Rules with missing facts find nothing.
pub struct Subject<'a> {
    pub artifact: &'a Artifact,
    tracked: Option<&'a TrackedArtifact>,
    progress: OnceCell<Option<Progress<'a>>>,
    autodev: OnceCell<Option<AutodevFacts>>,
    record: OnceCell<Option<Record>>,
    slice: OnceCell<Option<asdd::Record>>,
    asdd: OnceCell<Option<Arc<AsddFacts>>>,
    coordination: OnceCell<Option<Arc<CoordinationFacts>>>,
    pub(crate) environment: Option<&'a dyn RuleEnvironment>,
    pub(crate) chains: Option<&'a Chains>,
    /// `None`: new, or not loaded.
    pub(crate) base: Option<BaseVersion<'a>>,
}

/// On disk, in the git index, or in a commit.
pub trait RuleEnvironment {
    fn exists(&self, path: &ProjectPath) -> bool;
    /// From the [`SprintStatus`](crate::bmad::sprint::SprintStatus) at `ledger`; `story` is the file name.
    /// `None` also for an unreadable file.
    fn sprint_status(&self, ledger: &ProjectPath, story: &str) -> Option<String>;
    /// True if unknown.
    fn is_commit(&self, _name: &str) -> bool {
        true
    }
    fn manifest_row(&self, path: &ProjectPath) -> ManifestRow;
    fn autodev(&self, artifact: &Artifact) -> Option<AutodevFacts>;
    fn coordination(&self) -> Option<Arc<CoordinationFacts>>;
    fn asdd(&self) -> Option<Arc<AsddFacts>>;
    fn flows(&self) -> Option<Arc<FlowFacts>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestRow {
    /// No readable manifest, or the file is out of its scope.
    Uncovered,
    Missing,
    WithoutHash,
    Hash(FileHash),
}

impl<'a> Subject<'a> {
    pub fn of(tracked: &'a TrackedArtifact) -> Self {
        Self { tracked: Some(tracked), ..Self::alone(tracked.artifact()) }
    }

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

    pub fn chain(&self) -> Option<&'a Chain> {
        Some(&self.tracked?.workflow()?.chain)
    }

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

    pub(crate) fn kind(&self) -> Option<&'a Kind> {
        self.tracked?.lifecycle()?.kind.as_deref()
    }

    pub(crate) fn rival(&self) -> Option<&'a Kind> {
        self.tracked?.lifecycle()?.rival.as_deref()
    }

    pub(crate) fn autodev(&self) -> Option<&AutodevFacts> {
        self.autodev.get_or_init(|| self.environment?.autodev(self.artifact)).as_ref()
    }

    pub(crate) fn record(&self) -> Option<&Record> {
        // Fast path: most artifacts are not records.
        let read = || self.artifact.state().kind.and_then(|_| Record::of(self.artifact).ok());
        self.record.get_or_init(read).as_ref()
    }

    pub(crate) fn slice(&self) -> Option<&asdd::Record> {
        let read = || self.artifact.state().kind.and_then(|_| asdd::Record::of(self.artifact).ok());
        self.slice.get_or_init(read).as_ref()
    }

    pub(crate) fn asdd(&self) -> Option<&AsddFacts> {
        self.slice()?;
        self.asdd.get_or_init(|| self.environment?.asdd()).as_deref()
    }

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

    /// Without a list, the start of the file.
    pub(crate) fn list(&self) -> Span {
        self.artifact.steps().map_or(Span::at(0), |steps| steps.span)
    }

    pub(crate) fn item(&self, at: usize) -> (Span, &'a str) {
        let item = self.artifact.steps().and_then(|steps| steps.items.get(at));
        item.map_or((self.list(), ""), |item| (item.span, item.spelling.as_str()))
    }
}

/// At the base commit of a change.
#[derive(Clone, Copy)]
pub struct BaseVersion<'a> {
    pub tracked: &'a TrackedArtifact,
    /// `None`: history was not asked, so nothing is accepted.
    pub accepted: Option<&'a dyn AcceptedLosses>,
}

pub trait AcceptedLosses {
    /// The loss was recorded through stepmark.
    fn accepts(&self, loss: &Loss<'_>) -> bool;

    /// Something was accepted because of history that the newer state of the repository lacks: others cannot
    /// see the reason. Valid after all `accepts` calls.
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

#[cfg(test)]
mod cases;
