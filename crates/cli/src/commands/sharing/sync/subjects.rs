//! The names by which people know the artifacts of a plan.

use std::collections::BTreeMap;

use super::plan;
use stepmark_model::artifact::ProjectPath;
use stepmark_sync::{
    plan::{Plan, Remark},
    ticket::{Marker, Snapshot, SnapshotEntry},
};

/// Paths and titles of artifacts. Their ids mean nothing to people.
#[derive(Default)]
pub(super) struct Subjects {
    known: BTreeMap<Marker, (Option<ProjectPath>, Option<String>)>,
    /// The artifacts that get no ticket, as the last plan says.
    pub(super) remarks: Vec<Remark>,
}

impl Subjects {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let named =
            |(marker, entry): (&Marker, &SnapshotEntry)| (marker.clone(), (Some(entry.path.clone()), None));
        Self { known: snapshot.artifacts().map(named).collect(), remarks: Vec::new() }
    }

    pub(super) fn add(&mut self, plan: &Plan) {
        self.remarks = plan::told_everywhere(&plan.remarks);
        for action in &plan.actions {
            let title = action.ticket.as_ref().map(|ticket| ticket.title.clone());
            let known = self.known.entry(action.marker.clone()).or_default();
            known.0 = known.0.take().or_else(|| action.path.clone());
            known.1 = known.1.take().or(title);
        }
    }

    pub(super) fn add_title(&mut self, marker: &Marker, title: String) {
        self.known.insert(marker.clone(), (None, Some(title)));
    }

    pub(super) fn knows(&self, marker: &Marker) -> bool {
        self.known.contains_key(marker)
    }

    pub(super) fn path(&self, marker: &Marker) -> Option<&ProjectPath> {
        self.known.get(marker)?.0.as_ref()
    }

    /// Returns what people know it by: its path, else its title, else its marker.
    pub(super) fn name(&self, marker: &Marker) -> String {
        match self.known.get(marker) {
            Some((Some(path), _)) => path.to_string(),
            Some((None, Some(title))) => format!("\"{title}\""),
            _ => format!("`{marker}`"),
        }
    }
}

pub(super) fn subjects(plan: &Plan) -> Subjects {
    let mut subjects = Subjects::default();
    subjects.add(plan);
    subjects
}
