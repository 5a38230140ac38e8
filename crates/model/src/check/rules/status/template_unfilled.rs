//! SM303: a key still holds the placeholder of its template.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM303",
    name: "template-unfilled",
    group: Group::Status,
    severity: Severity::Note,
    summary: "A key still holds the placeholder of its template.",
    why: "`{ system-date }` is a map to YAML, so tools that expect a text stumble over it.",
    bad: "---\nstatus: draft\ndate: { system-date }\n---\n",
    good: "---\nstatus: draft\ndate: 2026-01-14\n---\n",
    fix: "Fill it in.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::TemplateUnfilled { .. }),
        "fill it in",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn placeholders_in_every_form() {
        for value in ["{ system-date }", "{{date}}", "'{{date}}'", "'{title}'"] {
            let file = format!("---\ndate: {value}\n---\n");
            let message = "2:7 SM303 `date` still holds the placeholder of its template";
            assert_eq!(found(&RULE, &file), [message], "{value}");
        }
        for value in ["{a: b}", "{}", "'{a: b}'", "2026-01-14", "'a {b}'"] {
            assert!(found(&RULE, &format!("---\ndate: {value}\n---\n")).is_empty(), "{value}");
        }
    }
}
