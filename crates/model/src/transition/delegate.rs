//! Delegation of work to a child artifact.

use super::{TransitionRefusal, step_choice::is_completed};
use crate::{
    artifact::{Artifact, STEPS_KEYS, Steps},
    delegation::{ChainPosition, Completion, Member},
    workflow::{Content, StepId, StepList, StepMatch, StepRecord, Track, WorkflowDefinition},
};
use stepmark_frontmatter::{Edit, EditError, KeyPath, Region, Value, apply};

#[derive(Clone, Debug, PartialEq)]
pub struct DelegationPlan {
    pub parent: Vec<Edit>,
    pub from: ChainPosition,
    pub position: ChainPosition,
}

#[derive(Clone, Copy, Debug)]
pub struct NewChild<'a> {
    pub position: &'a ChainPosition,
    pub title: &'a str,
    pub agent: &'a str,
    pub task: Option<&'a str>,
    /// Relative to the child's folder.
    pub parent_link: &'a str,
}

pub fn delegate(
    parent: &Artifact,
    completion: Completion,
    parent_id: &str,
    child_id: &str,
) -> Result<DelegationPlan, TransitionRefusal> {
    super::status_move::refuse_unreadable(parent)?;
    if completion.is_finished() {
        return Err(TransitionRefusal::Finished);
    }
    let member = Member::of(parent, None);
    let from = ChainPosition::of(&member, parent_id)?;
    let position = from.child(child_id)?;
    let mut edits = Vec::new();
    if member.identity.is_none() {
        edits.push(Edit::Set { path: KeyPath::key("stepmark_id"), value: Value::from(from.id()) });
    }
    if member.delegation.is_none() {
        edits.push(Edit::Set { path: KeyPath::key("delegation"), value: from.to_value() });
    }
    Ok(DelegationPlan { parent: edits, from, position })
}

impl NewChild<'_> {
    pub fn to_bytes(&self) -> Result<Vec<u8>, EditError> {
        let title = self.title.trim();
        let task = self.task.map_or_else(String::new, |task| format!("\n{}\n", task.trim_end()));
        let file = format!(
            "---\nstatus: todo\nstepsCompleted: []\n---\n\n# {}\n\nDelegated from [{link}]({link}).\n{task}",
            title.replace(['\n', '\r'], " "),
            link = self.parent_link,
        );
        let set = |key: &str, value| Edit::Set { path: KeyPath::key(key), value };
        let edits = [
            set("title", Value::from(title)),
            set("assignee", Value::from(self.agent)),
            set("stepmark_id", Value::from(self.position.id())),
            set("delegation", self.position.to_value()),
        ];
        Ok(apply(file.as_bytes(), &Region::Frontmatter, &edits)?.bytes)
    }
}

/// Parsed once.
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

/// Validation reports have a list of their own.
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

/// In any spelling. Resume markers (`step-01b-continue`) are never progress, so never listed.
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

    fn artifact(file: &str) -> Artifact {
        Artifact::read(ProjectPath::new("docs/prd.md").unwrap(), file.as_bytes().to_vec())
    }

    #[test]
    fn a_parent_gets_what_it_lacks_and_no_more() {
        for (file, keys, chain) in [
            ("---\nstatus: draft\n---\n", &["stepmark_id", "delegation"][..], ["new", "c"]),
            ("---\nid: PRD-1\n---\n", &["delegation"], ["PRD-1", "c"]),
            ("---\nid: x\ndelegation: {id: x}\n---\n", &[], ["x", "c"]),
            ("---\ndelegation: {id: y}\n---\n", &["stepmark_id"], ["y", "c"]),
        ] {
            let plan = delegate(&artifact(file), Completion::default(), "new", "c").unwrap();
            let edited: Vec<String> = plan.parent.iter().map(|edit| edit.path().to_string()).collect();
            assert_eq!(
                (edited, plan.position.chain()),
                (keys.iter().map(|key| (*key).to_owned()).collect(), &chain.map(str::to_owned)[..]),
                "{file}"
            );
            assert!(apply(file.as_bytes(), &Region::Frontmatter, &plan.parent).is_ok());
        }
        let finished = Completion { by_status: true, ..Completion::default() };
        assert_eq!(
            delegate(&artifact("---\nid: a\n---\n"), finished, "n", "c"),
            Err(TransitionRefusal::Finished)
        );
        let broken = delegate(&artifact("---\na: [\n---\n"), Completion::default(), "n", "c");
        assert!(matches!(broken, Err(TransitionRefusal::Unreadable { .. })));
    }

    #[test]
    fn a_child_says_what_it_was_given() {
        let position = ChainPosition::root("r").child("c-1").unwrap();
        let child = NewChild {
            position: &position,
            title: "Review: the \"API\" # now\n",
            agent: "yes",
            task: Some("Look at it.\n\n---\nkey: value\n"),
            parent_link: "../prd.md",
        };
        let bytes = child.to_bytes().unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let read = Artifact::read(ProjectPath::new("docs/c.md").unwrap(), bytes);
        assert!(read.diagnoses().is_empty(), "{text}\n{:?}", read.diagnoses());
        let state = read.state_value().unwrap();
        assert_eq!(
            (state["title"].as_str(), state["assignee"].as_str()),
            (Some("Review: the \"API\" # now"), Some("yes")),
            "{text}"
        );
        assert_eq!(
            (state["status"].as_str(), &state["stepsCompleted"]),
            (Some("todo"), &serde_json::json!([]))
        );
        assert_eq!(state["delegation"]["chain_path"], serde_json::json!(["r", "c-1"]));
        assert!(text.ends_with("\nLook at it.\n\n---\nkey: value\n"), "{text}");
    }
}

#[cfg(test)]
mod record_tests {
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
