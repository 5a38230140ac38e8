//! What the configuration accepts.

use crate::check::{Group, Rule, rule::Decision};

/// Findings that a project accepts in some of its artifacts; which ones, the configuration says beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The rules that may be broken.
    pub rules: Vec<&'static Rule>,
    /// Why.
    pub reason: String,
}

impl Allowance {
    /// Whether a check of the whole project can say that it is of no use: not where a rule looks at what became of files, which
    /// takes two states of them.
    pub fn is_judged(&self) -> bool {
        let takes_history =
            |rule: &&Rule| rule.group == Group::History || matches!(rule.decision, Decision::WhenDeleted(_));
        !self.rules.iter().any(takes_history)
    }
}
