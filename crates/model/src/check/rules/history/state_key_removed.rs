//! SM904: a key that stepmark reads is gone.

use super::{is_finished, keys, readable_base, status_move};
use crate::check::{BaseVersion, Finding, Group, Loss, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The keys that hold state. Identities and step lists have rules of their own.
const STATE_KEYS: [&str; 10] = [
    "status",
    "validationStatus",
    "workflowType",
    "lastStep",
    "currentStep",
    "current_step",
    "scope",
    "delegation",
    "inputDocuments",
    "session",
];

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM904",
    name: "state-key-removed",
    group: Group::History,
    severity: Severity::Warning,
    summary: "A key that holds state was taken out of the frontmatter.",
    why: "Older tools and agents write back only the keys that they know. What is gone then cannot be told from what \
              never was.",
    bad: "---\n# in the last commit: workflowType: prd\nstepsCompleted: []\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: []\n---\n",
    fix: "Put the key back: `git show HEAD:PATH` has it.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    for key in removed(&base, subject).filter(|key| is_state_key(key)) {
        // Then SM902 tells.
        let tells_other = key == "status"
            && status_move(&base, subject.artifact)
                .is_some_and(|(before, _)| is_finished(base.lifecycle(), before));
        if !tells_other {
            let message = format!("the key `{key}` was there before this change, and is gone");
            let help = format!("put it back: `git show HEAD:./{}` has it", base.artifact().path());
            found.push(subject.finding(&RULE, Span::at(0), message).with_help(help));
        }
    }
}

/// Returns whether the key holds state that stepmark reads.
pub(super) fn is_state_key(key: &str) -> bool {
    STATE_KEYS.contains(&key)
}

/// The keys that said something, are gone, and history does not know why; in the order of the file.
pub(super) fn removed(base: &BaseVersion<'_>, subject: &Subject<'_>) -> impl Iterator<Item = String> {
    let keys = keys(base.artifact()).zip(subject.artifact.state_value().ok());
    let removed: Vec<String> = keys.map_or_else(Vec::new, |(before, after)| {
        let is_gone = |key: &String| after.get(key.as_str()).is_none();
        before.into_iter().map(|(key, _)| key).filter(is_gone).collect()
    });
    let accepted = *base;
    removed.into_iter().filter(move |key| !accepted.accepts(Loss::Value { key }))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Accepts, found_after, found_after_all};
    use super::RULE;
    use crate::check::Loss;

    #[test]
    fn a_key_that_said_something_is_missed() {
        for (before, after, expected) in [
            ("status: draft\nscope: small", "status: draft", 1),
            ("status: draft\nscope: small", "x: 1", 2),
            ("status: draft\nscope:", "status: draft", 0),
            ("status: draft", "status:", 0),
            ("status: done", "x: 1", 0),
            ("status: draft\nauthor: Ada", "status: draft", 0),
            ("status: draft\nscope: small", "status: draft\nscope: small\nscope: big", 0),
        ] {
            assert_eq!(found_after(&RULE, before, after).len(), expected, "{before} → {after}");
        }
        let accepted = Accepts(&[Loss::Value { key: "scope" }]);
        assert!(found_after_all(&RULE, "status: draft\nscope: small", "status: draft", &accepted).is_empty());
    }
}
