//! What questions ask of an artifact.

use std::sync::Arc;

use crate::checking::SummaryRow;
use stepmark_model::{
    artifact::ProjectPath,
    selection::{Field, FieldValue, Selectable, StatusValue},
    summary::ArtifactSummary,
};

/// An artifact in a list, to be asked several questions.
#[derive(Clone, Debug)]
pub struct ListedArtifact<'s> {
    row: SummaryRow<'s>,
    summary: ArtifactSummary<'s>,
}

impl<'s> ListedArtifact<'s> {
    pub(super) fn new(row: SummaryRow<'s>) -> Self {
        Self { row, summary: row.summary() }
    }

    /// The path of the artifact.
    pub const fn path(&self) -> &'s ProjectPath {
        self.summary.path
    }

    fn status(&self) -> FieldValue {
        let Some(word) = self.summary.status.map(str::to_owned) else { return FieldValue::Empty };
        let lifecycles = self.row.workspace().configuration().lifecycles();
        let name = self.summary.lifecycle.as_ref().map(|lifecycle| lifecycle.name);
        let lifecycle = name.and_then(|name| lifecycles.get(name)).map(Arc::clone);
        FieldValue::Status(StatusValue { word, lifecycle })
    }

    /// How far it is; nothing where its workflow is not known.
    fn of_progress(&self, field: Field) -> FieldValue {
        let Some(progress) = &self.summary.progress else { return FieldValue::Empty };
        let number = |number: usize| FieldValue::Number(number as u64);
        match field {
            Field::Done => number(progress.done),
            Field::Total => number(progress.total),
            Field::Progress => {
                (progress.done * 100).checked_div(progress.total).map_or(FieldValue::Empty, number)
            }
            Field::Standing => text(Some(progress.standing.as_str())),
            _ => {
                let names = progress.next.steps().iter().map(|step| step.name.to_owned());
                FieldValue::of_texts(names.collect())
            }
        }
    }
}

impl Selectable for ListedArtifact<'_> {
    fn value(&self, field: Field) -> FieldValue {
        let summary = &self.summary;
        match field {
            Field::Path => FieldValue::Text(summary.path.to_string()),
            Field::Id => text(summary.id),
            Field::Title => text(summary.title),
            Field::Workflow => text(summary.workflow.known()),
            Field::Status => self.status(),
            Field::Scope => summary.scope().map_or(FieldValue::Empty, FieldValue::Scope),
            Field::Standing | Field::Done | Field::Total | Field::Progress | Field::Next => {
                self.of_progress(field)
            }
            Field::Agent => text(summary.agent.as_deref()),
            Field::Parent => text(summary.parent),
            Field::Problems => FieldValue::Number(self.row.problems().problems() as u64),
            Field::Modified => self.row.modified().map_or(FieldValue::Empty, FieldValue::Time),
            Field::Updated => summary.updated.map_or(FieldValue::Empty, FieldValue::Time),
        }
    }
}

impl Selectable for SummaryRow<'_> {
    fn value(&self, field: Field) -> FieldValue {
        self.listed().value(field)
    }
}

fn text(text: Option<&str>) -> FieldValue {
    FieldValue::of_text(text.map(str::to_owned))
}
