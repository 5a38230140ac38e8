//! SM302: the line `Status:` of the body says something else than the frontmatter.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{
    artifact::{Problem, story_key},
    check::{Fix, Safety},
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
    mend: "The frontmatter counts: make the line say the same. In stories `stepmark project --ledgers` does, unless the line is \
           further and nothing explains that.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for diagnosis in subject.diagnoses(|problem| matches!(problem, Problem::StatusDisagrees { .. })) {
        let Problem::StatusDisagrees { frontmatter, .. } = &diagnosis.problem else { continue };
        let title = format!("make the line say `{frontmatter}`");
        // The line may be the newer of the two.
        let fix = (!frontmatter.contains(['\n', '\r']))
            .then(|| Fix::splice(Safety::Unsafe, title, diagnosis.span, frontmatter.as_str()));
        let finding = subject.finding(&RULE, diagnosis.span, diagnosis.problem.to_string());
        let path = subject.artifact.path();
        let help = if story_key(path).is_some() {
            format!(
                "the frontmatter counts: `stepmark project --ledgers` makes the line say the same; where the line is right, \
                 `stepmark import stories --prefer status-line {path}`"
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
    use crate::check::rules::sample::{fixed, found};

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
