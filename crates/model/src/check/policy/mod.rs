//! Policy on findings: reported, at a severity of the project's choice, or accepted with a reason.
//!
//! Suppressions come before severities, so that a suppression of a rule that is turned off is not unused.

mod comment;

pub use comment::{Level, LevelError, Levels};

use super::{
    Finding, Group, Rule, Subject,
    rule::Decision,
    rules::suppression::{unreadable_finding, unused_finding, without_reason_finding},
};
use comment::{SuppressionComment, suppression_comments};

#[derive(Clone, Copy, Debug)]
pub struct Policy<'c> {
    pub levels: &'c Levels,
    pub allowed: &'c [&'c Allowance],
}

/// Findings that a project accepts in some of its artifacts; which ones, the configuration says beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub rules: Vec<&'static Rule>,
    pub reason: String,
}

impl Allowance {
    /// The rules of which a check of the whole project can say that they accept nothing: not those that look
    /// at what became of files, which takes two states of them, nor at gates, which are those of one clone.
    pub fn judged_rules(&self) -> impl Iterator<Item = &'static Rule> {
        let is_judged = |rule: &&'static Rule| {
            !matches!(rule.group, Group::History | Group::Gates)
                && !matches!(rule.decision, Decision::WhenDeleted(_))
        };
        self.rules.iter().copied().filter(is_judged)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Judged {
    pub findings: Vec<Finding>,
    pub suppressed: usize,
    /// The places in [`Policy::allowed`] of what accepted something, each with the rule of that.
    pub used: Vec<(usize, &'static Rule)>,
    /// The places of what accepted nothing, though it may have where more were known about the artifact.
    pub undecided: Vec<(usize, &'static Rule)>,
}

impl Policy<'_> {
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
                (None, Some(at)) => judged.used.push((at, finding.rule)),
                (None, None) => {
                    judged.findings.push(finding);
                    continue;
                }
            }
            judged.suppressed += 1;
        }
        judged.used.sort_unstable_by_key(|(at, rule)| (*at, rule.id));
        judged.used.dedup();
        judged.undecided = self.undecided(subject, &judged.used);
        for (comment, used) in comments.iter().zip(&use_of_comments) {
            judged.findings.extend(faults(subject, comment, used));
        }
        judged.findings.retain_mut(|finding| self.levels.apply(finding));
        judged.findings.sort_by_key(|finding| (finding.span, finding.rule.id));
        judged
    }

    /// The rules of allowances that were not `used`, and that nobody looked for.
    fn undecided(
        &self,
        subject: &Subject<'_>,
        used: &[(usize, &'static Rule)],
    ) -> Vec<(usize, &'static Rule)> {
        let all = self.allowed.iter().enumerate();
        let rules = all.flat_map(|(at, allowance)| allowance.judged_rules().map(move |rule| (at, rule)));
        // What is found beside the artifacts is no matter of one.
        let is_of_artifact = |rule: &Rule| rule.decision.is_of_artifact();
        let is_open = |(_, rule): &(usize, &Rule)| is_of_artifact(rule) && !was_looked_for(rule, subject);
        rules.filter(is_open).filter(|open| !used.contains(open)).collect()
    }

    /// Applies the policy to `findings` in a file beside the artifacts, which has no suppressions of its own.
    pub fn judge_beside(&self, findings: Vec<Finding>) -> Judged {
        let mut judged = Judged::default();
        for mut finding in findings {
            let accepting = self.allowed.iter().position(|allowance| allowance.rules.contains(&finding.rule));
            match accepting.filter(|_| finding.rule.group != Group::Suppressions) {
                Some(at) => {
                    judged.used.push((at, finding.rule));
                    judged.suppressed += 1;
                }
                None if self.levels.apply(&mut finding) => judged.findings.push(finding),
                None => {}
            }
        }
        judged
    }
}

fn faults(subject: &Subject<'_>, comment: &SuppressionComment, used: &[&'static Rule]) -> Vec<Finding> {
    if let Some(fault) = &comment.fault {
        return vec![unreadable_finding(subject, comment.span, fault)];
    }
    let mut found = Vec::new();
    if comment.reason.is_empty() {
        found.push(without_reason_finding(subject, comment.span));
    }
    let idle: Vec<_> = comment
        .rules
        .iter()
        .copied()
        .filter(|rule| !used.contains(rule) && was_looked_for(rule, subject))
        .collect();
    if !idle.is_empty() {
        found.push(unused_finding(subject, comment.span, &idle, comment.rules.len()));
    }
    found
}

/// Returns whether `rule` had the facts to find anything: else its suppression may be in use.
fn was_looked_for(rule: &Rule, subject: &Subject<'_>) -> bool {
    if !rule.decision.is_of_artifact() {
        return false;
    }
    match rule.group {
        Group::Document | Group::Scope => true,
        Group::Steps => subject.chain().is_some(),
        Group::Status
        | Group::References
        | Group::Manifest
        | Group::Asdd
        | Group::Coordination
        | Group::Autodev
        | Group::Flows => subject.environment.is_some(),
        Group::Delegation => subject.chains.is_some(),
        Group::History | Group::Systems => subject.base.is_some(),
        Group::Suppressions | Group::Gates | Group::Memory | Group::Bmad => false,
    }
}

#[cfg(test)]
mod cases;
