//! SM703: `scope_confidence` is no number from 0 to 1.

use crate::check::{Finding, Fix, Group, Rule, Safety, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM703",
    name: "scope-confidence-wrong",
    group: Group::Scope,
    severity: Severity::Warning,
    summary: "`scope_confidence` is no number from 0 to 1.",
    why: "Whoever compares it with a threshold takes 85 for more than certain, and `high` for nothing.",
    bad: "---\nstatus: draft\nscope: small\nscope_source: ai\nscope_confidence: 85\n---\n",
    good: "---\nstatus: draft\nscope: small\nscope_source: ai\nscope_confidence: 0.85\n---\n",
    fix: "Write a number from 0, not at all, to 1, certain.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(field) = &subject.artifact.state().scope_confidence else { return };
    let Some(text) = field.filled().map(str::trim).filter(|text| !text.contains(['{', '}'])) else { return };
    if text.parse::<f64>().is_ok_and(|number| (0.0..=1.0).contains(&number)) {
        return;
    }
    let finding = subject.finding(&RULE, field.span, format!("`{text}` is no number from 0 to 1"));
    let fix = of_hundred(text)
        .map(|number| Fix::splice(Safety::Unsafe, format!("write `{number}`"), field.span, number.as_str()));
    found.push(finding.with_help("write a number from 0 to 1").with_fix(fix));
}

/// `85` and `85%` as the number that is meant: more than 1, up to 100, and whole.
fn of_hundred(text: &str) -> Option<String> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim_end().parse::<u8>().ok()?;
    (2..=100).contains(&percent).then(|| (f64::from(percent) / 100.0).to_string())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn a_confidence_lies_between_0_and_1() {
        let file = |text: &str| format!("---\nscope: small\nscope_confidence: {text}\nstatus: a\n---\n");
        for text in ["85", "-0.1", "1.01", "high", "85%", "NaN"] {
            let found = found(&RULE, &file(text));
            assert_eq!(found, [format!("3:19 SM703 `{text}` is no number from 0 to 1")]);
        }
        for text in ["0", "1", "0.5", "'0.85'", "1e-3", "", "'{{confidence}}'"] {
            assert!(found(&RULE, &file(text)).is_empty(), "{text}");
        }
        assert_eq!(fixed(&RULE, &file("85")), Some(file("0.85")));
        assert_eq!(fixed(&RULE, &file("70%")), Some(file("0.7")));
        assert_eq!(fixed(&RULE, &file("850")), None);
    }
}
