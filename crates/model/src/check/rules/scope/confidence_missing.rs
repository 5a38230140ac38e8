//! SM705: an AI gave the scope and does not say how sure it is.

use super::is_by_ai;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM705",
    name: "scope-confidence-missing",
    group: Group::Scope,
    severity: Severity::Note,
    summary: "An AI gave the scope and does not say how sure it is.",
    why: "A scope that was guessed counts as much as one that is certain.",
    bad: "---\nstatus: draft\nscope: small\nscope_source: ai\n---\n",
    good: "---\nstatus: draft\nscope: small\nscope_source: ai\nscope_confidence: 0.85\n---\n",
    fix: "`stepmark scope ARTIFACT SCOPE --by ai --confidence 0.85` writes both; a person confirms a scope with `--by human`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let state = subject.artifact.state();
    let (Some(source), Some(_)) = (&state.scope_source, state.scope()) else { return };
    let is_sure = state.scope_confidence.as_ref().is_some_and(|confidence| confidence.filled().is_some());
    if is_by_ai(state) && !is_sure {
        let message = "an AI gave this scope, and does not say how sure it is";
        found.push(
            subject.finding(&RULE, source.span, message).with_help("add `scope_confidence`, from 0 to 1"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn an_ai_says_how_sure_it_is() {
        assert_eq!(
            found(&RULE, "---\nscope: small\nscope_source: AI\nstatus: a\n---\n"),
            ["3:15 SM705 an AI gave this scope, and does not say how sure it is"]
        );
        for keys in [
            "scope: small\nscope_source: human",
            "scope: small\nscope_source: ai\nscope_confidence: 0",
            "scope_source: ai",
        ] {
            assert!(found(&RULE, &format!("---\n{keys}\nstatus: a\n---\n")).is_empty(), "{keys}");
        }
    }
}
