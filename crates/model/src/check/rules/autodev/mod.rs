//! The state file of autodev: its values, and what the files of the project say of them.

pub(crate) mod unparsable;
pub(crate) mod flow_unknown;
pub(crate) mod step_unknown;
pub(crate) mod name_differs;
pub(crate) mod status_unknown;
pub(crate) mod phase_wrong;
pub(crate) mod phase_name_wrong;
pub(crate) mod name_reserved;
pub(crate) mod retries_wrong;
pub(crate) mod cycle_wrong;
pub(crate) mod folder_disagrees;
pub(crate) mod skill_state_disagrees;
pub(crate) mod file_deleted;

use serde_json::Value as Json;

use super::{super::Subject, value_span};
use crate::{
    artifact::{Artifact, StateUnreadable},
    autodev::{Flow, FlowStep, StepPlace, keeps_state},
};
use stepmark_frontmatter::Span;

/// The values below `## Current Step` of a state file.
struct Block<'a> {
    artifact: &'a Artifact,
    values: Json,
}

impl<'a> Block<'a> {
    /// Reads them; a file that is no state file has none.
    fn of(subject: &Subject<'a>) -> Result<Self, StateUnreadable> {
        let artifact = subject.artifact;
        if !keeps_state(artifact.path()) {
            return Err(StateUnreadable::NotAMapping { offset: 0 });
        }
        Ok(Self { artifact, values: artifact.state_value()? })
    }

    /// The value under `keys`; `null` where there is none.
    fn value(&self, keys: &[&str]) -> &Json {
        keys.iter().fold(&self.values, |value, key| &value[*key])
    }

    /// The span of the value under `keys`; where it is missing, that of what should hold it.
    fn span(&self, keys: &[&str]) -> Span {
        value_span(self.artifact, keys)
    }

    /// The first value that is of no kind in which a position can be read, and that no rule of its own tells
    /// of; and the kind that belongs there.
    fn shape_error(&self) -> Option<(&'static [&'static str], &'static str)> {
        let detail = self.value(&["sub_step", "detail"]);
        if !self.value(&["sub_step"]).is_object() {
            Some((&["sub_step"], "a mapping with `phase` and `name`"))
        } else if !detail.is_null() && !detail.is_string() {
            Some((&["sub_step", "detail"], "a text"))
        } else {
            None
        }
    }

    /// Its flow, where it and the flows of the project are known.
    fn flow<'s>(&self, subject: &'s Subject<'_>) -> Option<&'s Flow> {
        subject.autodev()?.flows.named(self.value(&["flow"]).as_str()?)
    }

    /// Its step, where the flow has it.
    fn step<'s>(&self, subject: &'s Subject<'_>) -> Option<&'s FlowStep> {
        match StepPlace::read(self.value(&["step"]))? {
            StepPlace::Number(number) => self.flow(subject)?.step(number),
            StepPlace::Fraction(_) | StepPlace::Done => None,
        }
    }
}
