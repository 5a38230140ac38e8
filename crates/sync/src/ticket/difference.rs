//! The differences between two tickets.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

#[cfg(feature = "http")]
use super::{Marker, Observed};
use super::{Ticket, markdown};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldDifference {
    /// `title`, `body`, `labels`, `state`, `status`, `parent`, or `fields.NAME`.
    pub field: String,
    /// The value that it has; null where it has none, or that is not known.
    pub before: Json,
    /// The value that it should have; null where it should have none.
    pub after: Json,
}

impl FieldDifference {
    /// That `field` says `before` and should say `after`; `None` where that is the same.
    pub fn between(field: &str, before: Json, after: Json) -> Option<Self> {
        (before != after).then(|| Self { field: field.to_owned(), before, after })
    }
}

impl Ticket {
    /// Returns what has to be changed in a ticket that says `before`, in the order of the fields; everything
    /// where that is not known.
    pub fn differences(&self, before: Option<&Self>) -> Vec<FieldDifference> {
        let (own, other) = (self.shown(), before.map(Self::shown).unwrap_or_default());
        let names = own.iter().chain(&other).map(|(name, _)| name);
        let mut differences: Vec<FieldDifference> = Vec::new();
        for name in names {
            let value = |fields: &[(String, Json)]| {
                let field = fields.iter().find(|(own, _)| own == name);
                field.map_or(Json::Null, |(_, value)| value.clone())
            };
            if differences.iter().all(|difference| difference.field != *name) {
                differences.extend(FieldDifference::between(name, value(&other), value(&own)));
            }
        }
        differences
    }

    /// The fields as they are shown to people, in their order.
    fn shown(&self) -> Vec<(String, Json)> {
        let text = |text: &Option<String>| text.clone().map_or(Json::Null, Json::String);
        let body = markdown(&self.body, &self.file, usize::MAX).text;
        let mut fields = vec![
            ("title".to_owned(), Json::from(self.title.as_str())),
            ("body".to_owned(), Json::from(body)),
            ("labels".to_owned(), self.labels.iter().cloned().collect()),
            ("state".to_owned(), serde_json::to_value(self.state).unwrap_or_default()),
            ("status".to_owned(), text(&self.status)),
            ("parent".to_owned(), text(&self.parent.as_ref().map(ToString::to_string))),
        ];
        let own =
            self.fields.iter().map(|(name, value)| (format!("fields.{name}"), Json::from(value.as_str())));
        fields.extend(own);
        fields
    }
}

/// The labels that a ticket with the labels `current` should have: the desired ones, and those of people.
/// `own` are those that stepmark gave to it: a label that only looks like one of ours is a person's.
pub fn merged_labels(
    current: &BTreeSet<String>,
    own: &BTreeSet<String>,
    desired: &BTreeSet<String>,
) -> BTreeSet<String> {
    let is_in = |labels: &BTreeSet<String>, label: &str| labels.iter().any(|own| same_label(own, label));
    let is_foreign = |label: &&String| !is_in(own, label) && !is_in(desired, label);
    desired.iter().chain(current.iter().filter(is_foreign)).cloned().collect()
}

/// Returns whether a ticket with the labels `current` has those that it should have and no other of ours.
/// Case does not matter: GitHub takes labels that differ in it for one.
pub fn labels_agree(current: &BTreeSet<String>, own: &BTreeSet<String>, desired: &BTreeSet<String>) -> bool {
    let folded = |labels: &BTreeSet<String>| -> BTreeSet<String> {
        labels.iter().map(|label| label.to_lowercase()).collect()
    };
    folded(&merged_labels(current, own, desired)) == folded(current)
}

fn same_label(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Returns whether a ticket hangs elsewhere than it should. Which ticket is whose is not known here, so what
/// it was last made to say decides about a ticket that hangs somewhere; a parent that a person gave to one
/// that should have none stays.
#[cfg(feature = "http")]
pub(crate) fn parent_difference(
    desired: &Ticket,
    before: Option<&Ticket>,
    observed: &Observed,
) -> Option<FieldDifference> {
    let last = before.and_then(|before| before.parent.as_ref());
    let is_known = observed.parent_id.is_some();
    let agrees = match &desired.parent {
        Some(parent) => is_known && (last.is_none() || last == Some(parent)),
        None => !is_known || last.is_none(),
    };
    let current = if is_known { shown_marker(last) } else { Json::Null };
    let difference = FieldDifference::between("parent", current, shown_marker(desired.parent.as_ref()));
    difference.filter(|_| !agrees)
}

/// A marker as it is shown; null for none.
#[cfg(feature = "http")]
pub(crate) fn shown_marker(marker: Option<&Marker>) -> Json {
    marker.map_or(Json::Null, |marker| Json::from(marker.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ticket::sample::ticket;

    #[test]
    fn only_what_differs_is_told() {
        let before = Ticket { fields: [("old".to_owned(), "1".to_owned())].into(), ..ticket("a", |_| {}) };
        let after = ticket("a", |facts| (facts.title, facts.is_finished) = ("New".to_owned(), true));
        let after = Ticket { fields: [("new".to_owned(), "2".to_owned())].into(), ..after };
        let told = after.differences(Some(&before));
        let told: Vec<_> = told.iter().map(|told| (told.field.as_str(), &told.before, &told.after)).collect();
        assert_eq!(
            told,
            [
                ("title", &json!("Artifact a"), &json!("New")),
                ("state", &json!("in-progress"), &json!({"closed": "completed"})),
                ("fields.new", &Json::Null, &json!("2")),
                ("fields.old", &json!("1"), &Json::Null),
            ]
        );
        assert!(after.differences(Some(&after)).is_empty());
        assert_eq!(ticket("a", |_| {}).differences(None).len(), 5, "all but the parent, which it has not");
    }

    fn set(labels: &[&str]) -> BTreeSet<String> {
        labels.iter().map(|label| (*label).to_owned()).collect()
    }

    #[test]
    fn labels_of_people_stay() {
        let desired = set(&["stepmark:p", "status:done", "fixed"]);
        for (current, own, expected) in [
            (
                &["bug", "Status:Draft"][..],
                &["status:draft"][..],
                &["bug", "stepmark:p", "status:done", "fixed"][..],
            ),
            (&["bug", "old"], &["old"], &["bug", "stepmark:p", "status:done", "fixed"]),
            (&["status:mine"], &["status:draft"], &["status:mine", "stepmark:p", "status:done", "fixed"]),
            (&["FIXED"], &[], &["stepmark:p", "status:done", "fixed"]),
        ] {
            assert_eq!(merged_labels(&set(current), &set(own), &desired), set(expected));
            assert!(!labels_agree(&set(current), &set(own), &desired));
        }
        assert!(labels_agree(&set(&["bug", "Stepmark:p", "status:done", "Fixed"]), &set(&[]), &desired));
    }
}
