//! Files that an artifact names.

use crate::artifact::{Problem, ProjectPath};
use crate::check::{Finding, Subject, rule::Decision};
use crate::workflow::{Chain, StepId, StepMatch};
use stepmark_frontmatter::{Document, Frontmatter, Span, Yaml};

rules! { References;
    pub(crate) ABSOLUTE_PATH "SM401" "absolute-path" Warning Decision::diagnosed(|problem| matches!(problem, Problem::AbsolutePath { .. }), "write it relative to the project");
    pub INPUT_DOCUMENT_MISSING "SM402" "input-document-missing" Warning Decision::OfArtifact(check_input_document_missing);
    pub SUCCESSOR_MISSING "SM403" "successor-missing" Warning Decision::OfLaterStage;
    pub(crate) NEXT_STEP_MISSING "SM404" "next-step-missing" Warning Decision::OfArtifact(check_next_step_missing);
}

fn check_input_document_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let Some(environment) = subject.environment else { return };
    for document in &subject.artifact.state().input_documents {
        let candidates = document.candidates(subject.artifact.path());
        if !candidates.is_empty() && !candidates.iter().any(|path| environment.exists(path)) {
            let message = format!("`{}` is not in the project", document.path);
            let finding = subject.finding(&INPUT_DOCUMENT_MISSING, document.span, message);
            found.push(finding.with_help("correct the path, or take the entry out"));
        }
    }
}

/// Step file variables with known values (docs/formats.md, "Step files").
const KNOWN_VARIABLES: [&str; 5] =
    ["{project-root}/", "{workflow_path}/", "{installed_path}/", "{skill-root}/", "{project_root}/"];

/// `key` of the step file at `path` names `value`, which is no step and no file. `None` if that cannot be
/// checked: a variable without known value, or no file name.
pub fn successor_missing_finding(
    path: &ProjectPath,
    bytes: &[u8],
    key: &str,
    value: &str,
) -> Option<Finding> {
    let text = value.trim();
    let rest = KNOWN_VARIABLES.iter().find_map(|variable| text.strip_prefix(variable)).unwrap_or(text);
    let names_a_file = rest.ends_with(".md") || rest.contains('/') || rest.contains("step");
    if rest.contains(['{', '}', ' ']) || !names_a_file {
        return None;
    }
    let message = format!("`{key}` names `{value}`, which is no step of this workflow");
    let span = place(bytes, key, value).unwrap_or(Span::at(0));
    Some(Finding::new(&SUCCESSOR_MISSING, path, span, message).with_help("correct the name, or add the file"))
}

fn place(bytes: &[u8], key: &str, value: &str) -> Option<Span> {
    let Frontmatter::Present { content, .. } = Document::scan(bytes).frontmatter() else { return None };
    let yaml = Yaml::parse(bytes, content).ok()?;
    let mut entries = yaml.root()?.entries().iter();
    let found = entries.find(|entry| entry.key.as_key() == Some(key) && entry.value.text() == Some(value))?;
    Some(found.value.span)
}

fn check_next_step_missing(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for field in &subject.artifact.state().next_steps {
        let Some(text) = field.filled().map(|text| text.trim().trim_matches('`')) else { continue };
        if is_missing(subject, text) {
            let finding = subject.finding(
                &NEXT_STEP_MISSING,
                field.span,
                format!("`{}` names `{text}`, which does not exist", field.key),
            );
            found.push(
                finding.with_help("take the key out: `stepmark next` finds the next step in the workflow"),
            );
        }
    }
}

fn is_missing(subject: &Subject<'_>, text: &str) -> bool {
    let path = text.strip_prefix("{project-root}/").unwrap_or(text);
    // Unknown variables and sentences cannot be checked.
    if path.contains(['{', '}', ' ', '*']) || path.contains("://") {
        return false;
    }
    if subject.chain().is_some_and(|chain| is_step(chain, path)) {
        return false;
    }
    match subject.environment {
        Some(environment) if path.ends_with(".md") => {
            let own = subject.artifact.path().parent();
            let beside = own.and_then(|folder| folder.join(path).ok());
            let places: Vec<ProjectPath> = beside.into_iter().chain(ProjectPath::new(path).ok()).collect();
            // Paths outside of the project cannot be checked.
            !places.is_empty() && !places.iter().any(|place| environment.exists(place))
        }
        _ => subject.chain().is_some() && StepId::parse(path).number().is_some(),
    }
}

fn is_step(chain: &Chain, text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    chain.find(&StepId::parse(name)) != StepMatch::None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::rules::sample::{found, found_in};

    #[test]
    fn paths_of_one_machine() {
        for path in ["/home/a/brief.md", "~/brief.md", "'C:\\docs\\brief.md'", "{path: /a.md}"] {
            let file = format!("---\ninputDocuments: [docs/a.md, {path}]\n---\n");
            let found = found(&ABSOLUTE_PATH, &file);
            assert!(found.len() == 1 && found[0].contains("exists on one machine only"), "{path}: {found:?}");
        }
        assert!(
            found(&ABSOLUTE_PATH, "---\ninputDocuments: [docs/brief.md, '{project-root}/a.md']\n---\n")
                .is_empty()
        );
    }

    #[test]
    fn documents_stand_below_the_root_or_beside_the_artifact() {
        let files = |path: &str| format!("---\nstatus: draft\ninputDocuments: ['{path}']\n---\n");
        let found = |path: &str| {
            let prd = files(path);
            found_in(
                &INPUT_DOCUMENT_MISSING,
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

    fn successor_found(value: &str) -> Option<(String, String)> {
        let text = format!("---\nnextStepFile_modeA: '{value}'\nname: x\nnextStepFile: '{value}'\n---\n");
        let path = ProjectPath::new("flow/step-01.md").unwrap();
        let finding = successor_missing_finding(&path, text.as_bytes(), "nextStepFile", value)?;
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
            assert_eq!(successor_found(value), Some((format!("nextStepFile: '{value}'"), message)));
        }
        for value in ["{elsewhere}/step-02.md", "none", "No step file: it branches", "./step-{{n}}.md"] {
            assert_eq!(successor_found(value), None, "{value}");
        }
    }

    #[test]
    fn a_next_step_is_one_of_the_workflow() {
        let next = |value: &str| {
            found(
                &NEXT_STEP_MISSING,
                &format!("---\nworkflowType: prd\nstepsCompleted: [1]\nnextStep: {value}\n---\n"),
            )
        };
        for value in ["step-42-other", "42", "./step-42-other.md"] {
            assert_eq!(next(value), [format!("4:11 SM404 `nextStep` names `{value}`, which does not exist")]);
        }
        for value in [
            "step-02-discovery",
            "2",
            "02b",
            "./step-02-discovery.md",
            "steps/step-02-discovery.md",
            "none",
            "''",
            "'{nextStepFile}'",
            "Talk to Ada",
        ] {
            assert!(next(value).is_empty(), "{value}: {:?}", next(value));
        }
    }

    #[test]
    fn a_file_is_looked_for_beside_the_artifact_and_below_the_root() {
        let artifact = |file: &str| format!("---\nstatus: draft\nnextStepFile: '{file}'\n---\n");
        let found = |file: &str| {
            let text = artifact(file);
            found_in(
                &NEXT_STEP_MISSING,
                &[("flows/step-01.md", &text), ("flows/step-02.md", "# 2\n"), ("notes.md", "# Notes\n")],
            )
        };
        assert_eq!(
            found("./step-03.md"),
            ["flows/step-01.md:3:15 SM404 `nextStepFile` names `./step-03.md`, which does not exist"]
        );
        for file in [
            "./step-02.md",
            "step-02.md",
            "notes.md",
            "{project-root}/notes.md",
            "{x}/a.md",
            "https://example.org/a.md",
            "../../../a.md",
            "step-07",
        ] {
            assert!(found(file).is_empty(), "{file}: {:?}", found(file));
        }
    }
}
