//! SM702: `scope_source` is neither a person nor an AI.

use super::SOURCES;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM702",
    name: "scope-source-unknown",
    group: Group::Scope,
    severity: Severity::Warning,
    summary: "`scope_source` is neither `human` nor `ai`.",
    why: "The scope of a person stands until a person changes it. Where nobody can tell who gave it, an AI overwrites it.",
    bad: "---\nstatus: draft\nscope: small\nscope_source: Ada\n---\n",
    good: "---\nstatus: draft\nscope: small\nscope_source: human\n---\n",
    fix: "`stepmark scope ARTIFACT SCOPE [--by WHO]` writes both.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(field) = &subject.artifact.state().scope_source else { return };
    let Some(text) = field.filled().filter(|text| !text.contains(['{', '}'])) else { return };
    if !SOURCES.iter().any(|source| text.trim().eq_ignore_ascii_case(source)) {
        let finding = subject.finding(&RULE, field.span, format!("`{text}` is no source of a scope"));
        found.push(finding.with_help("write `human` or `ai`"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_person_or_an_ai() {
        let by = |source: &str| found(&RULE, &format!("---\nscope: small\nscope_source: {source}\n---\n"));
        assert_eq!(by("Ada"), ["3:15 SM702 `Ada` is no source of a scope"]);
        for source in ["human", "ai", "AI", "", "'{{source}}'"] {
            assert!(by(source).is_empty(), "{source}");
        }
    }
}
