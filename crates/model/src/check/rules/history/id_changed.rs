//! SM906: an artifact is called something else.

use super::readable_base;
use crate::artifact::{Artifact, Field};
use crate::check::{Finding, Group, Loss, Rule, Severity, Subject, rule::Decision};
use stepmark_frontmatter::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM906",
    name: "id-changed",
    group: Group::History,
    severity: Severity::Error,
    summary: "The id of an artifact is another one than in the last commit.",
    why: "History, gates, leases, delegated work and tickets know an artifact by its id. Under another one it is new to all of \
              them, and what they know hangs in the air.",
    bad: "---\n# in the last commit: id: PRD-1\nid: PRD-2\nstatus: draft\n---\n",
    good: "---\nid: PRD-1\nstatus: draft\n---\n",
    fix: "Put the id back. A copy that became an artifact of its own is committed as a new file.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(base) = readable_base(subject) else { return };
    let Some(before) = identity(base.artifact()) else { return };
    let after = identity(subject.artifact);
    let is_same = after.is_some_and(|after| after.text == before.text);
    if is_same || base.accepts(Loss::Value { key: &before.key }) {
        return;
    }
    let (span, now) = match after {
        Some(after) => (after.span, format!("is `{}` now", after.text)),
        None => (Span::at(0), "has none any more".to_owned()),
    };
    let message = format!("this artifact had the id `{}` before this change, and {now}", before.text);
    let help = format!(
        "put `{}: {}` back: history, gates and tickets know the artifact by it",
        before.key, before.text
    );
    found.push(subject.finding(&RULE, span, message).with_help(help));
}

/// The field by which all else knows the artifact: its id, else the one that `track` gave it (docs/design.md,
/// "Identity").
fn identity(artifact: &Artifact) -> Option<&Field> {
    let state = artifact.state();
    [&state.id, &state.stepmark_id].into_iter().flatten().find(|field| field.filled().is_some())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Accepts, found_after, found_after_all};
    use super::RULE;
    use crate::check::Loss;

    #[test]
    fn an_id_stays() {
        for (before, after, expected) in [
            ("id: A", "id: B", 1),
            ("id: A", "status: draft", 1),
            ("stepmark_id: A", "id: B\nstepmark_id: A", 1),
            ("stepmark_id: A", "stepmark_id: B", 1),
            ("id: A", "id: 'A'", 0),
            ("id: A", "id: A\nstepmark_id: B", 0),
            ("status: draft", "id: A", 0),
            ("id:", "id: A", 0),
            ("id: A", "id: [A", 0),
        ] {
            assert_eq!(found_after(&RULE, before, after).len(), expected, "{before} → {after}");
        }
        let found = found_after(&RULE, "id: A", "id: B");
        assert_eq!(found, ["2:5 SM906 this artifact had the id `A` before this change, and is `B` now"]);
        assert!(found_after_all(&RULE, "id: A", "id: B", &Accepts(&[Loss::Value { key: "id" }])).is_empty());
    }
}
