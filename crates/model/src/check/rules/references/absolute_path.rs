//! SM401: an input document has a path of one machine.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM401",
    name: "absolute-path",
    group: Group::References,
    severity: Severity::Warning,
    summary: "An input document has a path of one machine.",
    why: "Nobody else who opens the project finds the document, and the path tells them whose machine \
              it was.",
    bad: "---\nstatus: draft\ninputDocuments: [/home/ada/project/docs/brief.md]\n---\n",
    good: "---\nstatus: draft\ninputDocuments: [docs/brief.md]\n---\n",
    fix: "Write it relative to the project.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::AbsolutePath { .. }),
        "write it relative to the project",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn paths_of_one_machine() {
        for path in ["/home/a/brief.md", "~/brief.md", "'C:\\docs\\brief.md'", "{path: /a.md}"] {
            let file = format!("---\ninputDocuments: [docs/a.md, {path}]\n---\n");
            let found = found(&RULE, &file);
            assert!(found.len() == 1 && found[0].contains("exists on one machine only"), "{path}: {found:?}");
        }
        assert!(
            found(&RULE, "---\ninputDocuments: [docs/brief.md, '{project-root}/a.md']\n---\n").is_empty()
        );
    }
}
