//! `flows:` of the configuration: graphs of tasks are run in the project; and `project:`, which says what
//! they are about.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::configuration::scalars::{Count, FilePath};
use stepmark_model::artifact::ProjectPath;

/// `flows:`, as written. Its presence switches flows on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `folder` and `stale_seconds`")]
pub(super) struct FlowKeys {
    pub(super) folder: Option<FilePath>,
    pub(super) stale_seconds: Option<Count>,
}

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlowSettings {
    /// The folder of graphs, flows and executions: `flows`.
    pub folder: ProjectPath,
    /// The silence, in seconds, after which an attempt counts as crashed: 900.
    pub stale_seconds: NonZeroU32,
}

impl From<FlowKeys> for FlowSettings {
    #[expect(clippy::expect_used, reason = "the default is a path of a project, and a test reads it")]
    fn from(keys: FlowKeys) -> Self {
        let folder = keys.folder.map(|path| path.0).or_else(|| "flows".parse().ok());
        let stale = keys.stale_seconds.map_or(NonZeroU32::MIN.saturating_add(899), |count| count.0);
        Self { folder: folder.expect("a path"), stale_seconds: stale }
    }
}

/// `project:`, as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `name`, `repositories`, `constitution` and `documents`")]
pub(super) struct ProjectKeys {
    pub(super) name: Option<String>,
    pub(super) repositories: Option<Vec<Repository>>,
    pub(super) constitution: Option<FilePath>,
    pub(super) documents: Option<Vec<FilePath>>,
}

/// A repository that the work of the project changes or reads.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Repository {
    /// Its name.
    pub name: String,
    /// Its place, as the project spells it.
    pub path: String,
    /// The right to it.
    #[serde(default)]
    pub access: Access,
}

/// The right of the work to a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It is only read.
    #[default]
    Ro,
    /// It is changed.
    Rw,
}

#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ProjectDescription {
    pub name: Option<String>,
    pub repositories: Vec<Repository>,
    pub constitution: Option<ProjectPath>,
    pub documents: Vec<ProjectPath>,
}

impl From<ProjectKeys> for ProjectDescription {
    fn from(keys: ProjectKeys) -> Self {
        Self {
            name: keys.name,
            repositories: keys.repositories.unwrap_or_default(),
            constitution: keys.constitution.map(|path| path.0),
            documents: keys.documents.into_iter().flatten().map(|path| path.0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FlowKeys, FlowSettings};

    #[test]
    fn what_is_not_said_is_usual() {
        let settings = FlowSettings::from(FlowKeys::default());
        assert_eq!((settings.folder.as_str(), settings.stale_seconds.get()), ("flows", 900));
    }
}
