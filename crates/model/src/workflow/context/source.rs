//! Sources of the active artifact and the configuration file: artifacts, workflows, configuration.

use std::fmt;

use crate::{artifact::ProjectPath, workflow::ContextQuery};
use stepmark_frontmatter::{Document, LineIndex, ParseError, Position, Region, RegionError, Yaml};

/// The kinds of sources, the nearest to the artifact first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContextSourceKind {
    Artifact,
    /// `workflow.md` or `workflow.yaml` of its workflow.
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
    /// The file, or the layer of the configuration.
    pub name: String,
    pub folder: Option<ProjectPath>,
    pub workflow_folder: Option<ProjectPath>,
    pub statements: Result<Vec<ContextStatement>, String>,
}

/// `key: path` in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextStatement {
    pub key: String,
    /// The value as written; `None` where it is a list or a map.
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

/// Reads the statements of a file: a whole YAML file, or the frontmatter of any other.
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
