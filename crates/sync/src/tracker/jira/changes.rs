//! Differences of issues, and the request that removes them. Pure.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::{
    adf::{Description, Section},
    issue::{self, ISSUE_TYPE, ISSUE_TYPE_ID, SUB_TASK_OF, all_spelled, property, summary},
    project_facts::TypeFacts,
    service::{JiraIssueTypes, JiraSettings},
    status::{StatusGoal, same_name},
};
use crate::{
    Result,
    breaker::{Failure, Reason},
    ticket::{
        Differences, FieldDifference, Observed, RemoteTicket, Ticket, TicketKind, labels_agree,
        merged_labels, parent_difference, shown_marker,
    },
    tracker::Change,
};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Edit {
    pub(super) body: Json,
    pub(super) after: Observed,
}

impl JiraSettings {
    /// `before` is what it was last made to say.
    pub(super) fn differences(
        &self,
        desired: &Ticket,
        before: Option<&Ticket>,
        observed: &Observed,
    ) -> Differences {
        let mut differences = self.own_differences(desired, before, observed)?;
        if self.can_hang(desired, observed) {
            differences.extend(parent_difference(desired, before, observed));
        }
        differences.extend(issue::differences(desired, before));
        Ok(differences)
    }

    /// After a successful edit: old labels are removed by now, and the other fields were accepted or refused
    /// with the request.
    pub(super) fn missing(
        &self,
        desired: &Ticket,
        (before, parent): (Option<&Ticket>, Option<&RemoteTicket>),
        observed: &Observed,
    ) -> Differences {
        let mut missing = self.own_differences(desired, Some(desired), observed)?;
        missing.extend(self.parent_missing(desired, (before, parent), observed));
        Ok(missing)
    }

    fn own_differences(&self, desired: &Ticket, before: Option<&Ticket>, observed: &Observed) -> Differences {
        let titles = (observed.title.as_str().into(), summary(&desired.title).into());
        let title = FieldDifference::between("title", titles.0, titles.1);
        let labels = labels(desired, before, observed).and_then(|wanted| {
            let list = |labels: &BTreeSet<String>| labels.iter().cloned().collect();
            FieldDifference::between("labels", list(&observed.labels), list(&wanted))
        });
        let all =
            [title, body_difference(desired, observed)?, labels, self.status_difference(desired, observed)];
        Ok(all.into_iter().flatten().collect())
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

    /// No request of its own changes the type of an issue.
    fn can_hang(&self, desired: &Ticket, observed: &Observed) -> bool {
        let is_child = self.types.child.as_ref().is_some_and(|child| is_of_type(&observed.remote, child));
        is_child || self.types.is_story(desired, observed)
    }

    fn parent_missing(
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

    /// `None` if nothing differs. `own` are the facts of its type. Adds a lost marker, since the property may
    /// have been removed. Labels are added and removed one by one: people's stay.
    pub(super) fn edit(
        &self,
        change: &Change,
        current: &Observed,
        (is_marked, own, moves): (bool, Option<&TypeFacts>, bool),
    ) -> Result<Option<Edit>, Failure> {
        let (desired, before) = (&change.desired, change.before.as_ref());
        let mut after = current.clone();
        // What a closed issue has in other fields is not known where it was only found, and a workflow may
        // not let it be changed.
        let stays_closed = !current.state.is_open() && !desired.state.is_open();
        let mut fields = match before {
            None if stays_closed => Map::new(),
            _ => issue::values(desired, before, own).map_err(|error| invalid(&error))?,
        };
        let mut update = Map::new();
        let title = summary(&desired.title);
        if current.title != title {
            fields.insert("summary".to_owned(), title.clone().into());
            after.title = title;
        }
        let description = Description::parse(&current.body).map_err(|error| invalid(&error))?;
        if let Some(renewed) = Section(desired).renewed(&description).map_err(|error| invalid(&error))? {
            fields.insert("description".to_owned(), renewed.json());
            after.body = renewed.into();
        }
        if let Some(wanted) = labels(desired, before, current) {
            let added = wanted.difference(&current.labels).map(|label| json!({ "add": label }));
            let removed = current.labels.difference(&wanted).map(|label| json!({ "remove": label }));
            update.insert("labels".to_owned(), added.chain(removed).collect());
            after.labels = wanted;
        }
        self.edit_parent(change, &mut after, (&mut fields, &mut update));
        let mut body = Map::new();
        let parts = [("fields", fields), ("update", update)].into_iter().filter(|(_, part)| !part.is_empty());
        body.extend(parts.map(|(name, part)| (name.to_owned(), Json::Object(part))));
        // Whatever changes, the issue says what it was written from.
        let stamp = desired.stamp.over(&current.stamp);
        let says_more = !body.is_empty() || moves && stamp.commit != current.stamp.commit;
        if !is_marked || says_more {
            body.insert("properties".to_owned(), json!([property(&desired.marker, &stamp)]));
        }
        Ok((!body.is_empty()).then(|| Edit { body: Json::Object(body), after }))
    }

    fn edit_parent(
        &self,
        change: &Change,
        issue: &mut Observed,
        (fields, update): (&mut Map<String, Json>, &mut Map<String, Json>),
    ) {
        let (desired, before) = (&change.desired, change.before.as_ref());
        if !self.can_hang(desired, issue) {
            return;
        }
        // Jira would refuse a story below anything but an epic.
        let takes = |parent: &&RemoteTicket| {
            desired.parent.is_some()
                && (!self.types.is_story(desired, issue) || self.types.is_below_epic(desired, parent))
        };
        if let Some(parent) = change.parent.as_ref().filter(takes).map(upper) {
            if issue.parent_id.as_deref() != Some(parent) {
                fields.insert("parent".to_owned(), json!({ "id": parent }));
                issue.parent_id = Some(parent.to_owned());
            }
        } else if may_be_freed(desired, before, issue) {
            update.insert("parent".to_owned(), json!([{ "set": { "none": true } }]));
            issue.parent_id = None;
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

    fn is_story(&self, desired: &Ticket, observed: &Observed) -> bool {
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

    /// Stories of any type may be below an epic; the issue may have been made as another type.
    fn is_below_epic(&self, desired: &Ticket, parent: &RemoteTicket) -> bool {
        desired.kind == TicketKind::Story && self.epic.as_ref().is_some_and(|epic| is_of_type(parent, epic))
    }
}

fn is_of_type(remote: &RemoteTicket, wanted: &str) -> bool {
    let told = |key: &str| remote.other_ids.get(key);
    told(ISSUE_TYPE_ID).is_some_and(|id| id == wanted)
        || told(ISSUE_TYPE).is_some_and(|name| same_name(name, wanted))
}

/// The issue that is no sub-task: a child of a sub-task goes beside it.
fn upper(parent: &RemoteTicket) -> &str {
    parent.other_ids.get(SUB_TASK_OF).unwrap_or(&parent.id)
}

/// Only from a parent that stepmark gave; never a sub-task, which always has one.
fn may_be_freed(desired: &Ticket, before: Option<&Ticket>, current: &Observed) -> bool {
    desired.parent.is_none()
        && current.parent_id.is_some()
        && before.is_some_and(|before| before.parent.is_some())
        && !current.remote.other_ids.contains_key(SUB_TASK_OF)
}

fn labels(desired: &Ticket, before: Option<&Ticket>, observed: &Observed) -> Option<BTreeSet<String>> {
    let desired = all_spelled(&desired.labels);
    let mut own = before.map(|before| all_spelled(&before.labels)).unwrap_or_default();
    // The ledger may be a new one: what the ticket itself says counts, too.
    if let Ok(description) = Description::parse(&observed.body) {
        own.extend(description.labels_named(&observed.marker));
    }
    let current = &observed.labels;
    (!labels_agree(current, &own, &desired)).then(|| merged_labels(current, &own, &desired))
}

fn body_difference(desired: &Ticket, observed: &Observed) -> Result<Option<FieldDifference>> {
    // Built by hand: texts may be the same where only their form differs.
    let difference = |before, after| FieldDifference { field: "body".to_owned(), before, after };
    // An invalid document is reported when it is to be written.
    let Ok(description) = Description::parse(&observed.body) else {
        return Ok(Some(difference(Json::Null, Json::Null)));
    };
    let text =
        |description: &Description| description.section_text(&desired.marker).map_or(Json::Null, Json::from);
    let renewed = Section(desired).renewed(&description)?;
    Ok(renewed.map(|renewed| difference(text(&description), text(&renewed))))
}

fn invalid(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Reason::Invalid, &error.to_string())
}
