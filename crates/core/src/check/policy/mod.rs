//! What becomes of a finding: reported, at a severity of the project's choice, or accepted with a reason.
//!
//! Suppressions come before severities, so that a suppression of a rule that is turned off is not unused.

mod allowance;
mod comment;
mod coverage;
mod level;

pub use allowance::Allowance;
pub use level::{Level, LevelError, Levels};

use super::{
    Finding, Group, Rule, Subject,
    rule::Decision,
    rules::suppression::{unreadable, unused, without_reason},
};
use comment::{SuppressionComment, suppression_comments};

/// What the configuration says about the findings of one artifact.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'c> {
    /// The severities.
    pub levels: &'c Levels,
    /// What is accepted in this artifact, by the configuration.
    pub allowed: &'c [&'c Allowance],
}

/// What became of the findings of one artifact.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Those that are reported, in file order.
    pub findings: Vec<Finding>,
    /// How many were accepted by a suppression.
    pub suppressed: usize,
    /// The places in [`Policy::allowed`] of what accepted something.
    pub used: Vec<usize>,
    /// The places of what accepted nothing, though it may have where more were known about the artifact.
    pub undecided: Vec<usize>,
}

impl Policy<'_> {
    /// Decides about `findings`, all of which are of `subject`.
    pub fn judge(&self, subject: &Subject<'_>, findings: Vec<Finding>) -> Judged {
        let mut judged = Judged::default();
        let comments = suppression_comments(subject.artifact);
        let mut use_of_comments = vec![Vec::new(); comments.len()];
        for finding in findings {
            let by_comment = comments.iter().position(|comment| comment.accepts(&finding));
            let by_configuration =
                self.allowed.iter().position(|allowance| allowance.rules.contains(&finding.rule));
            match (by_comment, by_configuration) {
                (Some(at), _) => use_of_comments[at].push(finding.rule),
                (None, Some(at)) => judged.used.push(at),
                (None, None) => {
                    judged.findings.push(finding);
                    continue;
                }
            }
            judged.suppressed += 1;
        }
        judged.used.sort_unstable();
        judged.used.dedup();
        judged.undecided = self.undecided(subject, &judged.used);
        for (comment, used) in comments.iter().zip(&use_of_comments) {
            judged.findings.extend(faults(subject, comment, used));
        }
        judged.findings.retain_mut(|finding| self.levels.apply(finding));
        judged.findings.sort_by_key(|finding| (finding.span, finding.rule.id));
        judged
    }

    /// The allowances that were not `used`, and for which a rule was not looked for.
    fn undecided(&self, subject: &Subject<'_>, used: &[usize]) -> Vec<usize> {
        let is_open =
            |allowance: &Allowance| allowance.rules.iter().any(|rule| !was_looked_for(rule, subject));
        let open = self.allowed.iter().enumerate().filter(|(_, allowance)| is_open(allowance));
        open.map(|(at, _)| at).filter(|at| !used.contains(at)).collect()
    }

    /// What is left of `findings` in a file beside the artifacts, which has no suppressions of its own.
    pub fn judge_beside(&self, findings: Vec<Finding>) -> Judged {
        let mut judged = Judged::default();
        for mut finding in findings {
            let accepting = self.allowed.iter().position(|allowance| allowance.rules.contains(&finding.rule));
            match accepting.filter(|_| finding.rule.group != Group::Suppressions) {
                Some(at) => {
                    judged.used.push(at);
                    judged.suppressed += 1;
                }
                None if self.levels.apply(&mut finding) => judged.findings.push(finding),
                None => {}
            }
        }
        judged
    }
}

/// What is wrong with a suppression that accepted findings of the rules `used`.
fn faults(subject: &Subject<'_>, comment: &SuppressionComment, used: &[&'static Rule]) -> Vec<Finding> {
    if let Some(fault) = &comment.fault {
        return vec![unreadable::finding(subject, comment.span, fault)];
    }
    let mut found = Vec::new();
    if comment.reason.is_empty() {
        found.push(without_reason::finding(subject, comment.span));
    }
    let idle: Vec<_> = comment
        .rules
        .iter()
        .copied()
        .filter(|rule| !used.contains(rule) && was_looked_for(rule, subject))
        .collect();
    if !idle.is_empty() {
        found.push(unused::finding(subject, comment.span, &idle, comment.rules.len()));
    }
    found
}

/// Whether `rule` would have been found where it is broken: a rule whose facts are missing finds nothing, and then nobody can
/// say that its suppression is unused.
fn was_looked_for(rule: &Rule, subject: &Subject<'_>) -> bool {
    if !matches!(rule.decision, Decision::OfArtifact(_)) {
        return false;
    }
    match rule.group {
        Group::Document | Group::Scope => true,
        Group::Steps => subject.progress.is_some(),
        Group::Status | Group::References | Group::Manifest => subject.surroundings.is_some(),
        Group::Delegation => subject.chains.is_some(),
        Group::History => subject.past.is_some(),
        Group::Suppressions | Group::Gates => false,
    }
}

#[cfg(test)]
mod cases;
