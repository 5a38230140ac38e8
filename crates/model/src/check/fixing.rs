//! Making fixes: bytes and the fixes of their findings → new bytes, each round proven.
//!
//! **Flow.** The fixes that are allowed and do not touch each other are made together; the file is checked
//! again; what is left comes in the next round. **Guarantee.** Only bytes that a fix replaces differ; every
//! finding that was fixed is gone; no error is there that was not there before. A fix that cannot be made so
//! is declined with the reason.

use std::collections::{BTreeMap, HashMap};

use super::{Finding, Fix, Rule, Safety, Severity};
use crate::artifact::FileHash;
use stepmark_frontmatter::{Span, Splice};

/// The largest number of rounds; what is left after them waits for the next run.
const MAX_ROUNDS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedFile {
    pub bytes: Vec<u8>,
    pub made: Vec<Remedy>,
    /// The fixes that were allowed and not made.
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

/// Makes the fixes that are `allowed` in a file of `bytes`, as far as they can be made faithfully. `find`
/// tells what is wrong with bytes of this file, in file order.
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

/// A file after a round, and what is wrong with it now.
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

/// `bytes` with all `splices` made; `None` where one lies outside of the file or over another, or a text
/// would end up torn.
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

#[cfg(test)]
mod cases;
