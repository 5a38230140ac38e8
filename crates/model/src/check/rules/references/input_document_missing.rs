//! SM402: an input document is not there.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub static RULE: Rule = Rule {
    id: "SM402",
    name: "input-document-missing",
    group: Group::References,
    severity: Severity::Warning,
    summary: "An input document is not in the project.",
    why: "An agent that resumes the work reads the input documents first; without one it guesses.",
    bad: "---\nstatus: draft\ninputDocuments: [docs/brief.md]\n---\n",
    good: "---\nstatus: draft\ninputDocuments: [prd.md]\n---\n",
    fix: "Correct the path, or take the entry out where the document is gone for good.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(environment) = subject.environment else { return };
    for document in &subject.artifact.state().input_documents {
        let candidates = document.candidates(subject.artifact.path());
        if !candidates.is_empty() && !candidates.iter().any(|path| environment.exists(path)) {
            let message = format!("`{}` is not in the project", document.path);
            let finding = subject.finding(&RULE, document.span, message);
            found.push(finding.with_help("correct the path, or take the entry out"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found_in;

    #[test]
    fn documents_stand_below_the_root_or_beside_the_artifact() {
        let files = |path: &str| format!("---\nstatus: draft\ninputDocuments: ['{path}']\n---\n");
        let found = |path: &str| {
            let prd = files(path);
            found_in(
                &RULE,
                &[("docs/prd.md", &prd), ("docs/brief.md", "# Brief\n"), ("notes.md", "# Notes\n")],
            )
        };
        assert_eq!(found("docs/ux.md"), ["docs/prd.md:3:18 SM402 `docs/ux.md` is not in the project"]);
        assert_eq!(found("ux.md").len(), 1);
        for path in [
            "docs/brief.md",
            "brief.md",
            "./brief.md",
            "notes.md",
            "../notes.md",
            "{project-root}/notes.md",
            "brief.md#goals",
            "https://example.org/a.md",
            "docs/*.md",
            "{planning_artifacts}/a.md",
            "/home/ada/a.md",
            "the brief",
            "Brief v1.2 of Ada",
            "Notes, ed. 2",
            "brief.wordprocessor",
            "~/brief.md",
            r"C:\docs\brief.md",
            "docs/gone.md (targeted extraction)",
        ] {
            assert!(found(path).is_empty(), "{path}: {:?}", found(path));
        }
    }
}
