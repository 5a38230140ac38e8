//! Making fixes: bytes and the fixes of their findings → new bytes, each round proven.
//!
//! **Flow.** The fixes that are allowed and do not touch each other are made together; the file is checked
//! again; what is left comes in the next round. **Guarantee.** Only bytes that a fix replaces differ; every
//! finding that was fixed is gone; no error is there that was not there before. A fix that cannot be made so
//! is declined with the reason.

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

/// The largest number of rounds; what is left after them waits for the next run.
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
        /// The id of the rule that would be broken.
        rule: &'static str,
        message: String,
    },
}

/// Makes the `allowed` fixes that can be made faithfully; `find` tells what is wrong, in file order.
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
        // Together they are no good; each is given its chance, and the first that is good ends the round.
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

/// The fixes of a round, in file order: allowed, not declined before, and none touching another.
fn chosen<'f>(findings: &'f [Finding], allowed: Safety, declined: &[Declined]) -> Vec<Chosen<'f>> {
    let mut chosen: Vec<Chosen<'f>> = Vec::new();
    // The bytes that are replaced, by their starts: none touches another, but for those of one fix.
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

/// Returns whether `span` shares bytes with one of `taken`, or stands side by side with it.
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

/// The number of findings by rule and message. Positions are no part of it: a fix moves them.
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

/// `bytes` with all `splices` made; `None` where one lies outside or over another, or would tear a text.
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

/// An artifact with what is known around it; a rule whose facts are missing finds nothing.
pub struct Subject<'a> {
    pub artifact: &'a Artifact,
    /// The artifact with its workflow and lifecycles, where these were looked up.
    tracked: Option<&'a TrackedArtifact>,
    progress: OnceCell<Option<Progress<'a>>>,
    autodev: OnceCell<Option<AutodevFacts>>,
    record: OnceCell<Option<Record>>,
    slice: OnceCell<Option<asdd::Record>>,
    asdd: OnceCell<Option<Arc<AsddFacts>>>,
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

#[cfg(test)]
mod cases;
