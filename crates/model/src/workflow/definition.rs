//! A workflow: as the names of its files alone tell it, and with the parts of its files that stepmark needs.

use super::{Chain, OutputPattern, Progress, StepId, StepRecord};
use crate::artifact::ProjectPath;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Facts about a workflow's artifacts in the text of its entries and first steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowDetail {
    /// The names that the entries declare (`name:`): one, or one a track (`create-prd`, `edit-prd`).
    pub names: Vec<String>,
    pub outputs: Vec<OutputPattern>,
}

/// One track of a workflow, ready to tell how far an artifact has come.
#[derive(Clone, Debug)]
pub struct WorkflowDefinition {
    pub name: String,
    pub chain: Chain,
    pub siblings: Vec<(Track, StepId)>,
}

impl WorkflowDefinition {
    /// A workflow that the project's configuration declares by its step names alone.
    pub fn declared(name: impl Into<String>, steps: &[impl AsRef<str>]) -> Self {
        Self { name: name.into(), chain: Chain::declared(Track::Create, steps), siblings: Vec::new() }
    }

    pub fn progress(&self, record: &StepRecord<'_>) -> Progress<'_> {
        Progress::read(&self.chain, &self.siblings, record)
    }
}

/// A workflow found in a listing, before any of its files is read.
///
/// It is enough to bind most artifacts and names the few files that have to be read for their chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowOutline {
    pub folder: ProjectPath,
    /// The name that sets it apart where one folder holds several workflows: `market` for
    /// `research/market-steps`.
    pub variant: Option<String>,
    /// Its entry files: `workflow.md`, `workflow-create-prd.md`, `SKILL.md`.
    pub entries: Vec<ProjectPath>,
    /// Its templates: Markdown files in the folder or in `templates/` with `template` in their names.
    pub templates: Vec<ProjectPath>,
    /// Its step folders, the track create first.
    pub chains: Vec<ChainOutline>,
    /// The folders in which the same workflow is installed again.
    pub copies: Vec<ProjectPath>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainOutline {
    pub track: Track,
    pub folder: ProjectPath,
    /// The step files, in the order of their paths.
    pub steps: Vec<StepOutline>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOutline {
    pub path: ProjectPath,
    pub id: StepId,
}

impl WorkflowOutline {
    pub fn chain(&self, track: Track) -> Option<&ChainOutline> {
        self.chains.iter().find(|chain| chain.track == track)
    }

    /// The step names of every other track than `track`, for [`super::Progress::read`].
    pub fn siblings(&self, track: Track) -> Vec<(Track, StepId)> {
        let others = self.chains.iter().filter(|chain| chain.track != track);
        others.flat_map(|chain| chain.steps.iter().map(|step| (chain.track, step.id.clone()))).collect()
    }

    /// The name to show and to configure: the folder's name (`create-prd`, `bmad-market-research`), with the
    /// variant in front where the folder's name does not tell it (`market-research` for
    /// `research/market-steps`).
    pub fn name(&self) -> String {
        let folder = self.folder.file_name();
        match &self.variant {
            Some(variant) if !folder.split('-').any(|word| word == variant) => format!("{variant}-{folder}"),
            _ => folder.to_owned(),
        }
    }

    pub fn holds_steps_in(&self, folder: &ProjectPath) -> bool {
        self.chains.iter().any(|chain| chain.folder == *folder)
    }

    pub(crate) fn has_numbers(&self) -> bool {
        self.chains.iter().flat_map(|chain| &chain.steps).any(|step| step.id.number().is_some())
    }

    /// The few files that tell what the workflow calls itself and its artifacts: entries, and each track's
    /// first step.
    pub fn telling_files(&self) -> Vec<&ProjectPath> {
        let number = |step: &&StepOutline| (step.id.number().is_none(), step.id.number());
        let first = self.chains.iter().filter_map(|chain| chain.steps.iter().min_by_key(number));
        self.entries.iter().chain(first.map(|step| &step.path)).collect()
    }

    /// The file names of every step by track: what copies of one workflow have in common.
    pub(crate) fn signature(&self) -> Vec<(Track, Vec<&str>)> {
        fn names(chain: &ChainOutline) -> Vec<&str> {
            let mut names: Vec<&str> = chain.steps.iter().map(|step| step.path.file_name()).collect();
            names.sort_unstable();
            names
        }
        let mut signature: Vec<_> = self.chains.iter().map(|chain| (chain.track, names(chain))).collect();
        signature.sort_unstable();
        signature
    }
}

/// The mode of a chain of steps.
///
/// Source: BMAD keeps one folder a mode (`steps-c`, `steps-e`, `steps-v`) and marks the steps of the last two
/// in their names (`step-e-01-discovery`, `step-v-02b-parity-check`); docs/formats.md, "Lists of steps".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Track {
    /// The artifact is written for the first time: `steps`, `steps-c`, and every other step folder.
    Create,
    /// A finished artifact is revised: `steps-e`, `step-e-NN`.
    Edit,
    /// A finished artifact is examined; its steps stand under `validationStepsCompleted`: `steps-v`,
    /// `step-v-NN`.
    Validate,
}

impl Track {
    /// The track that a marker letter stands for (`c`, `e` or `v`, as in `step-e-01`).
    pub(crate) fn from_marker(marker: char) -> Option<Self> {
        match marker {
            'c' => Some(Self::Create),
            'e' => Some(Self::Edit),
            'v' => Some(Self::Validate),
            _ => None,
        }
    }
}

impl fmt::Display for Track {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Create => "create",
            Self::Edit => "edit",
            Self::Validate => "validate",
        })
    }
}
