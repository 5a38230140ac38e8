//! The mode in which a workflow's steps run.

use std::fmt;

use serde::{Deserialize, Serialize};

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
