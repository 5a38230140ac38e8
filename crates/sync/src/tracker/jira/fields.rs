//! Fields of Jira that a project maps by itself (`ticket.fields`: `priority`, `duedate`,
//! `customfield_10020`), and the form in which each takes a value (Atlassian's "Jira Cloud REST API, Issues:
//! fields"). Pure.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{adf::paragraph_document, project_facts::TypeFacts};
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
        let value = match (desired.fields.get(&name), own.and_then(|own| own.field(&name))) {
            (None, _) => Ok(Json::Null),
            (Some(text), Some(field)) => {
                field.value(text).map_err(|why| format!("`ticket.fields.{name}`: {why}"))
            }
            (Some(text), None) => Ok(value_by_name(&name, text)),
        };
        Some(value.map(|value| (name, value)))
    });
    changed.collect()
}

pub(super) fn given(ticket: &Ticket) -> impl Iterator<Item = (&str, &str)> {
    let given = ticket.fields.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    given.filter(|(name, _)| !OWN_FIELDS.contains(name))
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

/// A field that a new issue may have (OpenAPI, schema `FieldCreateMetadata`).
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Field {
    /// Its id: `summary`, `customfield_10020`.
    #[serde(rename = "fieldId")]
    pub(super) id: String,
    pub(super) name: String,
    pub(super) required: bool,
    #[serde(default, rename = "hasDefaultValue")]
    pub(super) has_default: bool,
    schema: Schema,
    #[serde(default, rename = "allowedValues")]
    allowed: Vec<Allowed>,
}

/// The kind of its values (schema `JsonTypeBean`).
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Schema {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    items: Option<String>,
    #[serde(default)]
    custom: Option<String>,
}

/// A value that it may have. Which of these it has depends on the kind of field.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Allowed {
    id: Option<String>,
    name: Option<String>,
    value: Option<String>,
}

impl Allowed {
    fn is(&self, text: &str) -> bool {
        let same = |own: &Option<String>| own.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(text));
        self.id.as_deref() == Some(text) || same(&self.name) || same(&self.value)
    }

    fn shown(&self) -> Option<&str> {
        [&self.name, &self.value, &self.id].into_iter().find_map(Option::as_deref)
    }
}

impl Field {
    /// The value that `text` stands for, or why it stands for none. Whoever writes JSON knows the form of the
    /// field.
    pub(super) fn value(&self, text: &str) -> Result<Json, String> {
        if let Some(written) = written(text) {
            return Ok(written);
        }
        match self.schema.kind.as_str() {
            "array" => {
                let kind = self.schema.items.as_deref().unwrap_or("string");
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                parts.map(|part| self.one(kind, part)).collect()
            }
            kind => self.one(kind, text.trim()),
        }
    }

    fn one(&self, kind: &str, text: &str) -> Result<Json, String> {
        let own = self.allowed.iter().find(|allowed| allowed.is(text));
        if own.is_none() && !self.allowed.is_empty() {
            let known: Vec<_> = self.allowed.iter().filter_map(Allowed::shown).take(8).collect();
            return Err(format!("`{text}` is none of its values: {}", known.join(", ")));
        }
        // By id, where Jira tells one: a name may be another one in another language.
        if let Some(id) = own.and_then(|own| own.id.as_ref()).filter(|_| kind != "string") {
            return Ok(json!({ "id": id }));
        }
        let is_long_text = self.id == "environment"
            || self.schema.custom.as_ref().is_some_and(|custom| custom.ends_with(":textarea"));
        Ok(match kind {
            "number" => number(text)?,
            // A sprint is set by its number.
            "json" if self.schema.custom.as_ref().is_some_and(|custom| custom.ends_with(":gh-sprint")) => {
                number(text)?
            }
            "option" => json!({ "value": text }),
            "user" => json!({ "accountId": text }),
            "priority" | "securitylevel" | "version" | "component" | "group" => json!({ "name": text }),
            _ if is_long_text => paragraph_document(text),
            _ => Json::from(text),
        })
    }
}

/// The value of a field of which Jira has told nothing, as its name says.
pub(super) fn value_by_name(name: &str, text: &str) -> Json {
    let named = |text: &str| json!({ "name": text.trim() });
    match name {
        "priority" | "security" => named(text),
        "components" | "fixVersions" | "versions" => text.split(',').map(named).collect(),
        "environment" => paragraph_document(text),
        _ => written(text).unwrap_or_else(|| Json::from(text)),
    }
}

fn written(text: &str) -> Option<Json> {
    serde_json::from_str(text).ok().filter(|value| matches!(value, Json::Object(_) | Json::Array(_)))
}

fn number(text: &str) -> Result<Json, String> {
    let number = text.parse::<serde_json::Number>().map(Json::Number);
    number.map_err(|_| format!("`{text}` is no number"))
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

    fn field(schema: Json, allowed: Json) -> Field {
        let mut told =
            json!({ "fieldId": "customfield_1", "name": "Own", "required": false, "schema": schema });
        told["allowedValues"] = allowed;
        serde_json::from_value(told).unwrap()
    }

    #[test]
    fn each_kind_has_its_form() {
        let textarea = "com.atlassian.jira.plugin.system.customfieldtypes:textarea";
        let sprint = "com.pyxis.greenhopper.jira:gh-sprint";
        let of = |kind: &str| json!({ "type": kind });
        let list = |items: &str| json!({ "type": "array", "items": items });
        for (schema, text, expected) in [
            (of("number"), "5", json!(5)),
            (of("number"), " 2.5 ", json!(2.5)),
            (of("string"), "5", json!("5")),
            (of("date"), "2026-01-01", json!("2026-01-01")),
            (of("user"), "5b10", json!({ "accountId": "5b10" })),
            (of("option"), r#"{"value":"x"}"#, json!({ "value": "x" })),
            (of("option"), "x", json!({ "value": "x" })),
            (of("priority"), "High", json!({ "name": "High" })),
            (list("string"), "a, b", json!(["a", "b"])),
            (list("component"), "a", json!([{ "name": "a" }])),
            (json!({ "type": "array", "items": "json", "custom": sprint }), "7", json!([7])),
        ] {
            assert_eq!(field(schema.clone(), json!([])).value(text), Ok(expected), "{schema}");
        }
        let long = field(json!({ "type": "string", "custom": textarea }), json!([])).value("x").unwrap();
        assert_eq!(long["type"], "doc");
        assert_eq!(field(of("number"), json!([])).value("many"), Err("`many` is no number".to_owned()));
    }

    #[test]
    fn only_values_that_it_may_have_are_taken() {
        let allowed = json!([{ "id": "1", "name": "High" }, { "id": "2", "name": "Low" }]);
        let priority = field(json!({ "type": "priority" }), allowed);
        assert_eq!(priority.value("high"), Ok(json!({ "id": "1" })));
        assert_eq!(priority.value("None"), Err("`None` is none of its values: High, Low".to_owned()));
    }

    #[test]
    fn without_being_told_its_name_decides() {
        for (name, text, expected) in [
            ("priority", "High", json!({ "name": "High" })),
            ("components", "a, b", json!([{ "name": "a" }, { "name": "b" }])),
            ("customfield_1", "5", json!("5")),
            ("customfield_1", r#"["a"]"#, json!(["a"])),
        ] {
            assert_eq!(value_by_name(name, text), expected);
        }
    }
}
