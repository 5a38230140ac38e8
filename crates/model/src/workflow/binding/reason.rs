//! Which workflow an artifact belongs to, and why.

use std::fmt;

use crate::artifact::ProjectPath;

use crate::workflow::{NameAgreement, StepId, Track};

/// What an artifact says about the workflow that writes it.
#[derive(Clone, Copy, Debug)]
pub struct ArtifactFacts<'artifact> {
    /// Where the artifact stands.
    pub path: &'artifact ProjectPath,
    /// Its `workflowType`.
    pub workflow_type: Option<&'artifact str>,
    /// Its `research_type`, which tells research workflows apart.
    pub research_type: Option<&'artifact str>,
    /// The items of its list of steps.
    pub completed: &'artifact [StepId],
    /// Under which key that list stands.
    pub list: StepList,
    /// What the project's configuration says about it.
    pub configured: Option<ConfiguredWorkflow<'artifact>>,
}

/// Under which key an artifact keeps its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepList {
    /// `stepsCompleted`.
    Completed,
    /// `validationStepsCompleted`: a validation report, written by the track validate.
    Validation,
    /// The artifact has no key about steps. Only configuration and `workflowType` bind it then: a spec of BMAD 6.12 keeps
    /// its state in `status`, and a file that is called like an artifact need not be written by a workflow.
    Absent,
}

/// A workflow that the project's configuration names for an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfiguredWorkflow<'configuration> {
    /// The workflow's name, in any of its forms.
    pub name: &'configuration str,
    /// The track, where it is named.
    pub track: Option<Track>,
}

/// One reason for a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingReason {
    /// The project's configuration names the workflow.
    Configured,
    /// The artifact's `workflowType` names no workflow. Its file's name then counts only for workflows that share a word
    /// with it.
    UnknownWorkflowType {
        /// The `workflowType`.
        value: String,
    },
    /// The artifact's `workflowType`, with its `research_type`, names the workflow.
    WorkflowType {
        /// What was compared.
        value: String,
        /// How well it agrees.
        agreement: NameAgreement,
    },
    /// Items of the artifact's list are names of the workflow's steps.
    StepNames {
        /// How many items are.
        matched: usize,
    },
    /// Of the remaining workflows only some have the track that the artifact's list belongs to.
    Track(Track),
    /// The artifact's file name holds words of the workflow's or its template's name.
    FileNameWords {
        /// How many words in a row.
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

/// Which workflow an artifact belongs to. Indices are positions in the list of candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// This one.
    Bound {
        /// The workflow.
        workflow: usize,
        /// Its track.
        track: Track,
        /// The evidence that singled it out, in the order in which it was weighed. Never empty.
        evidence: Vec<BindingReason>,
    },
    /// Several fit, and nothing tells them apart.
    Ambiguous {
        /// Those that fit.
        workflows: Vec<usize>,
        /// What they have in common.
        evidence: Vec<BindingReason>,
    },
    /// The configuration names a workflow that does not exist.
    NoSuchWorkflow {
        /// The name in the configuration.
        name: String,
    },
    /// Nothing speaks for any workflow.
    Unbound,
}
