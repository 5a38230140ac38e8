//! What questions ask of an artifact.
#![expect(clippy::disallowed_methods, reason = "an edge module: the time of a file is asked here")]

use std::{fs, sync::Arc};

use jiff::Timestamp;

use crate::workspace::Workspace;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::Field as ArtifactField,
    check::Severity,
    delegation::Agent,
    selection::{FieldValue, Selectable, SelectionField, StatusValue},
    workflow::Next,
};

/// An artifact as a row of a list.
#[derive(Clone, Copy, Debug)]
pub struct ListedArtifact<'w> {
    workspace: &'w Workspace,
    artifact: &'w TrackedArtifact,
    problems: Option<usize>,
}

impl Workspace {
    /// The artifact as a row of a list: what a [`Selection`](stepmark_model::selection::Selection) is asked of.
    pub const fn listed<'w>(&'w self, artifact: &'w TrackedArtifact) -> ListedArtifact<'w> {
        ListedArtifact { workspace: self, artifact, problems: None }
    }
}

impl<'w> ListedArtifact<'w> {
    /// The artifact.
    pub const fn artifact(&self) -> &'w TrackedArtifact {
        self.artifact
    }

    /// The same with the number of its errors and warnings from a check, which knows other files too.
    #[must_use]
    pub const fn with_problems(self, problems: usize) -> Self {
        Self { problems: Some(problems), ..self }
    }

    fn status(&self) -> FieldValue {
        match filled(self.artifact.state().status.as_ref()) {
            Some(word) => {
                let lifecycle = self.artifact.lifecycle().map(|choice| Arc::clone(&choice.lifecycle));
                FieldValue::Status(StatusValue { word, lifecycle })
            }
            None => FieldValue::Empty,
        }
    }

    /// How far it is; nothing where its workflow is not known.
    fn of_progress(&self, field: SelectionField) -> FieldValue {
        let Some(progress) = self.artifact.progress() else { return FieldValue::Empty };
        let number = |number: usize| FieldValue::Number(number as u64);
        match field {
            SelectionField::Done => number(progress.done_units),
            SelectionField::Total => number(progress.total),
            SelectionField::Progress => {
                (progress.done_units * 100).checked_div(progress.total).map_or(FieldValue::Empty, number)
            }
            SelectionField::Standing => FieldValue::Text(progress.state.as_str().to_owned()),
            _ => FieldValue::of_texts(match &progress.next {
                Next::Step { step, .. } => vec![step.name().to_owned()],
                Next::Choice(steps) => steps.iter().map(|step| step.name().to_owned()).collect(),
                Next::Finished | Next::Unknown(_) => Vec::new(),
            }),
        }
    }

    fn problems(&self) -> FieldValue {
        let own = || {
            let findings = self.workspace.own_findings(self.artifact);
            findings.iter().filter(|finding| finding.severity != Severity::Note).count()
        };
        FieldValue::Number(self.problems.unwrap_or_else(own) as u64)
    }

    fn modified(&self) -> FieldValue {
        let place = self.workspace.root().resolve(self.artifact.path()).ok();
        let modified = place.and_then(|place| fs::metadata(place).ok()?.modified().ok());
        let moment = modified.and_then(|time| Timestamp::try_from(time).ok());
        // Seconds are what a person asks for.
        let moment = moment.and_then(|moment| Timestamp::from_second(moment.as_second()).ok());
        moment.map_or(FieldValue::Empty, FieldValue::Time)
    }
}

impl Selectable for ListedArtifact<'_> {
    fn value(&self, field: SelectionField) -> FieldValue {
        let state = self.artifact.state();
        match field {
            SelectionField::Path => FieldValue::Text(self.artifact.path().to_string()),
            SelectionField::Id => {
                FieldValue::of_text(filled(state.id.as_ref()).or_else(|| filled(state.stepmark_id.as_ref())))
            }
            SelectionField::Title => FieldValue::of_text(filled(state.title.as_ref())),
            SelectionField::Workflow => {
                FieldValue::of_text(self.artifact.workflow().map(|workflow| workflow.name.clone()))
            }
            SelectionField::Status => self.status(),
            SelectionField::Scope => state.scope().map_or(FieldValue::Empty, FieldValue::Scope),
            SelectionField::Standing
            | SelectionField::Done
            | SelectionField::Total
            | SelectionField::Progress
            | SelectionField::Next => self.of_progress(field),
            SelectionField::Agent => {
                FieldValue::of_text(Agent::of(self.artifact.artifact()).map(|Agent(agent)| agent))
            }
            SelectionField::Parent => {
                let delegation = state.delegation.as_ref();
                let parent = delegation.and_then(|delegation| delegation.parent_id());
                FieldValue::of_text(parent.map(str::to_owned))
            }
            SelectionField::Problems => self.problems(),
            SelectionField::Modified => self.modified(),
            SelectionField::Updated => FieldValue::latest_of(&state.times),
        }
    }
}

fn filled(field: Option<&ArtifactField>) -> Option<String> {
    field.and_then(ArtifactField::filled).map(str::to_owned)
}
