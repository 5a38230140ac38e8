//! The active artifact and the applicable configuration file.

use std::{collections::BTreeMap, fmt};

use crate::{
    artifact::ProjectPath,
    workflow::definition::{self, ReferenceBase},
};
use stepmark_frontmatter::{Document, LineIndex, ParseError, Position, Region, RegionError, Yaml};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextQuery {
    Active,
    ConfigurationFile,
}

impl ContextQuery {
    /// Strongest first.
    pub const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Active => &["active"],
            Self::ConfigurationFile => &["main_config", "config_source"],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextCandidate {
    pub kind: ContextSourceKind,
    /// A file, or a layer of the configuration.
    pub name: String,
    pub statement: Option<ContextStatement>,
    pub verdict: ContextOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextOutcome {
    Silent,
    Unreadable {
        reason: String,
    },
    Wins(ProjectPath),
    /// The nearest statement names no file of the project; the next one would be a guess.
    WinsUnusably {
        reason: String,
    },
    Farther,
}

/// Sources, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextAnswer {
    pub candidates: Vec<ContextCandidate>,
}

impl ContextAnswer {
    pub fn path(&self) -> Option<&ProjectPath> {
        self.candidates.iter().find_map(|candidate| match &candidate.verdict {
            ContextOutcome::Wins(path) => Some(path),
            _ => None,
        })
    }

    pub fn winner(&self) -> Option<&ContextCandidate> {
        let wins = |candidate: &&ContextCandidate| {
            matches!(candidate.verdict, ContextOutcome::Wins(_) | ContextOutcome::WinsUnusably { .. })
        };
        self.candidates.iter().find(wins)
    }

    pub fn has_problem(&self) -> bool {
        let is_problem = |candidate: &ContextCandidate| {
            matches!(
                candidate.verdict,
                ContextOutcome::Unreadable { .. } | ContextOutcome::WinsUnusably { .. }
            )
        };
        self.candidates.iter().any(is_problem)
    }
}

/// `sources` are nearest first; `variables` are those of the configuration.
pub fn answer_context(
    question: ContextQuery,
    sources: &[ContextSource],
    variables: &BTreeMap<String, String>,
) -> ContextAnswer {
    let mut is_decided = false;
    let mut candidates = Vec::new();
    for source in sources {
        let candidate = |statement, verdict| ContextCandidate {
            kind: source.kind,
            name: source.name.clone(),
            statement,
            verdict,
        };
        let statements = match &source.statements {
            Ok(statements) => statements,
            Err(reason) => {
                candidates.push(candidate(None, ContextOutcome::Unreadable { reason: reason.clone() }));
                continue;
            }
        };
        let before = candidates.len();
        for key in question.keys() {
            let Some(statement) = statements.iter().find(|statement| statement.key == *key) else { continue };
            let verdict = match is_decided {
                true => ContextOutcome::Farther,
                false => match resolve(statement, source, variables) {
                    Ok(path) => ContextOutcome::Wins(path),
                    Err(reason) => ContextOutcome::WinsUnusably { reason },
                },
            };
            is_decided = true;
            candidates.push(candidate(Some(statement.clone()), verdict));
        }
        if candidates.len() == before {
            candidates.push(candidate(None, ContextOutcome::Silent));
        }
    }
    ContextAnswer { candidates }
}

/// Resolves variables of step files and configuration. A plain path is relative to the project root in
/// artifacts and configuration, where people and agents write it so, but to the file's folder in workflows;
/// `./` and `../` always are.
fn resolve(
    statement: &ContextStatement,
    source: &ContextSource,
    variables: &BTreeMap<String, String>,
) -> Result<ProjectPath, String> {
    let text = statement.text.as_deref().ok_or("it is no path")?.trim();
    if let Some((name, rest)) = text.strip_prefix('{').and_then(|rest| rest.split_once("}/"))
        && let Some(folder) = variables.get(name)
    {
        return ProjectPath::new(format!("./{folder}/{rest}")).map_err(|error| error.to_string());
    }
    let is_own =
        source.kind == ContextSourceKind::Workflow || text.starts_with("./") || text.starts_with("../");
    let own_folder = source.folder.clone().filter(|_| is_own);
    if !text.contains('{') {
        let joined = match &own_folder {
            Some(folder) => folder.join(text),
            None => ProjectPath::new(text),
        };
        return joined.map_err(|error| error.to_string());
    }
    let unknown = || format!("`{text}` has a variable that stands for no known folder");
    let root = ProjectPath::new("_").map_err(|error| error.to_string())?;
    let is_of_workflow = !text.starts_with("{project-root}") && !text.starts_with("{project_root}");
    let workflow_folder = match &source.workflow_folder {
        Some(folder) => folder,
        None if is_of_workflow => return Err(unknown()),
        None => &root,
    };
    definition::path(text, &ReferenceBase { own_folder, workflow_folder }).ok_or_else(unknown)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContextSourceKind {
    Artifact,
    /// `workflow.md` or `workflow.yaml`.
    Workflow,
    Configuration,
}

impl fmt::Display for ContextSourceKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Artifact => "artifact",
            Self::Workflow => "workflow",
            Self::Configuration => "configuration",
        })
    }
}

#[derive(Clone, Debug)]
pub struct ContextSource {
    pub kind: ContextSourceKind,
    /// A file, or a layer of the configuration.
    pub name: String,
    pub folder: Option<ProjectPath>,
    pub workflow_folder: Option<ProjectPath>,
    pub statements: Result<Vec<ContextStatement>, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextStatement {
    pub key: String,
    /// As written; `None` for a list or a map.
    pub text: Option<String>,
    pub position: Option<Position>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContextSourceError {
    #[error(transparent)]
    Region(#[from] RegionError),
    #[error(transparent)]
    Yaml(#[from] ParseError),
}

pub fn context_statements(
    path: &ProjectPath,
    bytes: &[u8],
) -> Result<Vec<ContextStatement>, ContextSourceError> {
    let document = Document::scan(bytes);
    let is_yaml = matches!(path.extension(), Some("yaml" | "yml"));
    let region = if is_yaml { Region::WholeFile } else { Region::Frontmatter };
    let span = match region.find(&document) {
        Ok(span) => span,
        Err(RegionError::NoFrontmatter) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let yaml = Yaml::parse(bytes, span)?;
    let lines = LineIndex::new(bytes);
    let mut statements = Vec::new();
    for question in [ContextQuery::Active, ContextQuery::ConfigurationFile] {
        for key in question.keys() {
            let entries = yaml.root().map(|root| root.entries()).unwrap_or_default();
            let Some(entry) = entries.iter().find(|entry| entry.key.as_key() == Some(key)) else { continue };
            let is_blank =
                entry.value.is_null() || entry.value.text().is_some_and(|text| text.trim().is_empty());
            if !is_blank {
                statements.push(ContextStatement {
                    key: (*key).to_owned(),
                    text: entry.value.text().map(str::to_owned),
                    position: Some(lines.position(bytes, entry.key.span.start)),
                });
            }
        }
    }
    Ok(statements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::context_statements;

    fn path(text: &str) -> ProjectPath {
        ProjectPath::new(text).unwrap()
    }

    fn source(kind: ContextSourceKind, file: &str, text: &str) -> ContextSource {
        let file = path(file);
        ContextSource {
            kind,
            name: file.to_string(),
            folder: file.parent(),
            workflow_folder: (kind == ContextSourceKind::Workflow).then(|| path("_bmad/prd")),
            statements: context_statements(&file, text.as_bytes()).map_err(|error| error.to_string()),
        }
    }

    fn artifact(text: &str) -> ContextSource {
        source(ContextSourceKind::Artifact, "docs/prd.md", text)
    }

    fn workflow(text: &str) -> ContextSource {
        source(ContextSourceKind::Workflow, "_bmad/prd/workflow.yaml", text)
    }

    fn configuration(text: &str) -> ContextSource {
        ContextSource { folder: None, ..source(ContextSourceKind::Configuration, "config.yaml", text) }
    }

    fn configuration_file(sources: &[ContextSource]) -> ContextAnswer {
        let variables = BTreeMap::from([("planning".to_owned(), "docs/plan".to_owned())]);
        answer_context(ContextQuery::ConfigurationFile, sources, &variables)
    }

    #[test]
    fn the_nearest_to_the_artifact_wins() {
        let near = "---\nmain_config: docs/own.yaml\n---\n";
        let middle = "config_source: \"{project-root}/_bmad/bmm/config.yaml\"\n";
        let far = "config_source: far.yaml\nmain_config: far-main.yaml\n";
        for (sources, wanted) in [
            (vec![artifact(near), workflow(middle), configuration(far)], Some("docs/own.yaml")),
            (
                vec![artifact("---\nstatus: x\n---\n"), workflow(middle), configuration(far)],
                Some("_bmad/bmm/config.yaml"),
            ),
            (
                vec![
                    artifact("# no frontmatter\n"),
                    workflow("name: x\nmain_config: ''\n"),
                    configuration(far),
                ],
                Some("far-main.yaml"),
            ),
            (vec![artifact(""), workflow("")], None),
            (vec![], None),
        ] {
            let answer = configuration_file(&sources);
            assert_eq!(answer.path().map(ProjectPath::as_str), wanted, "{answer:?}");
            assert!(!answer.has_problem());
        }
    }

    #[test]
    fn the_whole_chain_is_told() {
        let answer = configuration_file(&[
            artifact("---\nactive: x.md\n---\n"),
            workflow("a: 1\nmain_config: config.yaml\nconfig_source: x\n"),
            configuration("main_config: far.yaml\n"),
        ]);
        let told: Vec<_> = answer
            .candidates
            .iter()
            .map(|candidate| {
                let line = candidate.statement.as_ref().and_then(|statement| Some(statement.position?.line));
                (candidate.kind, line, &candidate.verdict)
            })
            .collect();
        assert_eq!(
            told,
            [
                (ContextSourceKind::Artifact, None, &ContextOutcome::Silent),
                (ContextSourceKind::Workflow, Some(2), &ContextOutcome::Wins(path("_bmad/prd/config.yaml"))),
                (ContextSourceKind::Workflow, Some(3), &ContextOutcome::Farther),
                (ContextSourceKind::Configuration, Some(1), &ContextOutcome::Farther),
            ]
        );
    }

    #[test]
    fn variables_and_folders_are_those_of_the_source() {
        for (source, wanted) in [
            (artifact("---\nmain_config: '{project-root}/c.yaml'\n---\n"), Some("c.yaml")),
            (artifact("---\nmain_config: ./c.yaml\n---\n"), Some("docs/c.yaml")),
            (artifact("---\nmain_config: ../c.yaml\n---\n"), Some("c.yaml")),
            (artifact("---\nmain_config: '{planning}/c.yaml'\n---\n"), Some("docs/plan/c.yaml")),
            (artifact("---\nmain_config: '{workflow_path}/c.yaml'\n---\n"), None),
            (workflow("main_config: '{installed_path}/c.yaml'\n"), Some("_bmad/prd/c.yaml")),
            (workflow("main_config: c.yaml\n"), Some("_bmad/prd/c.yaml")),
            (workflow("main_config: '{elsewhere}/c.yaml'\n"), None),
            (workflow("main_config: [a, b]\n"), None),
            (workflow("main_config: /etc/passwd\n"), None),
            (workflow("main_config: ../../../c.yaml\n"), None),
            (configuration("main_config: docs/c.yaml\n"), Some("docs/c.yaml")),
        ] {
            // What is near and unusable is not passed over.
            let answer = configuration_file(&[source, configuration("main_config: far.yaml\n")]);
            assert_eq!(answer.path().map(ProjectPath::as_str), wanted, "{answer:?}");
            assert_eq!(answer.has_problem(), wanted.is_none(), "{answer:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let answer =
            configuration_file(&[artifact("---\na: [\n---\n"), configuration("main_config: far.yaml\n")]);
        assert_eq!(answer.path().map(ProjectPath::as_str), Some("far.yaml"));
        assert!(answer.has_problem());
        assert!(matches!(answer.candidates[0].verdict, ContextOutcome::Unreadable { .. }));
        assert!(configuration_file(&[artifact("---\na: 1\n")]).has_problem());
    }
}
