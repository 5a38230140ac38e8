//! SM402: an input document is not there.

use crate::artifact::ProjectPath;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
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
    let folder = subject.artifact.path().as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
    for document in &subject.artifact.state().input_documents {
        let candidates = candidates(&document.path, folder);
        if !candidates.is_empty() && !candidates.iter().any(|path| environment.exists(path)) {
            let message = format!("`{}` is not in the project", document.path);
            let finding = subject.finding(&RULE, document.span, message);
            found.push(finding.with_help("correct the path, or take the entry out"));
        }
    }
}

/// The paths at which the document may be: below the root, or beside the artifact. None for what is no path
/// of the project: an address, a pattern, a variable, a path of one machine, a remark.
fn candidates(written: &str, folder: &str) -> Vec<ProjectPath> {
    let path = written.trim().strip_prefix("{project-root}/").unwrap_or(written.trim());
    let path = path.split(['#', '?']).next().unwrap_or(path);
    let is_no_path = path.contains(['{', '}', '*', '<', '>', '|', '"'])
        || path.contains("://")
        || path.starts_with(['/', '~']);
    // A name without an ending or a folder may be a title.
    let looks_like_a_path =
        path.contains('/') || path.rsplit_once('.').is_some_and(|(_, ending)| is_ending(ending));
    if is_no_path || !looks_like_a_path {
        return Vec::new();
    }
    let beside = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
    [path.to_owned(), beside].iter().filter_map(|path| ProjectPath::new(path).ok()).collect()
}

fn is_ending(ending: &str) -> bool {
    (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
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
        ] {
            assert!(found(path).is_empty(), "{path}: {:?}", found(path));
        }
    }
}
