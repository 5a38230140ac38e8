//! SMP04: something was taken out of a list that only grows.

use super::Past;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision, rules::value_span};
use crate::lifecycle::ChangeRefusal;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SMP04",
    name: "append-only-changed",
    group: Group::Systems,
    severity: Severity::Error,
    summary: "An entry of a list that only grows was changed or taken away since the last commit.",
    why: "Such a list is the record of what was tried and found: others rely on it as it was. No command of stepmark \
          changes it, whoever insists.",
    bad: "---\n# in the last commit: attempts: [{attempt_id: a}, {attempt_id: b}]\nattempts: [{attempt_id: b}]\n---\n",
    good: "---\nattempts: [{attempt_id: a}, {attempt_id: b}]\n---\n",
    fix: "Put the entries back as they were: `git show HEAD:PATH` has them. What is wrong with an entry is said in a new \
          one.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(past) = Past::of(subject) else { return };
    for refusal in past.refusals(subject) {
        let ChangeRefusal::NotAppended { key, .. } = &refusal else { continue };
        let keys: Vec<&str> = key.split('.').collect();
        let span = value_span(subject.artifact, &keys);
        let help = format!("put them back: `git show HEAD:./{}` has them", subject.artifact.path());
        found.push(subject.finding(&RULE, span, refusal.to_string()).with_help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::found_after, RULE};

    #[test]
    fn only_what_is_added_behind_is_no_loss() {
        for (before, after, expected) in [
            ("attempts: [a]", "attempts: [a, b]", 0),
            ("attempts: [a, b]", "attempts: [b, a]", 1),
            ("attempts: [a]", "x: 1", 1),
            ("x: 1", "attempts: [a]", 0),
            ("other: [a]", "other: []", 0),
        ] {
            assert_eq!(found_after(&RULE, before, after, &[]).len(), expected, "{before} → {after}");
        }
        let found = found_after(&RULE, "attempts: [a, b]", "x: 1\nattempts: [a]", &["attempts"]);
        assert_eq!(
            found,
            [
                "3:11 SMP04 `attempts` only grows by the lifecycle `run`: of its 2 entries the 2nd was changed or taken away"
            ],
            "history explains no loss here"
        );
    }
}
