//! A workflow with the parts of its files that stepmark needs.

use super::{
    Chain, OutputPattern, Progress, StepId, StepRecord, Track, WorkflowFile, WorkflowOutline,
    chain::file::OUTPUT_KEYS,
};

/// What the text of a workflow's entries and first steps says about its artifacts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowDetail {
    /// The names that the entries declare (`name:`): one, or one a track (`create-prd`, `edit-prd`).
    pub names: Vec<String>,
    /// The file names of its artifacts.
    pub outputs: Vec<OutputPattern>,
}

impl WorkflowDetail {
    /// Reads entries and steps of the workflow of `outline`.
    ///
    /// Output comes from the keys `outputFile`, `default_output_file`, `output_file`, `wipFile` and `progressFile`, and
    /// from a line of an entry that names `default_output_file` (architecture and UX have no such key).
    pub fn read(outline: &WorkflowOutline, files: &[WorkflowFile<'_>]) -> Self {
        let mut detail = Self::default();
        for file in files {
            let is_entry = outline.entries.contains(&file.path);
            if let Some(name) = file.key("name").filter(|name| is_entry && !name.trim().is_empty()) {
                detail.add_name(name.trim());
            }
            let keys = file.keys.iter().filter(|(key, _)| OUTPUT_KEYS.contains(&key.as_str()));
            keys.for_each(|(_, value)| detail.add_output(value));
            if is_entry {
                let lines = file.body.lines().filter(|line| line.contains("default_output_file"));
                let quoted = lines.flat_map(|line| line.split('`'));
                quoted.for_each(|value| detail.add_output(value));
            }
        }
        detail
    }

    fn add_name(&mut self, name: &str) {
        if !self.names.iter().any(|own| own == name) {
            self.names.push(name.to_owned());
        }
    }

    fn add_output(&mut self, value: &str) {
        if let Some(pattern) = OutputPattern::parse(value).filter(|pattern| !self.outputs.contains(pattern)) {
            self.outputs.push(pattern);
        }
    }
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
    /// Assembles one track of a discovered workflow. `steps` are that track's step files.
    pub fn from_files(outline: &WorkflowOutline, track: Track, steps: &[WorkflowFile<'_>]) -> Self {
        let chain = Chain::from_files(track, &outline.folder, steps);
        Self { name: outline.name(), chain, siblings: outline.siblings(track) }
    }

    /// A workflow that the project's configuration declares by its step names alone.
    pub fn declared(name: impl Into<String>, steps: &[impl AsRef<str>]) -> Self {
        Self { name: name.into(), chain: Chain::declared(Track::Create, steps), siblings: Vec::new() }
    }

    /// How far an artifact has come.
    pub fn progress(&self, record: &StepRecord<'_>) -> Progress<'_> {
        Progress::read(&self.chain, &self.siblings, record)
    }
}
