//! Fields of Jira that a project maps by itself (`ticket.fields`): `priority`, `duedate`,
//! `customfield_10020`. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::{field::value_by_name, project_facts::TypeFacts};
use crate::ticket::{FieldDifference, Ticket};

/// Fields that stepmark fills in itself: a mapping of them has no effect.
pub(super) const OWN_FIELDS: [&str; 8] =
    ["project", "issuetype", "summary", "description", "labels", "parent", "status", "resolution"];

/// The fields that differ from what the ticket was last made to say. What Jira has is not asked: every type
/// of field tells its value in another form.
pub(super) fn differences(desired: &Ticket, before: Option<&Ticket>) -> Vec<FieldDifference> {
    let nothing = BTreeMap::new();
    let last = before.map_or(&nothing, |before| &before.fields);
    let shown = |text: Option<&String>| text.map_or(Json::Null, |text| Json::from(text.as_str()));
    let names = last.keys().chain(desired.fields.keys().filter(|name| !last.contains_key(*name)));
    let differences = names.filter(|name| !OWN_FIELDS.contains(&name.as_str())).filter_map(|name| {
        let (before, after) = (shown(last.get(name)), shown(desired.fields.get(name)));
        FieldDifference::between(&format!("fields.{name}"), before, after)
    });
    differences.collect()
}

/// Returns what a request gives for them: null for a field that is mapped no longer. `own` is what is known
/// of the type of the issue.
pub(super) fn values(
    desired: &Ticket,
    before: Option<&Ticket>,
    own: Option<&TypeFacts>,
) -> Result<Map<String, Json>, String> {
    let changed = differences(desired, before).into_iter().filter_map(|difference| {
        let name = difference.field.strip_prefix("fields.")?.to_owned();
        let value = match desired.fields.get(&name) {
            None => Ok(Json::Null),
            Some(text) => value(&name, text, own),
        };
        Some(value.map(|value| (name, value)))
    });
    changed.collect()
}

pub(super) fn given(ticket: &Ticket) -> impl Iterator<Item = (&str, &str)> {
    let given = ticket.fields.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    given.filter(|(name, _)| !OWN_FIELDS.contains(name))
}

fn value(name: &str, text: &str, own: Option<&TypeFacts>) -> Result<Json, String> {
    match own.and_then(|own| own.field(name)) {
        Some(field) => field.value(text).map_err(|why| format!("`ticket.fields.{name}`: {why}")),
        None => Ok(value_by_name(name, text)),
    }
}

/// The most characters of a summary (docs/formats.md, "Trackers").
const SUMMARY_LIMIT: usize = 255;

pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

pub(super) fn summary(title: &str) -> String {
    if length(title) <= SUMMARY_LIMIT {
        return title.to_owned();
    }
    let mut used = length("…");
    let fitting = title.chars().take_while(|letter| {
        used += letter.len_utf16();
        used <= SUMMARY_LIMIT
    });
    let fitting: String = fitting.collect();
    format!("{}…", fitting.trim_end())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ticket::sample::ticket;

    #[test]
    fn only_what_changes_is_sent() {
        let with = |fields: &[(&str, &str)]| Ticket {
            fields: fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..ticket("a", |_| {})
        };
        let before = with(&[("duedate", "1"), ("priority", "Low"), ("old", "x")]);
        let after = with(&[("duedate", "1"), ("priority", "High"), ("summary", "no")]);
        let told = Json::Object(values(&after, Some(&before), None).unwrap());
        assert_eq!(told, json!({ "priority": { "name": "High" }, "old": null }));
        assert_eq!(values(&after, None, None).unwrap().len(), 2);
        assert!(differences(&after, Some(&after)).is_empty());
    }

    #[test]
    fn an_emoji_is_two() {
        for (title, expected) in [
            ("a".repeat(255), "a".repeat(255)),
            ("\u{1f600}".repeat(127), "\u{1f600}".repeat(127)),
            ("\u{1f600}".repeat(128), format!("{}…", "\u{1f600}".repeat(127))),
            (format!("{} b", "a".repeat(254)), format!("{}…", "a".repeat(254))),
        ] {
            let made = summary(&title);
            assert_eq!(made, expected);
            assert!(length(&made) <= SUMMARY_LIMIT);
        }
    }
}
