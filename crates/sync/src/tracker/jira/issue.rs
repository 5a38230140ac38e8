//! An issue in Jira, its label and its property.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    adf::{Description, paragraph_document},
    project_facts::TypeFacts,
    status::JiraStatus,
};
use crate::ticket::{FieldDifference, Marker, Observed, RemoteTicket, Stamp, Ticket, TicketState};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value as Json, json};

pub(super) const FIELDS: [&str; 10] = [
    "summary",
    "description",
    "labels",
    "status",
    "resolution",
    "issuetype",
    "parent",
    "created",
    "updated",
    "comment",
];

pub(super) const ISSUE_TYPE: &str = "issue_type";

pub(super) const ISSUE_TYPE_ID: &str = "issue_type_id";

/// Key in [`RemoteTicket::other_ids`]: the parent of a sub-task. Jira has no sub-tasks of sub-tasks.
pub(super) const SUB_TASK_OF: &str = "sub_task_of";

/// OpenAPI, schema `IssueBean`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct JiraIssue {
    pub(super) id: String,
    pub(super) key: String,
    fields: JiraFields,
    #[serde(default)]
    properties: Map<String, Json>,
}

#[derive(Clone, Debug, Deserialize)]
struct JiraFields {
    summary: String,
    #[serde(default)]
    description: Json,
    #[serde(default)]
    labels: BTreeSet<String>,
    status: JiraStatus,
    #[serde(default)]
    resolution: Option<Named>,
    issuetype: JiraIssueType,
    #[serde(default)]
    parent: Option<Identified>,
    #[serde(deserialize_with = "time")]
    created: Timestamp,
    #[serde(deserialize_with = "time")]
    updated: Timestamp,
    #[serde(default)]
    comment: Option<Comments>,
}

#[derive(Clone, Debug, Deserialize)]
struct Comments {
    total: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct Named {
    name: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Identified {
    id: String,
}

#[derive(Clone, Debug, Deserialize)]
struct JiraIssueType {
    #[serde(default)]
    id: Option<String>,
    name: String,
    #[serde(default)]
    subtask: bool,
}

impl JiraIssue {
    pub(super) fn marker(&self) -> Option<Marker> {
        marker_in(&self.properties).map(|(marker, _)| marker)
    }

    pub(super) fn updated_at(&self) -> Timestamp {
        self.fields.updated
    }

    pub(super) fn stands(&self) -> (String, TicketState) {
        let resolution = self.fields.resolution.as_ref().map(|resolution| resolution.name.as_str());
        (self.fields.status.name.clone(), self.fields.status.ticket_state(resolution))
    }

    pub(super) fn observed(self, marker: Marker, base: &str) -> Observed {
        let (status, state) = self.stands();
        let fields = self.fields;
        let parent_id = fields.parent.map(|parent| parent.id);
        let mut other_ids = BTreeMap::from([(ISSUE_TYPE.to_owned(), fields.issuetype.name)]);
        other_ids.extend(fields.issuetype.id.map(|id| (ISSUE_TYPE_ID.to_owned(), id)));
        if let Some(parent) = parent_id.as_ref().filter(|_| fields.issuetype.subtask) {
            other_ids.insert(SUB_TASK_OF.to_owned(), parent.clone());
        }
        let has_no_comments = fields.comment.is_some_and(|comments| comments.total == 0);
        let is_alone = Description::read(&fields.description).is_ok_and(|text| text.is_alone(&marker));
        Observed {
            stamp: marker_in(&self.properties).map(|(_, stamp)| stamp).unwrap_or_default(),
            is_untouched: has_no_comments && is_alone,
            remote: RemoteTicket { other_ids, ..remote(self.id, self.key, base) },
            marker,
            created_at: fields.created,
            title: fields.summary,
            body: if fields.description.is_null() { String::new() } else { fields.description.to_string() },
            labels: fields.labels,
            state,
            status: Some(status),
            parent_id,
            fields: None,
        }
    }
}

pub(super) fn remote(id: String, key: String, base: &str) -> RemoteTicket {
    let url = format!("{base}/browse/{key}");
    RemoteTicket { id, key, url, other_ids: BTreeMap::new() }
}

/// As `2026-01-02T03:04:05.678+0000`.
pub(super) fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|error| D::Error::custom(format!("`{text}` is no time: {error}")))
}

pub(super) const PROPERTY: &str = "stepmark";

#[derive(Deserialize)]
struct Value {
    version: u32,
    marker: Marker,
    #[serde(default)]
    from: String,
}

/// OpenAPI, schema `EntityProperty`.
pub(super) fn property(marker: &Marker, stamp: &Stamp) -> Json {
    json!({ "key": PROPERTY, "value": { "version": 1, "marker": marker, "from": stamp.to_string() } })
}

/// A marker that stepmark would not have written is none.
pub(super) fn marker_in(properties: &Map<String, Json>) -> Option<(Marker, Stamp)> {
    let value = Value::deserialize(properties.get(PROPERTY)?).ok()?;
    (value.version == 1).then(|| (value.marker, Stamp::read(&value.from)))
}

/// Jira refuses blanks ("The label … contains spaces which is invalid").
pub(super) fn spelled(label: &str) -> String {
    label.chars().map(|letter| if letter.is_whitespace() { '_' } else { letter }).collect()
}

pub(super) fn all_spelled(labels: &BTreeSet<String>) -> BTreeSet<String> {
    labels.iter().map(|label| spelled(label)).collect()
}

/// The oldest first, so that new ones are last.
pub(super) fn jql(project: &str, label: Option<&str>) -> String {
    let labelled = label.map(|label| format!(" AND labels = {}", quoted(label))).unwrap_or_default();
    format!("project = {}{labelled} ORDER BY created ASC, key ASC", quoted(project))
}

/// Atlassian's "JQL fields": quotes and backslashes are escaped by a backslash.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A mapping of these has no effect.
pub(super) const OWN_FIELDS: [&str; 8] =
    ["project", "issuetype", "summary", "description", "labels", "parent", "status", "resolution"];

/// Against what was last said: in Jira each type of field has its own form.
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

/// Null for a field that is no longer mapped. `own` are the facts of the issue's type.
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

/// In characters (docs/formats.md, "Trackers").
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

/// OpenAPI, schema `FieldCreateMetadata`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Field {
    /// `summary`, `customfield_10020`.
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

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Schema {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    items: Option<String>,
    #[serde(default)]
    custom: Option<String>,
}

/// The kind of field decides which of these it has.
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
    /// `Err` tells why it stands for none. JSON is passed on as it is.
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
    use super::*;
    use crate::ticket::{CloseReason, sample::marker};

    #[test]
    fn is_read_as_jira_tells_it() {
        let issue: JiraIssue = serde_json::from_value(json!({
            "id": "10002", "key": "ED-1", "self": "x", "expand": "",
            "fields": {
                "summary": "S", "description": null, "labels": ["a"],
                "status": { "name": "Closed", "id": "6", "statusCategory": { "key": "done", "id": 3 } },
                "resolution": { "name": "Won't Do" },
                "issuetype": { "name": "Sub-task", "subtask": true },
                "parent": { "id": "10001", "key": "ED-0", "fields": {} },
                "created": "2023-06-24T21:24:50.123+0200",
                "updated": "2023-06-24T21:24:50.123+0200",
            },
            "properties": { "stepmark": { "version": 1, "marker": "p/id:a" } },
        }))
        .unwrap();
        assert_eq!(issue.marker(), Some(marker("a")));
        let seen = issue.observed(marker("a"), "https://x");
        assert_eq!((seen.remote.id.as_str(), seen.remote.url.as_str()), ("10002", "https://x/browse/ED-1"));
        assert_eq!(seen.remote.other_ids[SUB_TASK_OF], "10001");
        assert_eq!(seen.created_at.to_string(), "2023-06-24T19:24:50.123Z");
        assert_eq!((seen.body.as_str(), seen.status.as_deref()), ("", Some("Closed")));
        assert_eq!(seen.state, TicketState::Closed(CloseReason::NotPlanned));
    }

    #[test]
    fn is_read_as_it_is_written() {
        let written = property(&marker("a b"), &Stamp::read("commit=0a"))["value"].clone();
        let of = |value: Json| marker_in(&Map::from_iter([(PROPERTY.to_owned(), value)]));
        assert_eq!(of(written), Some((marker("a b"), Stamp::read("commit=0a"))));
        for strange in [
            json!(null),
            json!("p/id:a"),
            json!({ "version": 2, "marker": "p/id:a" }),
            json!({ "version": 1, "marker": "p/id:a b" }),
            json!({ "version": 1 }),
        ] {
            assert_eq!(of(strange.clone()), None, "{strange}");
        }
        assert_eq!(marker_in(&Map::new()), None);
    }

    #[test]
    fn labels_have_no_blanks_and_searches_no_surprise() {
        assert_eq!(spelled("status:in review\u{a0}now"), "status:in_review_now");
        assert_eq!(
            jql("ABC", Some("stepmark:a\" OR \\")),
            r#"project = "ABC" AND labels = "stepmark:a\" OR \\" ORDER BY created ASC, key ASC"#
        );
    }
}

#[cfg(test)]
mod fields_tests {
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
