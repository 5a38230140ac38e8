//! SMP05: a record whose state is frozen was changed.

use super::Past;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::lifecycle::ChangeRefusal;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMP05",
    name: "frozen-changed",
    group: Group::Systems,
    severity: Severity::Error,
    summary: "A record in a frozen state was changed since the last commit, and history does not tell of it.",
    why: "What is frozen was agreed on, and others build on it as it is. Only a move that the lifecycle has changes it.",
    bad: "---\n# in the last commit: title: One\nstatus: FROZEN\ntitle: Two\n---\n",
    good: "---\nstatus: FROZEN\ntitle: One\n---\n",
    fix: "Put it back: `git show HEAD:PATH` has it. If it has to be, `stepmark set … --force --reason TEXT` makes the change, \
          and history tells why.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(past) = Past::of(subject) else { return };
    let is_frozen = |refusal: &ChangeRefusal| matches!(refusal, ChangeRefusal::Frozen { .. });
    let Some(refusal) = past.refusals(subject).into_iter().find(is_frozen) else { return };
    let Some((key, span)) = past.unexplained(subject) else { return };
    let help = format!("put `{key}` back: `git show HEAD:./{}` has it", subject.artifact.path());
    found.push(subject.finding(&RULE, span, refusal.to_string()).with_help(help));
}

#[cfg(test)]
mod tests {
    use super::{super::sample::found_after, RULE};

    #[test]
    fn a_frozen_record_changes_by_a_move_or_a_reason() {
        for (before, after, explained, expected) in [
            ("status: closed\nt: 1", "status: closed\nt: 2", &[][..], 1),
            ("status: closed\nt: 1", "status: closed\nt: 2", &["t"], 0),
            ("status: closed\nt: 1", "status: accepted\nt: 2", &[], 0),
            ("status: closed\nt: 1", "status: open\nt: 1", &[], 1),
            ("status: open\nt: 1", "status: open\nt: 2", &[], 0),
            ("status: closed\nt: 1", "t: 1\nstatus: closed # still", &[], 0),
        ] {
            assert_eq!(found_after(&RULE, before, after, explained).len(), expected, "{before} → {after}");
        }
        assert_eq!(
            found_after(&RULE, "status: closed", "status: closed\nt: 2", &[]),
            [
                "3:4 SMP05 it is `closed`, which the lifecycle `run` leaves as it is: only a move to `accepted` changes it"
            ]
        );
    }
}
