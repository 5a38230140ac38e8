//! An issue that the server keeps.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{Timestamp, fmt::strtime};
use serde_json::{Map, Value as Json, json};

use super::{meta::TYPES, workflow::Status};

/// An issue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Issue {
    pub(crate) id: u64,
    pub(crate) summary: String,
    pub(crate) description: Json,
    pub(crate) labels: BTreeSet<String>,
    pub(crate) status: Status,
    pub(crate) resolution: Option<String>,
    pub(crate) issue_type: String,
    pub(crate) parent: Option<u64>,
    pub(crate) properties: Map<String, Json>,
    pub(crate) others: BTreeMap<String, Json>,
    pub(crate) made_at_ms: i64,
    /// When which of its texts was changed.
    pub(crate) history: Vec<(i64, String)>,
    /// The number of comments that people made.
    pub(crate) comments: u64,
    /// The key that it has in another project, where people moved it there.
    pub(crate) moved_to: Option<String>,
}

/// What is added to a number to get an id.
pub(super) const FIRST_ID: u64 = 10_000;

impl Issue {
    pub(super) fn key(&self) -> String {
        self.moved_to.clone().unwrap_or_else(|| format!("ABC-{}", self.id - FIRST_ID + 1))
    }

    fn type_id(&self) -> &'static str {
        TYPES.iter().find(|(_, name, _)| *name == self.issue_type).unwrap().0
    }

    /// Returns whether it hangs below another one by its type.
    pub(super) fn is_sub_task(&self) -> bool {
        self.issue_type == "Sub-task"
    }

    fn updated_at_ms(&self) -> i64 {
        self.history.last().map_or(self.made_at_ms, |(at, _)| *at)
    }

    /// Writes a text, a millisecond after the last one.
    pub(crate) fn write(&mut self, field: &str, value: &Json) {
        let before = match field {
            "summary" => json!(std::mem::replace(&mut self.summary, value.as_str().unwrap().to_owned())),
            _ => std::mem::replace(&mut self.description, value.clone()),
        };
        if before != *value {
            self.history.push((self.updated_at_ms() + 1, field.to_owned()));
        }
    }

    /// Its changes, the last one first.
    pub(super) fn changelog(&self) -> Json {
        let told =
            |(at, field): &(i64, String)| json!({ "created": time(*at), "items": [{ "field": field }] });
        json!({ "histories": self.history.iter().rev().map(told).collect::<Vec<_>>() })
    }

    /// The issue with those of its fields that are asked for.
    pub(super) fn told(&self, host: &str, wanted: &Json) -> Json {
        let mut fields = json!({
            "summary": self.summary,
            "description": self.description,
            "labels": self.labels,
            "status": self.status.told(),
            "resolution": self.resolution.as_ref().map(|name| json!({ "name": name })),
            "issuetype": { "id": self.type_id(), "name": self.issue_type, "subtask": self.is_sub_task() },
            "created": time(self.made_at_ms),
            "updated": time(self.updated_at_ms()),
            "comment": { "comments": [], "maxResults": self.comments, "total": self.comments, "startAt": 0 },
        });
        if let Some(parent) = self.parent {
            fields["parent"] =
                json!({ "id": parent.to_string(), "key": format!("ABC-{}", parent - FIRST_ID + 1) });
        }
        let wanted: Vec<&str> =
            wanted["fields"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        fields.as_object_mut().unwrap().retain(|name, _| wanted.contains(&name.as_str()));
        json!({
            "id": self.id.to_string(),
            "key": self.key(),
            "self": format!("{host}/rest/api/3/issue/{}", self.id),
            "fields": fields,
        })
    }

    /// The same with the properties that are asked for.
    pub(super) fn told_with_properties(&self, host: &str, wanted: &Json) -> Json {
        let mut told = self.told(host, wanted);
        let names: Vec<&str> =
            wanted["properties"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let own = self.properties.iter().filter(|(name, _)| names.contains(&name.as_str()));
        told["properties"] =
            own.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>().into();
        told
    }
}

fn time(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap().to_zoned(jiff::tz::TimeZone::UTC);
    strtime::format("%Y-%m-%dT%H:%M:%S.%3f+0000", &time).unwrap()
}
