//! SM701: `scope` is none of the five words.

use super::nearest;
use crate::{
    artifact::Scope,
    check::{Finding, Fix, Group, Rule, Safety, Severity, Subject, rule::Decision},
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM701",
    name: "scope-unknown",
    group: Group::Scope,
    severity: Severity::Warning,
    summary: "`scope` is none of micro, small, medium, large and epic.",
    why: "Who plans by the scope takes the work for work without one.",
    bad: "---\nstatus: draft\nscope: huge\nscope_source: human\n---\n",
    good: "---\nstatus: draft\nscope: epic\nscope_source: human\n---\n",
    fix: "`stepmark scope ARTIFACT SCOPE` writes one of the five. Other programs keep sentences under this key: a text is found only \
           beside `scope_source` or `scope_confidence`, or where it looks like one of the words.",
    decision: Decision::OfArtifact(check),
};

const WORDS: [&str; 5] = ["micro", "small", "medium", "large", "epic"];

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let state = subject.artifact.state();
    let (Some(field), Some(Scope::Unknown(text))) = (&state.scope, state.scope()) else { return };
    let is_ours = state.scope_source.is_some() || state.scope_confidence.is_some();
    let near = nearest(text.trim(), &WORDS);
    if text.contains(['{', '}']) || !is_ours && near.is_none() {
        return;
    }
    let message = format!("`{text}` is no scope");
    let fix = near.map(|word| Fix::splice(Safety::Unsafe, format!("write `{word}`"), field.span, word));
    let finding = subject.finding(&RULE, field.span, message);
    found.push(finding.with_help("write micro, small, medium, large or epic").with_fix(fix));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn a_scope_is_one_of_five_words() {
        let file = "---\nstatus: draft\nscope: huge\nscope_source: human\n---\n";
        assert_eq!(found(&RULE, file), ["3:8 SM701 `huge` is no scope"]);
        assert_eq!(fixed(&RULE, file), None);
        let typo = "---\nscope: Meduim\nstatus: draft\n---\n";
        assert_eq!(found(&RULE, typo), ["2:8 SM701 `Meduim` is no scope"]);
        assert_eq!(fixed(&RULE, typo), Some(typo.replace("Meduim", "medium")));
        for scope in ["epic", "Large", "backend", "all of the payment flows", "'{{scope}}'", "", "[a]"] {
            assert!(
                found(&RULE, &format!("---\nscope: {scope}\nstatus: draft\n---\n")).is_empty(),
                "{scope}"
            );
        }
    }
}
