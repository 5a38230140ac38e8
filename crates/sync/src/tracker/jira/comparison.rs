//! In what an issue differs from what it should say. Pure.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{
    JiraSettings,
    adf::{Description, Section},
    extra_fields::{self, summary},
    issue::{ISSUE_TYPE, ISSUE_TYPE_ID, SUB_TASK_OF},
    marker_property::all_spelled,
    service::JiraIssueTypes,
    status::{StatusGoal, same_name},
};
use crate::ticket::{
    FieldDifference, MergeError, Observed, RemoteTicket, Ticket, TicketKind, labels_agree, merged_labels,
    parent_difference, shown_marker,
};

pub(super) struct Labels {
    pub(super) current: BTreeSet<String>,
    pub(super) wanted: BTreeSet<String>,
}

impl JiraSettings {
    /// The managed fields in which `observed` differs from `desired`; `before` is what it was last made to
    /// say.
    pub(super) fn differences(
        &self,
        desired: &Ticket,
        before: Option<&Ticket>,
        observed: &Observed,
    ) -> Result<Vec<FieldDifference>, MergeError> {
        let mut differences: Vec<FieldDifference> = Vec::new();
        let titles = (observed.title.as_str().into(), summary(&desired.title).into());
        differences.extend(FieldDifference::between("title", titles.0, titles.1));
        differences.extend(body_difference(desired, observed)?);
        if let Some(labels) = self.labels(desired, before, observed) {
            let list = |labels: &BTreeSet<String>| labels.iter().cloned().collect();
            differences.extend(FieldDifference::between(
                "labels",
                list(&labels.current),
                list(&labels.wanted),
            ));
        }
        differences.extend(self.status_difference(desired, observed));
        if self.can_hang(desired, observed) {
            differences.extend(parent_difference(desired, before, observed));
        }
        differences.extend(extra_fields::differences(desired, before));
        Ok(differences)
    }

    pub(super) fn labels(
        &self,
        desired: &Ticket,
        before: Option<&Ticket>,
        observed: &Observed,
    ) -> Option<Labels> {
        let desired = all_spelled(&desired.labels);
        let mut own = before.map(|before| all_spelled(&before.labels)).unwrap_or_default();
        // The ledger may be a new one: what the ticket itself says counts, too.
        if let Ok(description) = Description::parse(&observed.body) {
            own.extend(description.labels_named(&observed.marker));
        }
        let current = observed.labels.clone();
        if labels_agree(&current, &own, &desired) {
            return None;
        }
        let wanted = merged_labels(&current, &own, &desired);
        Some(Labels { current, wanted })
    }

    fn status_difference(&self, desired: &Ticket, observed: &Observed) -> Option<FieldDifference> {
        let goal = StatusGoal::of(desired, &self.statuses);
        if goal.is_met_by(observed) {
            return None;
        }
        if let StatusGoal::Named(name) = goal {
            let before = observed.status.as_deref().map_or(Json::Null, Json::from);
            return FieldDifference::between("status", before, name.into());
        }
        let [before, after] =
            [observed.state, desired.state].map(|state| serde_json::to_value(state).unwrap_or_default());
        FieldDifference::between("state", before, after)
    }

    /// Returns whether an issue is of a type that hangs below others. The type of an issue that is there
    /// cannot be changed by a request of its own.
    pub(super) fn can_hang(&self, desired: &Ticket, observed: &Observed) -> bool {
        let is_child = self.types.child.as_ref().is_some_and(|child| is_of_type(&observed.remote, child));
        is_child || self.types.is_story(desired, observed)
    }

    /// Returns whether an issue hangs elsewhere than it should, where it is known below which one that is.
    pub(super) fn parent_missing(
        &self,
        desired: &Ticket,
        (before, parent): (Option<&Ticket>, Option<&RemoteTicket>),
        observed: &Observed,
    ) -> Option<FieldDifference> {
        if self.types.child.is_none() && !self.types.knows_epic_of(desired) {
            return None;
        }
        match (&desired.parent, parent) {
            (Some(_), Some(parent)) if observed.parent_id.as_deref() == Some(upper(parent)) => None,
            (Some(wanted), Some(_)) => {
                FieldDifference::between("parent", Json::Null, shown_marker(Some(wanted)))
            }
            _ => parent_difference(desired, before, observed),
        }
    }
}

impl JiraIssueTypes {
    pub(super) fn of_new<'t>(
        &'t self,
        desired: &Ticket,
        parent: Option<&'t RemoteTicket>,
    ) -> (&'t str, Option<&'t str>) {
        match (&self.child, &desired.parent, parent) {
            (_, Some(_), Some(parent)) if self.is_below_epic(desired, parent) => {
                (self.of_story(), Some(parent.id.as_str()))
            }
            (Some(child), Some(_), Some(parent)) => (child, Some(upper(parent))),
            _ => match (desired.kind, &self.epic) {
                (TicketKind::Epic, Some(epic)) => (epic, None),
                (TicketKind::Story, _) => (self.of_story(), None),
                _ => (&self.standard, None),
            },
        }
    }

    pub(super) fn is_story(&self, desired: &Ticket, observed: &Observed) -> bool {
        self.knows_epic_of(desired) && is_of_type(&observed.remote, self.of_story())
    }

    pub(super) fn names(&self) -> Vec<&str> {
        let others = [&self.epic, &self.story, &self.child].into_iter().flatten();
        others.chain([&self.standard]).map(String::as_str).collect()
    }

    fn of_story(&self) -> &str {
        self.story.as_ref().unwrap_or(&self.standard)
    }

    fn knows_epic_of(&self, desired: &Ticket) -> bool {
        self.epic.is_some() && desired.kind == TicketKind::Story
    }

    /// Returns whether `parent` is the issue of an epic, so that stories of any type may hang below it. It
    /// may have been made as another type.
    pub(super) fn is_below_epic(&self, desired: &Ticket, parent: &RemoteTicket) -> bool {
        desired.kind == TicketKind::Story && self.epic.as_ref().is_some_and(|epic| is_of_type(parent, epic))
    }
}

fn is_of_type(remote: &RemoteTicket, wanted: &str) -> bool {
    let told = |key: &str| remote.other_ids.get(key);
    told(ISSUE_TYPE_ID).is_some_and(|id| id == wanted)
        || told(ISSUE_TYPE).is_some_and(|name| same_name(name, wanted))
}

/// The id of the issue that hangs below others no more: what should hang below a sub-task hangs beside it.
pub(super) fn upper(parent: &RemoteTicket) -> &str {
    parent.other_ids.get(SUB_TASK_OF).unwrap_or(&parent.id)
}

fn body_difference(desired: &Ticket, observed: &Observed) -> Result<Option<FieldDifference>, MergeError> {
    let section = Section(desired);
    // What is no document is told when it is to be written.
    let Ok(description) = Description::parse(&observed.body) else {
        let (field, before) = ("body".to_owned(), Json::Null);
        return Ok(Some(FieldDifference { field, before, after: Json::Null }));
    };
    if section.is_in(&description)? {
        return Ok(None);
    }
    let text =
        |description: &Description| description.section_text(&desired.marker).map_or(Json::Null, Json::from);
    let after = section.merged_into(&description)?;
    // Built by hand: texts may be the same where only their form differs.
    let (before, after) = (text(&description), text(&after));
    Ok(Some(FieldDifference { field: "body".to_owned(), before, after }))
}
