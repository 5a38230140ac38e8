//! A workflow that the configuration declares.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de};

use stepmark_model::artifact::{PathGlob, PathGlobs, ProjectPath, ProjectPathError};
use stepmark_model::packs::{deserialize_as_scalar, schema_of_scalar};

/// An entry of `workflows:` in `.stepmark/config.yaml`: a workflow known by its name, the artifacts bound to
/// it, and where its steps come from.
#[derive(Clone, Debug)]
pub struct WorkflowDeclaration {
    name: String,
    artifacts: PathGlobs,
    steps: StepSource,
}

/// The origin of the steps of a declared workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepSource {
    /// `steps:` lists their ids in order; no step file need exist.
    Listed(Vec<String>),
    /// `folder:` names the folder that holds `workflow.md` or the step files.
    Folder(ProjectPath),
    /// Neither is given: the entry binds artifacts to the workflow of that name that is found in the project.
    Discovered,
}

impl WorkflowDeclaration {
    /// The name of the workflow, without surrounding blanks; no two entries share it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the artifact at `path` is bound to this workflow.
    pub fn binds(&self, path: &ProjectPath) -> bool {
        self.artifacts.matches(path)
    }

    /// The patterns of the artifacts bound to this workflow; they may be none.
    pub fn artifacts(&self) -> &PathGlobs {
        &self.artifacts
    }

    pub fn steps(&self) -> &StepSource {
        &self.steps
    }
}

/// The keys of an entry, as written.
#[derive(Deserialize, JsonSchema)]
#[serde(expecting = "a workflow: a mapping with `name`, `artifacts`, and `steps` or `folder`")]
struct Entry {
    /// Its name.
    name: String,
    /// The artifacts bound to it.
    artifacts: Option<Vec<PathGlob>>,
    /// The ids of its steps, in order.
    steps: Option<Vec<StepId>>,
    /// The folder of its step files, instead of `steps`.
    folder: Option<StepFolder>,
}

impl JsonSchema for WorkflowDeclaration {
    fn schema_name() -> Cow<'static, str> {
        "Workflow".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Entry::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for WorkflowDeclaration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Entry { name, artifacts, steps, folder } = Entry::deserialize(from)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(de::Error::custom("the name of the workflow is empty"));
        }
        let steps = match (steps, folder) {
            (Some(_), Some(_)) => {
                return Err(de::Error::custom(format!(
                    "workflow `{name}` has both `steps` and `folder`: its steps come from one of them"
                )));
            }
            (Some(steps), None) => StepSource::Listed(distinct(steps, name).map_err(de::Error::custom)?),
            (None, Some(folder)) => StepSource::Folder(folder.0),
            (None, None) => StepSource::Discovered,
        };
        let artifacts = PathGlobs::new(artifacts.unwrap_or_default());
        Ok(Self { name: name.to_owned(), artifacts, steps })
    }
}

fn distinct(steps: Vec<StepId>, workflow: &str) -> Result<Vec<String>, String> {
    let mut seen = Vec::with_capacity(steps.len());
    for StepId(id) in steps {
        if seen.contains(&id) {
            return Err(format!("workflow `{workflow}` lists the step `{id}` twice"));
        }
        seen.push(id);
    }
    if seen.is_empty() { Err(format!("workflow `{workflow}` has an empty list of steps")) } else { Ok(seen) }
}

/// A step id: the scalar as it is spelled, so that `1.10` and `02` stay what they are.
struct StepId(String);

impl FromStr for StepId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "" => Err("a step id is empty"),
            id => Ok(Self(id.to_owned())),
        }
    }
}

struct StepFolder(ProjectPath);

impl FromStr for StepFolder {
    type Err = ProjectPathError;

    fn from_str(text: &str) -> Result<Self, ProjectPathError> {
        text.parse().map(Self)
    }
}

deserialize_as_scalar!(StepId, StepFolder);
schema_of_scalar!(StepId, {"type": ["string", "number"], "pattern": r"\S"});
schema_of_scalar!(StepFolder, {"type": "string", "minLength": 1, "not": {"pattern": "^/"}});

/// `workflows:`, of which no two share their name.
#[derive(Clone, Debug)]
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
