//! SM304: the lifecycle has no such state.

use crate::autodev::keeps_state;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM304",
    name: "status-unknown",
    group: Group::Status,
    severity: Severity::Warning,
    summary: "The lifecycle of the artifact has no such state.",
    why: "No move leads out of a state that nobody knows, so the artifact stays where it is, and every list by status \
          misses it.",
    bad: "---\ntype: feature\nstatus: reviewing\ncreated: 2026-01-02\ncontext: []\n---\n",
    good: "---\ntype: feature\nstatus: in-review\ncreated: 2026-01-02\ncontext: []\n---\n",
    fix: "Write one of the states that `stepmark lifecycle show` lists, or declare the state in the configuration.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    // The state file of autodev has a rule of its own.
    let Some(lifecycle) = subject.lifecycle().filter(|_| !keeps_state(subject.artifact.path())) else {
        return;
    };
    let Some(status) = &subject.artifact.state().status else { return };
    let Some(word) = status.filled().filter(|word| !is_placeholder(word)) else { return };
    if lifecycle.state_of(word).is_some() {
        return;
    }
    let states: Vec<String> = lifecycle.states().iter().map(|state| format!("`{}`", state.name)).collect();
    let message = format!("the lifecycle `{}` has no state `{word}`", lifecycle.name());
    found.push(
        subject.finding(&RULE, status.span, message).with_help(format!("it has {}", states.join(", "))),
    );
}

/// A template that nobody filled in is a finding of its own.
fn is_placeholder(word: &str) -> bool {
    word.contains(['{', '}'])
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    fn spec(status: &str) -> String {
        format!("---\ntype: feature\nstatus: {status}\ncreated: 2026-01-02\ncontext: []\n---\n")
    }

    #[test]
    fn a_state_is_one_of_the_lifecycle() {
        assert_eq!(
            found(&RULE, &spec("reviewing")),
            ["3:9 SM304 the lifecycle `bmad-spec` has no state `reviewing`"]
        );
        for status in ["draft", "done", "In-Review", "'{status}'", "''"] {
            assert!(found(&RULE, &spec(status)).is_empty(), "{status}");
        }
        assert!(
            found(&RULE, "---\nworkflowType: prd\nstatus: whatever\n---\n").is_empty(),
            "no lifecycle, no guess"
        );
    }
}
