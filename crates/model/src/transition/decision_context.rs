//! What a command is decided by, beside the artifact.

use super::Strictness;
use crate::{lifecycle::Lifecycle, workflow::WorkflowDefinition};

/// What is known around an artifact that a command is to change.
#[derive(Clone, Copy, Debug)]
pub struct DecisionContext<'a> {
    /// The workflow that it belongs to, if it is known.
    pub workflow: Option<&'a WorkflowDefinition>,
    /// The lifecycle of its status, if it has one.
    pub lifecycle: Option<&'a Lifecycle>,
    /// What to do with a step that is unknown or not the next one.
    pub strictness: Strictness,
}
