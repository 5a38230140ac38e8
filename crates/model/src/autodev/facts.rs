//! The facts about a project that rules hold the state file of autodev against.

use std::collections::BTreeMap;

use super::{Detection, Flows, Position, ProjectFiles, detect, flow::kebab};
use crate::artifact::ProjectPath;

/// The facts around the state file of autodev.
#[derive(Clone, Debug)]
pub struct AutodevFacts {
    /// The flows of the project.
    pub flows: Flows,
    /// The comparison of the position that is noted with the files of the project; `None` where the position
    /// cannot be read, its flow is unknown, or nobody looked at the files.
    pub detection: Option<Detection>,
    /// The state that the skill of the step keeps itself; `None` where it keeps none.
    pub skill_state: Option<SkillState>,
}

/// The state that a skill keeps in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillState {
    /// The file.
    pub file: ProjectPath,
    /// The phase that it says, in kebab-case.
    pub phase: String,
}

/// The key of the phase in the state files of skills.
const PHASE_KEY: &str = "current_step";

impl AutodevFacts {
    /// Compares the position `noted` with `files`. `states` are the files in which skills keep a state of
    /// their own, by the names of the steps that they do.
    pub fn gather(
        flows: Flows,
        states: &BTreeMap<String, ProjectPath>,
        noted: Option<&Position>,
        files: &dyn ProjectFiles,
    ) -> Self {
        let detection = noted.and_then(|noted| Some(detect(noted.flow(&flows).ok()?, Some(noted), files)));
        let skill_state = noted.and_then(|noted| SkillState::find(states, noted, files));
        Self { flows, detection, skill_state }
    }
}

impl SkillState {
    /// The state of the skill of the step that is noted; `None` where its file is not there, or says no
    /// phase.
    pub fn find(
        states: &BTreeMap<String, ProjectPath>,
        noted: &Position,
        files: &dyn ProjectFiles,
    ) -> Option<Self> {
        let (_, file) = states.iter().find(|(step, _)| step.eq_ignore_ascii_case(&noted.name))?;
        let phase = kebab(&files.text(file.as_str(), PHASE_KEY));
        (!phase.is_empty()).then(|| Self { file: file.clone(), phase })
    }

    /// Returns whether the position says the same. Where the step is not being done, the skill is not asked.
    pub fn agrees_with(&self, noted: &Position) -> bool {
        noted.status != "in_progress" || noted.sub_step.name == self.phase
    }
}
