//! SM704: something says who gave the scope, or how sure an AI was of it, and there is no scope.

use crate::{
    artifact::Field,
    check::{Finding, Group, Rule, Severity, Subject, rule::Decision},
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM704",
    name: "scope-missing",
    group: Group::Scope,
    severity: Severity::Warning,
    summary: "`scope_source` or `scope_confidence` stands there without a `scope`.",
    why: "The scope was lost, or was never written: what is left says something about nothing.",
    bad: "---\nstatus: draft\nscope_source: ai\nscope_confidence: 0.85\n---\n",
    good: "---\nstatus: draft\nscope: small\nscope_source: ai\nscope_confidence: 0.85\n---\n",
    fix: "`stepmark scope ARTIFACT SCOPE` writes a scope; else take the others out.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let state = subject.artifact.state();
    // A list or a map under `scope` is something else, and nobody misses a scope.
    let is_there = state.scope().is_some() || state.other_keys.iter().any(|key| key == "scope");
    let said = [&state.scope_source, &state.scope_confidence];
    let Some(field) = said.into_iter().flatten().find(|field| Field::filled(field).is_some()) else { return };
    if !is_there {
        let message = format!("`{}` says something about a scope, and there is none", field.key);
        found
            .push(subject.finding(&RULE, field.span, message).with_help("write the scope, or take this out"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn nothing_is_said_about_no_scope() {
        assert_eq!(
            found(&RULE, "---\nscope_source: ai\nscope_confidence: 0.85\nstatus: a\n---\n"),
            ["2:15 SM704 `scope_source` says something about a scope, and there is none"]
        );
        assert_eq!(found(&RULE, "---\nscope:\nscope_confidence: 0.85\nstatus: a\n---\n").len(), 1);
        for keys in
            ["scope: small\nscope_source: ai", "scope_source:", "status: b", "scope: [a]\nscope_source: ai"]
        {
            assert!(found(&RULE, &format!("---\n{keys}\nlastStep: 1\n---\n")).is_empty(), "{keys}");
        }
    }
}
