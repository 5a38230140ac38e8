//! An artifact's steps as the workflow stage reads them.

use super::step_choice::is_completed;
use crate::artifact::{Artifact, STEPS_KEYS, Steps};
use crate::workflow::{Content, StepId, StepList, StepMatch, StepRecord, Track, WorkflowDefinition};

/// The step ids of an artifact, parsed once.
#[derive(Clone, Debug, Default)]
pub struct StepLists {
    completed: Vec<StepId>,
    last_step: Option<StepId>,
    content: Option<Content>,
}

impl StepLists {
    pub fn read(artifact: &Artifact, track: Track) -> Self {
        Self {
            completed: completed_ids(artifact, step_list_key(artifact, track)),
            last_step: last_step_id(artifact),
            content: Some(if artifact.has_body() { Content::Present } else { Content::Empty }),
        }
    }

    /// The steps that lie behind the one that an artifact points to.
    pub fn passed(completed: Vec<StepId>) -> Self {
        Self { completed, last_step: None, content: Some(Content::Present) }
    }

    pub fn record(&self) -> StepRecord<'_> {
        StepRecord {
            completed: &self.completed,
            last_step: self.last_step.as_ref(),
            content: self.content.unwrap_or(Content::Empty),
        }
    }

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

pub(super) fn steps<'a>(artifact: &'a Artifact, key: &str) -> Option<&'a Steps> {
    artifact.state().steps.iter().find(|steps| steps.key == key)
}

pub fn completed_ids(artifact: &Artifact, key: &str) -> Vec<StepId> {
    steps(artifact, key).into_iter().flat_map(Steps::spellings).map(StepId::parse).collect()
}

pub fn last_step_id(artifact: &Artifact) -> Option<StepId> {
    artifact.state().last_step.as_ref().and_then(|field| field.filled()).map(StepId::parse)
}

/// Finds the kind of list that an artifact keeps, for binding.
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

/// Returns whether `completed`, the list of an artifact of `workflow`, names the step that `asked` means, in
/// whatever spelling. A marker of a resumed session (`step-01b-continue`) is never progress, so it is never
/// listed.
pub fn lists_step(workflow: Option<&WorkflowDefinition>, completed: &[StepId], asked: &StepId) -> bool {
    let step = match workflow.map(|workflow| workflow.chain.find(asked)) {
        Some(StepMatch::Step { step, .. }) => Some(step),
        _ => None,
    };
    !asked.is_resume() && is_completed(workflow, completed, asked, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;

    fn artifact(frontmatter: &str, body: &str) -> Artifact {
        let file = format!("---\n{frontmatter}\n---\n{body}");
        Artifact::read(ProjectPath::new("prd.md").unwrap(), file.into_bytes())
    }

    #[test]
    fn a_validation_report_keeps_a_list_of_its_own() {
        let both = "stepsCompleted: [a, b]\nvalidationStepsCompleted: [v]";
        let validation = "validationStepsCompleted: [v]";
        for (frontmatter, track, key, completed) in [
            ("stepsCompleted: [a]", Track::Create, "stepsCompleted", "a"),
            ("stepsCompleted: [a]", Track::Validate, "stepsCompleted", "a"),
            (both, Track::Create, "stepsCompleted", "a b"),
            (both, Track::Edit, "stepsCompleted", "a b"),
            (both, Track::Validate, "validationStepsCompleted", "v"),
            (validation, Track::Create, "validationStepsCompleted", "v"),
            (validation, Track::Validate, "validationStepsCompleted", "v"),
            ("title: x", Track::Create, "stepsCompleted", ""),
            ("title: x", Track::Validate, "stepsCompleted", ""),
        ] {
            let artifact = artifact(frontmatter, "");
            assert_eq!(step_list_key(&artifact, track), key, "{frontmatter} {track:?}");
            let lists = StepLists::read(&artifact, track);
            let spelled: Vec<String> = lists.completed().iter().map(StepId::to_string).collect();
            assert_eq!(spelled.join(" "), completed, "{frontmatter} {track:?}");
            assert_eq!(lists.record().completed, lists.completed());
        }
    }

    #[test]
    fn the_record_has_the_last_step_and_says_whether_there_is_a_body() {
        for (frontmatter, body, last, content) in [
            ("lastStep: step-02-x", "# PRD\n", Some("step-02-x"), Content::Present),
            ("lastStep: 3", "\n \n", Some("3"), Content::Empty),
            ("lastStep: ''", "", None, Content::Empty),
            ("title: x", "x", None, Content::Present),
            ("title: x", "# PRD: {{name}}\n\n**Author:** {{user}}\n\n## Scope\n", None, Content::Empty),
            ("title: x", "# PRD: {{name}}\n\nWritten already.\n", None, Content::Present),
        ] {
            let lists = StepLists::read(&artifact(frontmatter, body), Track::Create);
            let record = lists.record();
            assert_eq!(record.last_step.map(StepId::to_string).as_deref(), last, "{frontmatter}");
            assert_eq!(record.content, content, "{body:?}");
        }
        assert_eq!(StepLists::default().record().content, Content::Empty);
    }

    #[test]
    fn any_key_about_steps_is_a_list_to_bind_by() {
        for (frontmatter, expected) in [
            ("status: draft", StepList::Absent),
            ("lastStep: 2", StepList::Completed),
            ("currentStep: 2", StepList::Completed),
            ("stepsCompleted: []", StepList::Completed),
            ("validationStepsCompleted: [1]", StepList::Validation),
            ("stepsCompleted: [1]\nvalidationStepsCompleted: [1]", StepList::Completed),
        ] {
            assert_eq!(StepList::from(&artifact(frontmatter, "")), expected, "{frontmatter}");
        }
    }

    #[test]
    fn spellings_of_one_step_are_one_and_no_other() {
        let workflow = WorkflowDefinition::declared(
            "prd",
            &["step-01-init", "step-02-vision", "step-03-success", "step-12-end"],
        );
        let completed: Vec<StepId> =
            ["1", "step-02-vision.md", "step-01b-continue", "edit-2026-02-24"].map(StepId::parse).into();
        for (asked, expected) in [
            ("step-01-init", true),
            ("01", true),
            ("2", true),
            ("step-02-vision-skipped", true),
            ("step-03-success", false),
            ("3", false),
            ("12", false),
            ("step-01b-continue", false),
            ("edit-2026-02-24", true),
            ("edit-2026-02-25", false),
            ("", false),
        ] {
            assert_eq!(lists_step(Some(&workflow), &completed, &StepId::parse(asked)), expected, "{asked}");
        }
        let alone: Vec<StepId> = ["step-02-vision", "5"].map(StepId::parse).into();
        for (asked, expected) in
            [("step-02-vision", true), ("2", false), ("05", true), ("step-05", true), ("step-05-x", false)]
        {
            assert_eq!(lists_step(None, &alone, &StepId::parse(asked)), expected, "{asked}");
        }
    }
}
