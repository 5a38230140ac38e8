//! SM908: history that explains a change is not in the commit.

use super::readable_base;
use crate::check::{AcceptedLosses, Finding, Group, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The rule. It stands behind those that ask history.
pub(crate) static RULE: Rule = Rule {
    id: "SM908",
    name: "history-missing",
    group: Group::History,
    severity: Severity::Error,
    summary: "History tells why something was taken away, but the commit does not hold that part of history.",
    why: "The journal of this clone explains the change, so nothing is wrong here. Another clone, or CI, has only what is committed: there \
              the same change has no explanation and is refused (SM901).",
    bad: "---\n# step 3 was reopened, and the segment with that event is not staged\nstepsCompleted: [1, 2]\n---\n",
    good: "---\n# the segment is committed with the artifact\nstepsCompleted: [1, 2]\n---\n",
    fix: "Run `stepmark journal seal --stage` and commit again: it puts the events of the staged artifacts into the commit, and those of all \
              artifacts where nothing is staged, as before a push. `git commit FILE` would leave them out: commit what is staged. The hook that \
              `stepmark hook install` writes does so by itself; pre-commit, prek and lefthook may not stage files.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let is_missing =
        readable_base(subject).and_then(|base| base.accepted).is_some_and(AcceptedLosses::is_missing);
    if is_missing {
        found.push(finding(subject));
    }
}

/// The finding in an artifact that lost something, or is deleted.
pub fn finding(subject: &Subject<'_>) -> Finding {
    let message = "what was taken away here is explained by history that the commit does not hold".to_owned();
    subject
        .finding(&RULE, Span::at(0), message)
        .with_help("run `stepmark journal seal --stage`, and commit again without naming files")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Loss;
    use crate::check::rules::history::sample::{found_after, found_after_all};

    /// Accepts everything, by what is not committed.
    struct Local;

    impl AcceptedLosses for Local {
        fn accepts(&self, _: &Loss<'_>) -> bool {
            true
        }

        fn is_missing(&self) -> bool {
            true
        }
    }

    #[test]
    fn only_what_is_not_committed_is_told() {
        let (before, after) = ("stepsCompleted: [1, 2]", "stepsCompleted: [1]");
        assert_eq!(found_after_all(&RULE, before, after, &Local).len(), 1);
        assert!(found_after(&RULE, before, after).is_empty());
    }
}
