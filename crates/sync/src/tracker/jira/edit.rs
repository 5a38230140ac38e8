//! The request that changes the fields of an issue. Pure.

use serde_json::{Map, Value as Json, json};

use super::{
    JiraSettings,
    adf::{Description, Section},
    comparison::upper,
    extra_fields::{self, summary},
    issue::SUB_TASK_OF,
    marker_property::property,
    project_facts::TypeFacts,
};
use crate::{
    breaker::{Failure, Reason},
    ticket::{Observed, Ticket},
    tracker::Change,
};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Edit {
    pub(super) body: Json,
    pub(super) after: Observed,
}

/// The marker of an issue, there or missing: the property may have been taken from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marked {
    Yes,
    No,
}

impl JiraSettings {
    /// The request that makes the fields of an issue say what they should; `None` where they do. `own` is
    /// what is known of its type. Labels are added and taken away one by one, so that those which people give
    /// meanwhile stay.
    pub(super) fn edit(
        &self,
        change: &Change,
        current: &Observed,
        (marked, own, moves): (Marked, Option<&TypeFacts>, bool),
    ) -> Result<Option<Edit>, Failure> {
        let (desired, before) = (&change.desired, change.before.as_ref());
        let mut after = current.clone();
        // What a closed issue has in other fields is not known where it was only found, and a workflow may
        // not let it be changed.
        let stays_closed = !current.state.is_open() && !desired.state.is_open();
        let mut fields = match before {
            None if stays_closed => Map::new(),
            _ => extra_fields::values(desired, before, own)
                .map_err(|error| Failure::new(Reason::Invalid, &error))?,
        };
        let mut update = Map::new();
        let title = summary(&desired.title);
        if current.title != title {
            fields.insert("summary".to_owned(), title.clone().into());
            after.title = title;
        }
        if let Some(description) = description(desired, current)? {
            fields.insert("description".to_owned(), description.json());
            after.body = description.into();
        }
        if let Some(labels) = self.labels(desired, before, current) {
            let added = labels.wanted.difference(&labels.current).map(|label| json!({ "add": label }));
            let removed = labels.current.difference(&labels.wanted).map(|label| json!({ "remove": label }));
            update.insert("labels".to_owned(), added.chain(removed).collect());
            after.labels = labels.wanted;
        }
        if self.can_hang(desired, current) {
            let is_child = !self.types.is_story(desired, current);
            match &change.parent {
                // Jira would refuse a story below anything but an epic.
                Some(parent)
                    if desired.parent.is_some()
                        && (is_child || self.types.is_below_epic(desired, parent)) =>
                {
                    let parent = upper(parent);
                    if current.parent_id.as_deref() != Some(parent) {
                        fields.insert("parent".to_owned(), json!({ "id": parent }));
                        after.parent_id = Some(parent.to_owned());
                    }
                }
                _ if may_be_freed(desired, before, current) => {
                    update.insert("parent".to_owned(), json!([{ "set": { "none": true } }]));
                    after.parent_id = None;
                }
                _ => {}
            }
        }
        let mut body = Map::new();
        let parts = [("fields", fields), ("update", update)].into_iter().filter(|(_, part)| !part.is_empty());
        body.extend(parts.map(|(name, part)| (name.to_owned(), Json::Object(part))));
        // Whatever changes, the issue says what it was written from.
        let stamp = desired.stamp.over(&current.stamp);
        let says_more = !body.is_empty() || moves && stamp.commit != current.stamp.commit;
        if marked == Marked::No || says_more {
            body.insert("properties".to_owned(), json!([property(&desired.marker, &stamp)]));
        }
        Ok((!body.is_empty()).then(|| Edit { body: Json::Object(body), after }))
    }
}

fn description(desired: &Ticket, current: &Observed) -> Result<Option<Description>, Failure> {
    let refused = |error: &dyn std::fmt::Display| Failure::new(Reason::Invalid, &error.to_string());
    let description = Description::parse(&current.body).map_err(|error| refused(&error))?;
    let section = Section(desired);
    if section.is_in(&description).map_err(|error| refused(&error))? {
        return Ok(None);
    }
    section.merged_into(&description).map(Some).map_err(|error| refused(&error))
}

/// Returns whether stepmark put an issue below another one and may take it from there: a sub-task is always
/// one of something, and a parent that a person gave stays.
fn may_be_freed(desired: &Ticket, before: Option<&Ticket>, current: &Observed) -> bool {
    desired.parent.is_none()
        && current.parent_id.is_some()
        && before.is_some_and(|before| before.parent.is_some())
        && !current.remote.other_ids.contains_key(SUB_TASK_OF)
}
