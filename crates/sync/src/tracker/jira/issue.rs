//! An issue as Jira tells it, and the label and the property by which it is known.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value as Json, json};

use super::{adf::Description, status::JiraStatus};
use crate::ticket::{Marker, Observed, RemoteTicket, Stamp, TicketState};

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

/// The name under which [`RemoteTicket::other_ids`] keeps the type of an issue.
pub(super) const ISSUE_TYPE: &str = "issue_type";

pub(super) const ISSUE_TYPE_ID: &str = "issue_type_id";

/// The name under which it keeps the issue that a sub-task belongs to. Jira knows no sub-tasks of sub-tasks.
pub(super) const SUB_TASK_OF: &str = "sub_task_of";

/// An issue (OpenAPI, schema `IssueBean`).
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

/// A time as Jira writes it: `2026-01-02T03:04:05.678+0000`.
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

/// The property of an issue of `marker`, as a request gives it (OpenAPI, schema `EntityProperty`).
pub(super) fn property(marker: &Marker, stamp: &Stamp) -> Json {
    json!({ "key": PROPERTY, "value": { "version": 1, "marker": marker, "from": stamp.to_string() } })
}

/// The marker among the properties of an issue. One that stepmark would not have written is none.
pub(super) fn marker_in(properties: &Map<String, Json>) -> Option<(Marker, Stamp)> {
    let value = Value::deserialize(properties.get(PROPERTY)?).ok()?;
    (value.version == 1).then(|| (value.marker, Stamp::read(&value.from)))
}

/// `label` without blanks, which Jira refuses ("The label … contains spaces which is invalid").
pub(super) fn spelled(label: &str) -> String {
    label.chars().map(|letter| if letter.is_whitespace() { '_' } else { letter }).collect()
}

pub(super) fn all_spelled(labels: &BTreeSet<String>) -> BTreeSet<String> {
    labels.iter().map(|label| spelled(label)).collect()
}

/// The JQL that finds the issues of a Jira project with a label, the oldest first: what is made meanwhile
/// comes last.
pub(super) fn jql(project: &str, label: Option<&str>) -> String {
    let labelled = label.map(|label| format!(" AND labels = {}", quoted(label))).unwrap_or_default();
    format!("project = {}{labelled} ORDER BY created ASC, key ASC", quoted(project))
}

/// A text of JQL (Atlassian's "JQL fields": quotes and backslashes are escaped by a backslash).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
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
