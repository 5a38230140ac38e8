//! Findings that the configuration accepts.

use crate::check::{Group, Rule, rule::Decision};

/// Findings that a project accepts in some of its artifacts; which ones, the configuration says beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The rules that may be broken.
    pub rules: Vec<&'static Rule>,
    /// The reason.
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
