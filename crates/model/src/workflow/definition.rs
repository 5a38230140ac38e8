//! A workflow with the parts of its files that stepmark needs.

use super::{Chain, OutputPattern, Progress, StepId, StepRecord, Track};

/// Facts about a workflow's artifacts in the text of its entries and first steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowDetail {
    /// The names that the entries declare (`name:`): one, or one a track (`create-prd`, `edit-prd`).
    pub names: Vec<String>,
    /// The file names of its artifacts.
    pub outputs: Vec<OutputPattern>,
}

/// One track of a workflow, ready to tell how far an artifact has come.
#[derive(Clone, Debug)]
pub struct WorkflowDefinition {
    /// The workflow's name.
    pub name: String,
    /// The steps of the track.
    pub chain: Chain,
    /// The step names of its other tracks.
    pub siblings: Vec<(Track, StepId)>,
}

impl WorkflowDefinition {
    /// A workflow that the project's configuration declares by its step names alone.
    pub fn declared(name: impl Into<String>, steps: &[impl AsRef<str>]) -> Self {
        Self { name: name.into(), chain: Chain::declared(Track::Create, steps), siblings: Vec::new() }
    }

    /// The progress of an artifact.
    pub fn progress(&self, record: &StepRecord<'_>) -> Progress<'_> {
        Progress::read(&self.chain, &self.siblings, record)
    }
}
