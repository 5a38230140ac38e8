//! SM302: the line `Status:` of the body says something else than the frontmatter.

use super::sprint_status_disagrees::remedy;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{
    artifact::{LedgerKey, Problem},
    check::{Fix, Safety},
    lifecycle::LedgerWords,
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM302",
    name: "status-disagrees",
    group: Group::Status,
    severity: Severity::Warning,
    summary: "The line `Status:` of the body says something else than the frontmatter.",
    why: "A story file keeps its status in two places. People read the line, tools read the \
              frontmatter, and after a while they see different projects.",
    bad: "---\nstatus: in-progress\n---\n\n# Story 1.1\n\nStatus: review\n",
    good: "---\nstatus: review\n---\n\n# Story 1.1\n\nStatus: review\n",
    mend: "The frontmatter counts: make the line say the same. In stories `stepmark project --ledgers` does; where the line is \
           further, and history does not tell why, only with `--reason TEXT`.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for diagnosis in subject.diagnoses(|problem| matches!(problem, Problem::StatusDisagrees { .. })) {
        let Problem::StatusDisagrees { frontmatter, body } = &diagnosis.problem else { continue };
        let title = format!("make the line say `{frontmatter}`");
        // The line may be the newer of the two; and what says more than a status is a person's to change.
        let is_word = |text: &str| !text.contains(char::is_whitespace);
        let is_known =
            |text: &str| subject.lifecycle.is_some_and(|lifecycle| lifecycle.state_of(text).is_some());
        let fix = (!frontmatter.contains(['\n', '\r']) && (is_word(body) || is_known(body)))
            .then(|| Fix::splice(Safety::Unsafe, title, diagnosis.span, frontmatter.as_str()));
        let finding = subject.finding(&RULE, diagnosis.span, diagnosis.problem.to_string());
        let path = subject.artifact.path();
        let key = LedgerKey::of(path).map(|(key, _)| key).filter(|key| key.is_story());
        let help = if let Some(key) = key {
            let words = LedgerWords::new(subject.lifecycle, key).in_file(path);
            format!(
                "the frontmatter counts: {}; where the line is right, `stepmark import stories --prefer status-line {path}`",
                remedy(words.change(body, frontmatter), "makes the line say the same"),
            )
        } else {
            "the frontmatter counts; make the line say the same".to_owned()
        };
        found.push(finding.with_help(help).with_fix(fix));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found, helps_in};

    #[test]
    fn the_help_names_a_reason_where_the_line_would_go_back() {
        for (line, expected) in [
            ("review", "`stepmark project --ledgers --reason TEXT` makes the line say the same"),
            ("backlog", "`stepmark project --ledgers` makes the line say the same"),
        ] {
            let text = format!("---\nstatus: in-progress\n---\n# Story 1.1\n\nStatus: {line}\n");
            let help = helps_in(&RULE, &[("1-1-a.md", text.as_str())]).concat();
            assert!(help.contains(expected), "{help}");
        }
    }

    #[test]
    fn a_sentence_is_never_replaced() {
        let file = |line: &str| format!("---\nstatus: in-progress\n---\n# 1.1\n\nStatus: {line}\n");
        assert_eq!(fixed(&RULE, &file("review, once Ana has seen it")), None);
        assert_eq!(found(&RULE, &file("review, once Ana has seen it")).len(), 1);
        assert_eq!(fixed(&RULE, &file("`review`.")), Some(file("`in-progress`.")));
        assert!(found(&RULE, &file("**in-progress**.")).is_empty());
    }

    #[test]
    fn the_line_says_what_the_frontmatter_says() {
        let file = "---\nstatus: in-progress\n---\n# 1.1\n\n**Status:** review\n";
        assert_eq!(
            found(&RULE, file),
            ["6:13 SM302 the body says `Status: review`, the frontmatter says `status: in-progress`"]
        );
        assert_eq!(fixed(&RULE, file), Some(file.replace("review", "in-progress")));
        assert!(found(&RULE, "---\nstatus: review\n---\nStatus: Review\n").is_empty());
        assert!(found(&RULE, "---\ntitle: x\n---\nStatus: review\n").is_empty());
    }
}
