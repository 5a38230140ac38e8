//! SM403: a step file of a workflow names a successor that is not there.

use crate::{
    artifact::ProjectPath,
    check::{Finding, Group, Rule, Severity, rule::Decision},
};
use stepmark_frontmatter::{Document, Frontmatter, Span, Yaml};

/// The rule.
pub static RULE: Rule = Rule {
    id: "SM403",
    name: "successor-missing",
    group: Group::References,
    severity: Severity::Warning,
    summary: "A step file of a workflow names a successor that is not there.",
    why: "Whoever follows the workflow stands before a file that does not exist. stepmark goes on by the prose and the numbers of \
          the steps, which is a guess.",
    bad: "---\nname: step-01-init\nnextStepFile: ./step-02-discover.md\n---\n",
    good: "---\nname: step-01-init\nnextStepFile: ./step-02-discovery.md\n---\n",
    fix: "Correct the name, or add the file. The workflows of the artifacts that are checked are looked at.",
    decision: Decision::OfLaterStage,
};

/// The variables of step files whose values stepmark knows (docs/formats.md, "Step files").
const KNOWN_VARIABLES: [&str; 5] =
    ["{project-root}/", "{workflow_path}/", "{installed_path}/", "{skill-root}/", "{project_root}/"];

/// The finding about the step file at `path` with these `bytes`, where `key` names `value`, which is no step
/// and no file; `None` for a value that nobody can look for: with a variable that has no known value, or no
/// name of a file.
pub fn finding(path: &ProjectPath, bytes: &[u8], key: &str, value: &str) -> Option<Finding> {
    let text = value.trim();
    let rest = KNOWN_VARIABLES.iter().find_map(|variable| text.strip_prefix(variable)).unwrap_or(text);
    let names_a_file = rest.ends_with(".md") || rest.contains('/') || rest.contains("step");
    if rest.contains(['{', '}', ' ']) || !names_a_file {
        return None;
    }
    let message = format!("`{key}` names `{value}`, which is no step of this workflow");
    let span = place(bytes, key, value).unwrap_or(Span::at(0));
    Some(Finding::new(&RULE, path, span, message).with_help("correct the name, or add the file"))
}

/// The span of the value.
fn place(bytes: &[u8], key: &str, value: &str) -> Option<Span> {
    let Frontmatter::Present { content, .. } = Document::scan(bytes).frontmatter() else { return None };
    let yaml = Yaml::parse(bytes, content).ok()?;
    let entries = yaml.root()?.entries().iter();
    let is_it = |entry: &&stepmark_frontmatter::Entry<'_>| {
        entry.key.as_key() == Some(key) && entry.value.text() == Some(value)
    };
    entries.clone().find(is_it).map(|entry| entry.value.span)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line up to the end of what is found, and the message.
    fn found(value: &str) -> Option<(String, String)> {
        let text = format!("---\nnextStepFile_modeA: '{value}'\nname: x\nnextStepFile: '{value}'\n---\n");
        let path = ProjectPath::new("flow/step-01.md").unwrap();
        let finding = finding(&path, text.as_bytes(), "nextStepFile", value)?;
        let line = text[..finding.span.end].rsplit('\n').next()?;
        assert_eq!(text[finding.span.range()], format!("'{value}'"));
        Some((line.to_owned(), finding.message))
    }

    #[test]
    fn the_value_is_shown_where_it_stands() {
        for value in
            ["./step-02-x.md", "step-02-x", "other.md", "flow/next", "{workflow_path}/steps/step-02-x.md"]
        {
            let message = format!("`nextStepFile` names `{value}`, which is no step of this workflow");
            assert_eq!(found(value), Some((format!("nextStepFile: '{value}'"), message)));
        }
        for value in ["{elsewhere}/step-02.md", "none", "No step file: it branches", "./step-{{n}}.md"] {
            assert_eq!(found(value), None, "{value}");
        }
    }
}
