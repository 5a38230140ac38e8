//! `autodev:` of the configuration: the project keeps its state by autodev.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::configuration::scalars::FilePath;
use stepmark_model::{artifact::ProjectPath, autodev::Flow};

/// `autodev:`, as written. Its presence switches autodev on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `file`, `docs`, `skill`, `flows`, `states` or `summary`")]
pub(super) struct AutodevKeys {
    pub(super) file: Option<FilePath>,
    pub(super) docs: Option<FilePath>,
    pub(super) skill: Option<FilePath>,
    pub(super) flows: Option<Vec<Flow>>,
    pub(super) states: Option<BTreeMap<String, FilePath>>,
    pub(super) summary: Option<FilePath>,
}

/// The settings of autodev.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AutodevSettings {
    /// The state file: `_docs/_autodev_state.md`.
    pub file: ProjectPath,
    /// The folder of its documents: `_docs`.
    pub docs: ProjectPath,
    /// The folder of the skill, whose flow files are read.
    pub skill: Option<ProjectPath>,
    /// Flows of the project.
    pub flows: Vec<Flow>,
    /// The files in which skills keep a state of their own, by the name of the step that they do.
    pub states: BTreeMap<String, ProjectPath>,
    /// The file in which `project` writes a summary.
    pub summary: Option<ProjectPath>,
}

/// The state file of the skill `document`.
fn default_states() -> impl Iterator<Item = (String, ProjectPath)> {
    let document = "_docs/02_document/state.json".parse().ok();
    document.into_iter().map(|path| ("Document".to_owned(), path))
}

impl From<AutodevKeys> for AutodevSettings {
    fn from(keys: AutodevKeys) -> Self {
        let path = |given: Option<FilePath>, default: &str| {
            given.map(|path| path.0).or_else(|| default.parse().ok())
        };
        let (file, docs) = (path(keys.file, "_docs/_autodev_state.md"), path(keys.docs, "_docs"));
        #[expect(clippy::expect_used, reason = "the defaults are paths of a project, and a test reads them")]
        Self {
            file: file.expect("a path"),
            docs: docs.expect("a path"),
            skill: keys.skill.map(|path| path.0),
            flows: keys.flows.unwrap_or_default(),
            states: default_states()
                .chain(keys.states.into_iter().flatten().map(|(step, path)| (step, path.0)))
                .collect(),
            summary: keys.summary.map(|path| path.0),
        }
    }
}
