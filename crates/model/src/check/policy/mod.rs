//! Policy: findings are reported, get another severity, or are accepted with a reason.
//!
//! Suppressions come before severities, so that one for a disabled rule does not count as unused.

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

/// Accepted findings; the configuration says in which artifacts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub rules: Vec<&'static Rule>,
    pub reason: String,
}

impl Allowance {
    /// Rules that a check of the whole project can find unused. Excludes rules that compare two states of
    /// files, and gates, which are local to a clone.
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
    /// Indices into [`Policy::allowed`], each with the rule that was accepted.
    pub used: Vec<(usize, &'static Rule)>,
    /// Unused so far; more facts about the artifact could change that.
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

    fn undecided(
        &self,
        subject: &Subject<'_>,
        used: &[(usize, &'static Rule)],
    ) -> Vec<(usize, &'static Rule)> {
        let all = self.allowed.iter().enumerate();
        let rules = all.flat_map(|(at, allowance)| allowance.judged_rules().map(move |rule| (at, rule)));
        // Rules about other files do not concern artifacts.
        let is_of_artifact = |rule: &Rule| rule.decision.is_of_artifact();
        let is_open = |(_, rule): &(usize, &Rule)| is_of_artifact(rule) && !was_looked_for(rule, subject);
        rules.filter(is_open).filter(|open| !used.contains(open)).collect()
    }

    /// For files beside the artifacts, which have no suppression comments.
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
