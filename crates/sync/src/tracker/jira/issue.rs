//! An issue as Jira tells it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value as Json};

use super::{adf::Description, marker_property::marker_in, status::JiraStatus};
use crate::ticket::{Marker, Observed, RemoteTicket, TicketState};

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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
}
