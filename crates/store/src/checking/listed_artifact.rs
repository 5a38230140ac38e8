//! An artifact in a list, with the fields for queries.

use std::sync::Arc;

use crate::checking::SummaryRow;
use stepmark_model::{
    artifact::ProjectPath,
    selection::{FieldValue, Selectable, SelectionField, StatusValue},
    summary::ArtifactSummary,
};

#[derive(Clone, Debug)]
pub struct ListedArtifact<'s> {
    row: SummaryRow<'s>,
    summary: ArtifactSummary<'s>,
}

impl<'s> ListedArtifact<'s> {
    pub(super) fn new(row: SummaryRow<'s>) -> Self {
        Self { row, summary: row.summary() }
    }

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

    /// Empty if its workflow is not known.
    fn of_progress(&self, field: SelectionField) -> FieldValue {
        let Some(progress) = &self.summary.progress else { return FieldValue::Empty };
        let number = |number: usize| FieldValue::Number(number as u64);
        match field {
            SelectionField::Done => number(progress.done),
            SelectionField::Total => number(progress.total),
            SelectionField::Progress => {
                (progress.done * 100).checked_div(progress.total).map_or(FieldValue::Empty, number)
            }
            SelectionField::WorkState => text(Some(progress.state.as_str())),
            _ => {
                let names = progress.next.steps().iter().map(|step| step.name.to_owned());
                FieldValue::of_texts(names.collect())
            }
        }
    }
}

impl Selectable for ListedArtifact<'_> {
    fn value(&self, field: SelectionField) -> FieldValue {
        let summary = &self.summary;
        match field {
            SelectionField::Path => FieldValue::Text(summary.path.as_str().to_owned()),
            SelectionField::Id => text(summary.id),
            SelectionField::Title => text(summary.title.or(summary.heading.as_deref())),
            SelectionField::Workflow => text(summary.workflow.known()),
            SelectionField::Status => self.status(),
            SelectionField::Scope => summary.scope().map_or(FieldValue::Empty, FieldValue::Scope),
            SelectionField::WorkState
            | SelectionField::Done
            | SelectionField::Total
            | SelectionField::Progress
            | SelectionField::Next => self.of_progress(field),
            SelectionField::Agent => text(summary.agent.as_deref()),
            SelectionField::Parent => text(summary.parent),
            SelectionField::Problems => FieldValue::Number(self.row.problems().problems() as u64),
            SelectionField::Modified => self.row.modified().map_or(FieldValue::Empty, FieldValue::Time),
            SelectionField::Key(key) => {
                self.row.read().map_or(FieldValue::Empty, |read| FieldValue::of_key(read.artifact(), key))
            }
            SelectionField::Updated => summary.updated.map_or(FieldValue::Empty, FieldValue::Time),
        }
    }
}

impl Selectable for SummaryRow<'_> {
    fn value(&self, field: SelectionField) -> FieldValue {
        self.listed().value(field)
    }
}

fn text(text: Option<&str>) -> FieldValue {
    FieldValue::of_text(text.map(str::to_owned))
}
