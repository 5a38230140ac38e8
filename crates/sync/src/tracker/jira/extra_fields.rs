//! Fields of Jira that a project maps by itself (`ticket.fields`): `priority`, `duedate`, `customfield_10020`. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::adf::paragraph_document;
use crate::ticket::{FieldDifference, Ticket};

/// Fields that stepmark fills in itself: a mapping of them has no effect.
const OWN_FIELDS: [&str; 8] =
    ["project", "issuetype", "summary", "description", "labels", "parent", "status", "resolution"];

/// The fields that differ from what the ticket was last made to say. What Jira has is not asked: every type of field tells its value in
/// another form.
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

/// What a request gives for them: null for a field that is mapped no longer.
pub(super) fn values(desired: &Ticket, before: Option<&Ticket>) -> Map<String, Json> {
    let changed = differences(desired, before).into_iter().filter_map(|difference| {
        let name = difference.field.strip_prefix("fields.")?.to_owned();
        let value = desired.fields.get(&name).map_or(Json::Null, |text| value(&name, text));
        Some((name, value))
    });
    changed.collect()
}

/// A value in the form that Jira wants for a field (Atlassian's "Jira Cloud REST API, Issues: fields").
fn value(name: &str, text: &str) -> Json {
    let named = |text: &str| json!({ "name": text.trim() });
    match name {
        "priority" | "security" => named(text),
        "components" | "fixVersions" | "versions" => text.split(',').map(named).collect(),
        "environment" => paragraph_document(text),
        // Whoever writes JSON knows the form of the field.
        _ => match serde_json::from_str(text) {
            Ok(value @ (Json::Object(_) | Json::Array(_))) => value,
            _ => Json::from(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::sample::ticket;

    #[test]
    fn each_field_has_its_form() {
        for (name, text, expected) in [
            ("priority", "High", json!({ "name": "High" })),
            ("components", "a, b", json!([{ "name": "a" }, { "name": "b" }])),
            ("duedate", "2026-01-01", json!("2026-01-01")),
            ("customfield_1", r#"{"value":"x"}"#, json!({ "value": "x" })),
            ("customfield_1", "5", json!("5")),
        ] {
            assert_eq!(value(name, text), expected);
        }
        assert_eq!(value("environment", "x")["type"], "doc");
    }

    #[test]
    fn only_what_changes_is_sent() {
        let with = |fields: &[(&str, &str)]| Ticket {
            fields: fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..ticket("a", |_| {})
        };
        let before = with(&[("duedate", "1"), ("priority", "Low"), ("old", "x")]);
        let after = with(&[("duedate", "1"), ("priority", "High"), ("summary", "no")]);
        let told = Json::Object(values(&after, Some(&before)));
        assert_eq!(told, json!({ "priority": { "name": "High" }, "old": null }));
        assert_eq!(values(&after, None).len(), 2);
        assert!(differences(&after, Some(&after)).is_empty());
    }
}
