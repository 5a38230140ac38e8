//! The keys of `.stepmark/config.yaml` as they are written, each checked where it stands, so that an error has a place.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, de};
use serde_yaml::Value;

use super::{PathGlob, PathGlobs, WorkflowDeclaration, parsed_scalar::deserialize_as_scalar};
use crate::{
    artifact::{ProjectPath, ProjectPathError},
    document::Position,
};

/// The whole file. Every key may be missing or empty.
#[derive(Default, Deserialize)]
#[serde(expecting = "a mapping of keys such as `project_id` and `artifacts`")]
pub(super) struct Keys {
    pub(super) project_id: Option<ProjectId>,
    pub(super) artifacts: Option<ArtifactKeys>,
    pub(super) workflows: Option<Workflows>,
    pub(super) variables: Option<BTreeMap<VariableName, VariablePath>>,
}

/// `artifacts:`.
#[derive(Default, Deserialize)]
#[serde(expecting = "a mapping with `include` and `exclude`")]
pub(super) struct ArtifactKeys {
    pub(super) include: Option<Globs>,
    pub(super) exclude: Option<Globs>,
}

/// What is wrong in the file, and where.
#[derive(Debug)]
pub(super) struct Misplaced {
    pub(super) position: Option<Position>,
    pub(super) reason: String,
}

impl Keys {
    /// Reads the file; beside the keys stand the ways to those that are unknown.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, Vec<String>), Misplaced> {
        let keys: Option<Self> = serde_yaml::from_slice(bytes)?;
        let values: Value = serde_yaml::from_slice(bytes)?;
        Ok((keys.unwrap_or_default(), unknown_keys(&values)))
    }
}

impl From<serde_yaml::Error> for Misplaced {
    fn from(error: serde_yaml::Error) -> Self {
        let mut reason = error.to_string();
        let position = error.location().map(|at| Position { line: at.line(), column: at.column() });
        if let Some(Position { line, column }) = position
            && let Some(plain) = reason.strip_suffix(&format!(" at line {line} column {column}"))
        {
            reason.truncate(plain.len());
        }
        Self { position, reason }
    }
}

/// Names the keys that nothing reads. Later issues add keys; an older version says that they have no effect.
fn unknown_keys(file: &Value) -> Vec<String> {
    let mut unknown = Vec::new();
    let mut compare = |values: &Value, way: &str, known: &[&str]| {
        for key in values.as_mapping().into_iter().flat_map(serde_yaml::Mapping::keys) {
            if !key.as_str().is_some_and(|key| known.contains(&key)) {
                let spelling = serde_yaml::to_string(key).unwrap_or_default();
                unknown.push(format!("{way}{}", spelling.trim_end()));
            }
        }
    };
    compare(file, "", &["project_id", "artifacts", "workflows", "variables"]);
    compare(&file["artifacts"], "artifacts.", &["include", "exclude"]);
    for (index, workflow) in file["workflows"].as_sequence().into_iter().flatten().enumerate() {
        compare(workflow, &format!("workflows[{index}]."), &["name", "artifacts", "steps", "folder"]);
    }
    unknown
}

/// `project_id:`, which stands in ticket markers and labels, so it is one short word.
pub(super) struct ProjectId(pub(super) String);

impl FromStr for ProjectId {
    type Err = String;

    fn from_str(id: &str) -> Result<Self, String> {
        let fits = (1..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        let wanted = "a project id is made of 1 to 64 letters, digits, `-`, `_` and `.`";
        if fits { Ok(Self(id.to_owned())) } else { Err(format!("{wanted}, not `{id}`")) }
    }
}

/// A list of path patterns.
pub(super) struct Globs(pub(super) PathGlobs);

impl<'de> Deserialize<'de> for Globs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::<PathGlob>::deserialize(from).map(PathGlobs::new).map(Self)
    }
}

/// `workflows:`, of which no two share their name.
pub(super) struct Workflows(pub(super) Vec<WorkflowDeclaration>);

impl<'de> Deserialize<'de> for Workflows {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Workflows;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of workflows")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut entries: A) -> Result<Workflows, A::Error> {
                let mut workflows: Vec<WorkflowDeclaration> = Vec::new();
                while let Some(workflow) = entries.next_element::<WorkflowDeclaration>()? {
                    if workflows.iter().any(|other| other.name() == workflow.name()) {
                        return Err(de::Error::custom(format!("`{}` is declared twice", workflow.name())));
                    }
                    workflows.push(workflow);
                }
                Ok(Workflows(workflows))
            }
        }

        from.deserialize_seq(Visitor)
    }
}

/// The name of a variable of step files.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VariableName(pub(super) String);

impl FromStr for VariableName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let fits = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let wanted = "the name of a variable is made of letters, digits, `-` and `_`, without braces";
        if fits { Ok(Self(name.to_owned())) } else { Err(format!("{wanted}, not `{name}`")) }
    }
}

/// The folder that a variable stands for, seen from the project root; empty for the root itself.
pub(super) struct VariablePath(pub(super) String);

impl FromStr for VariablePath {
    type Err = ProjectPathError;

    fn from_str(text: &str) -> Result<Self, ProjectPathError> {
        let inside = match text.strip_prefix("{project-root}") {
            Some(inside) => inside.strip_prefix('/').unwrap_or(inside),
            None => text,
        };
        match ProjectPath::new(inside) {
            Ok(path) => Ok(Self(path.as_str().to_owned())),
            Err(ProjectPathError::Empty) => Ok(Self(String::new())),
            Err(error) => Err(error),
        }
    }
}

deserialize_as_scalar!(ProjectId, VariableName, VariablePath);
