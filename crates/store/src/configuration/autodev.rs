//! `autodev:` of the configuration: the project keeps its state by autodev.

use crate::configuration::scalars::{Count, FilePath};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use stepmark_model::artifact::ProjectPath;
use stepmark_model::autodev::Flow;
use stepmark_model::coordination::Format;

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

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AutodevSettings {
    /// The state file: `_docs/_autodev_state.md`.
    pub file: ProjectPath,
    /// The folder of its documents: `_docs`.
    pub docs: ProjectPath,
    /// The folder of the skill, whose flow files are read.
    pub skill: Option<ProjectPath>,
    pub flows: Vec<Flow>,
    /// The files in which skills keep a state of their own, by the name of the step that they do.
    pub states: BTreeMap<String, ProjectPath>,
    /// The file in which `project` writes a summary.
    pub summary: Option<ProjectPath>,
}

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

/// `coordination:`, as written. Its presence switches coordination on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(expecting = "a mapping with `option`, `folder`, `state_file` and limits in seconds")]
pub(super) struct CoordinationKeys {
    pub(super) option: Option<Format>,
    pub(super) folder: Option<FilePath>,
    pub(super) state_file: Option<FilePath>,
    pub(super) stale_seconds: Option<Count>,
    pub(super) inactive_seconds: Option<Count>,
    pub(super) claims_per_agent: Option<Count>,
}

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CoordinationSettings {
    pub format: Format,
    /// The folder of the records, and of the files of options A and B: `.coordination`.
    pub folder: ProjectPath,
    /// The state file of option C: `orchestrator-state.json`.
    pub state_file: ProjectPath,
    /// The silence, in seconds, after which the task of an agent is free again: 900.
    pub stale_seconds: NonZeroU32,
    /// The silence, in seconds, after which an agent is not counted as active: 60.
    pub inactive_seconds: NonZeroU32,
    /// The number of tasks that an agent may hold at once: 1.
    pub claims_per_agent: NonZeroU32,
}

const fn seconds(count: u32) -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(count - 1)
}

impl From<CoordinationKeys> for CoordinationSettings {
    fn from(keys: CoordinationKeys) -> Self {
        let path = |given: Option<FilePath>, default: &str| {
            given.map(|path| path.0).or_else(|| default.parse().ok())
        };
        let count = |given: Option<Count>, default| given.map_or(default, |count| count.0);
        let folder = path(keys.folder, ".coordination");
        let state_file = path(keys.state_file, "orchestrator-state.json");
        #[expect(clippy::expect_used, reason = "the defaults are paths of a project, and a test reads them")]
        Self {
            format: keys.option.unwrap_or(Format::TasksFile),
            folder: folder.expect("a path"),
            state_file: state_file.expect("a path"),
            stale_seconds: count(keys.stale_seconds, seconds(900)),
            inactive_seconds: count(keys.inactive_seconds, seconds(60)),
            claims_per_agent: count(keys.claims_per_agent, seconds(1)),
        }
    }
}
