//! An artifact's steps as the workflow stage reads them.

use crate::{
    artifact::{Artifact, STEPS_KEYS, Steps},
    workflow::{Content, StepId, StepList, StepRecord, Track},
};

/// The step ids of an artifact, parsed once.
#[derive(Clone, Debug, Default)]
pub struct StepLists {
    completed: Vec<StepId>,
    last_step: Option<StepId>,
    content: Option<Content>,
}

impl StepLists {
    /// Reads the list that the track `track` keeps.
    pub fn read(artifact: &Artifact, track: Track) -> Self {
        Self {
            completed: completed_ids(artifact, step_list_key(artifact, track)),
            last_step: last_step_id(artifact),
            content: Some(if artifact.has_body() { Content::Present } else { Content::Empty }),
        }
    }

    /// The record to compute progress from.
    pub fn record(&self) -> StepRecord<'_> {
        StepRecord {
            completed: &self.completed,
            last_step: self.last_step.as_ref(),
            content: self.content.unwrap_or(Content::Empty),
        }
    }

    /// The completed steps in file order.
    pub fn completed(&self) -> &[StepId] {
        &self.completed
    }
}

/// The key under which `track` keeps its steps in this artifact: a validation report has a list of its own.
pub fn step_list_key(artifact: &Artifact, track: Track) -> &'static str {
    let has = |key: &str| artifact.state().steps.iter().any(|steps| steps.key == key);
    let [completed, validation] = STEPS_KEYS;
    if track == Track::Validate && has(validation) || !has(completed) && has(validation) {
        validation
    } else {
        completed
    }
}

/// The list under `key`.
pub(super) fn steps<'a>(artifact: &'a Artifact, key: &str) -> Option<&'a Steps> {
    artifact.state().steps.iter().find(|steps| steps.key == key)
}

/// The ids of the list under `key`.
pub fn completed_ids(artifact: &Artifact, key: &str) -> Vec<StepId> {
    steps(artifact, key).into_iter().flat_map(Steps::spellings).map(StepId::parse).collect()
}

/// `lastStep` as a step id.
pub fn last_step_id(artifact: &Artifact) -> Option<StepId> {
    artifact.state().last_step.as_ref().and_then(|field| field.filled()).map(StepId::parse)
}

/// Which kind of list an artifact keeps, for binding.
impl From<&Artifact> for StepList {
    fn from(artifact: &Artifact) -> Self {
        let state = artifact.state();
        match state.steps.as_slice() {
            [] if state.last_step.is_none() && state.current_step.is_empty() => Self::Absent,
            [only] if only.key == STEPS_KEYS[1] => Self::Validation,
            _ => Self::Completed,
        }
    }
}
