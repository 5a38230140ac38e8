//! A workflow that an artifact may belong to.

use crate::workflow::{NameAgreement, OutputPattern, StepId, Track, WorkflowDetail, WorkflowOutline};
use crate::{artifact::ProjectPath, workflow::binding::pattern, workflow::binding::pattern::agreement};
use std::fmt;

/// One workflow that an artifact may belong to.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub(in crate::workflow) names: Vec<String>,
    /// The names that its files declare; `None` before they are read.
    pub(in crate::workflow) declared_names: Option<Vec<String>>,
    pub(in crate::workflow) steps: Vec<(Track, StepId)>,
    /// Runs of words that mark a file's name: `["product", "brief"]`.
    pub(in crate::workflow) marks: Vec<Vec<String>>,
    pub(in crate::workflow) outputs: Vec<OutputPattern>,
}

impl Candidate {
    pub fn from_outline(outline: &WorkflowOutline) -> Self {
        let mut names = vec![outline.name()];
        if outline.variant.is_some() {
            names.push(outline.folder.file_name().to_owned());
        }
        let entries = outline.entries.iter().filter_map(|entry| entry.file_stem().strip_prefix("workflow-"));
        names.extend(entries.map(str::to_owned));
        // A folder that several workflows share says nothing about a file's name; neither does `template.md`.
        let of_names = names.iter().filter(|name| Some(name.as_str()) != shared_name(outline));
        let templates = outline.templates.iter().map(|template| {
            let mut words = pattern::words(template.file_stem());
            words.retain(|word| word != "template");
            words
        });
        let mut marks: Vec<Vec<String>> =
            of_names.map(|own| pattern::words(pattern::core(own))).chain(templates).collect();
        marks.retain(|words| !words.is_empty());
        let steps = outline
            .chains
            .iter()
            .flat_map(|chain| chain.steps.iter().map(|step| (chain.track, step.id.clone())));
        Self { names, declared_names: None, steps: steps.collect(), marks, outputs: Vec::new() }
    }

    pub fn with_detail(mut self, detail: &WorkflowDetail) -> Self {
        self.declared_names = Some(detail.names.clone());
        self.outputs.extend(detail.outputs.iter().cloned());
        self
    }

    /// Adds a name that the project's configuration gives to it.
    pub fn also_named(mut self, name: &str) -> Self {
        self.names.push(name.to_owned());
        self
    }

    pub fn declared(name: &str, steps: &[impl AsRef<str>]) -> Self {
        let steps = steps.iter().map(|step| (Track::Create, StepId::parse(step.as_ref())));
        Self {
            names: vec![name.to_owned()],
            declared_names: Some(Vec::new()),
            steps: steps.collect(),
            marks: vec![pattern::words(pattern::core(name))],
            outputs: Vec::new(),
        }
    }

    pub(in crate::workflow) fn has_track(&self, track: Track) -> bool {
        self.steps.iter().any(|(own, _)| *own == track)
    }

    pub(in crate::workflow) fn agreement(&self, workflow_type: &str) -> Option<NameAgreement> {
        self.names.iter().filter_map(|name| agreement(name, workflow_type)).max()
    }

    pub(in crate::workflow) fn declared_agreement(&self, workflow_type: &str) -> Option<NameAgreement> {
        self.declared_names.iter().flatten().filter_map(|name| agreement(name, workflow_type)).max()
    }

    pub(in crate::workflow) fn shares_word(&self, workflow_type: &str) -> bool {
        let wanted = pattern::words(workflow_type);
        let names = self.names.iter().chain(self.declared_names.iter().flatten());
        names.flat_map(|own| pattern::words(pattern::core(own))).any(|word| wanted.contains(&word))
    }
}

fn shared_name(outline: &WorkflowOutline) -> Option<&str> {
    outline.variant.as_ref().map(|_| outline.folder.file_name())
}

#[derive(Clone, Copy, Debug)]
pub struct ArtifactFacts<'artifact> {
    pub path: &'artifact ProjectPath,
    pub workflow_type: Option<&'artifact str>,
    /// Its `research_type`, which tells research workflows apart.
    pub research_type: Option<&'artifact str>,
    pub completed: &'artifact [StepId],
    pub list: StepList,
    pub configured: Option<ConfiguredWorkflow<'artifact>>,
}

/// Under which key an artifact keeps its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepList {
    Completed,
    /// `validationStepsCompleted`: a validation report, written by the track validate.
    Validation,
    /// The artifact has no key about steps. Only configuration and `workflowType` bind it then: a spec of
    /// BMAD 6.12 keeps its state in `status`, and a file that is called like an artifact need not be written
    /// by a workflow.
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfiguredWorkflow<'configuration> {
    pub name: &'configuration str,
    pub track: Option<Track>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingReason {
    Configured,
    /// The artifact's `workflowType` names no workflow. Its file's name then counts only for workflows that
    /// share a word with it.
    UnknownWorkflowType {
        value: String,
    },
    /// The artifact's `workflowType`, with its `research_type`, names the workflow.
    WorkflowType {
        value: String,
        agreement: NameAgreement,
    },
    /// Items of the artifact's list are names of the workflow's steps.
    StepNames {
        matched: usize,
    },
    /// Of the remaining workflows only some have the track that the artifact's list belongs to.
    Track(Track),
    /// The artifact's file name holds words of the workflow's or its template's name.
    FileNameWords {
        words: usize,
    },
    /// The artifact's file name fits the output that the workflow names.
    OutputPattern,
}

impl fmt::Display for BindingReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => out.write_str("the configuration names it"),
            Self::UnknownWorkflowType { value } => write!(out, "no workflow is called `{value}`"),
            Self::WorkflowType { value, .. } => write!(out, "`workflowType` says `{value}`"),
            Self::StepNames { matched: 1 } => out.write_str("a listed step is one of its steps"),
            Self::StepNames { matched } => write!(out, "{matched} listed steps are its steps"),
            Self::Track(track) => write!(out, "the list is one of the track {track}"),
            Self::FileNameWords { .. } => out.write_str("the file is named like its artifact"),
            Self::OutputPattern => out.write_str("the workflow names this file as its output"),
        }
    }
}

/// The workflow that an artifact belongs to. Indices are positions in the list of candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    Bound {
        workflow: usize,
        track: Track,
        /// The evidence that singled it out, in the order in which it was weighed. Never empty.
        evidence: Vec<BindingReason>,
    },
    /// Several fit, and nothing tells them apart.
    Ambiguous {
        workflows: Vec<usize>,
        evidence: Vec<BindingReason>,
    },
    /// The configuration names a workflow that does not exist.
    NoSuchWorkflow {
        name: String,
    },
    Unbound,
}
