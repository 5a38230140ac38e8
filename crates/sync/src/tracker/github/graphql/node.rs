//! An issue as GraphQL tells it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value as Json;

use super::super::issue::{remote, ticket_state};
use crate::ticket::{Marker, Observed};

/// The fields of the fragment `Ticket`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IssueNode {
    id: String,
    full_database_id: BigInt,
    pub(super) number: u64,
    url: String,
    title: String,
    pub(super) body: String,
    state: String,
    state_reason: Option<String>,
    created_at: Timestamp,
    last_edited_at: Option<Timestamp>,
    user_content_edits: Option<Edits>,
    comments: Option<Comments>,
    labels: Option<Labels>,
    parent: Option<Parent>,
}

/// A `BigInt` of GitHub's schema: text, for readers without integers of 64 bits.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum BigInt {
    Number(u64),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Comments {
    total_count: u64,
}

/// The last changes of the text, the newest first.
#[derive(Debug, Deserialize)]
struct Edits {
    nodes: Vec<Option<EditNode>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EditNode {
    edited_at: Timestamp,
}

#[derive(Debug, Deserialize)]
struct Labels {
    nodes: Vec<LabelNode>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LabelNode {
    pub(super) id: String,
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
struct Parent {
    number: u64,
}

impl IssueNode {
    /// Returns what stands at a place of an answer; `None` for null and for what is no issue.
    pub(super) fn read(json: &Json) -> Option<Self> {
        Self::deserialize(json).ok()
    }

    pub(super) fn marker(&self) -> Option<Marker> {
        Marker::in_body(&self.body)
    }

    /// The time at which its text was last changed.
    pub(super) fn edited_at(&self) -> Timestamp {
        self.last_edited_at.unwrap_or(self.created_at)
    }

    /// Returns whether the change before the last one came after `read`.
    pub(super) fn was_changed_since(&self, read: Timestamp) -> bool {
        let before = self.user_content_edits.as_ref().and_then(|edits| edits.nodes.get(1)?.as_ref());
        before.is_some_and(|edit| edit.edited_at > read)
    }

    /// The ids of its labels by their names in lower case: names that differ in case alone are one label.
    pub(super) fn label_ids(&self) -> BTreeMap<String, String> {
        let nodes = self.labels.iter().flat_map(|labels| &labels.nodes);
        nodes.map(|label| (label.name.to_lowercase(), label.id.clone())).collect()
    }

    pub(super) fn observed(self, marker: Marker) -> Observed {
        let database_id = match self.full_database_id {
            BigInt::Number(id) => id,
            BigInt::Text(text) => text.parse().unwrap_or(0),
        };
        let labels = self.labels.into_iter().flat_map(|labels| labels.nodes);
        let has_no_comments = self.comments.is_some_and(|comments| comments.total_count == 0);
        Observed {
            remote: remote(self.number, database_id, self.id, self.url),
            stamp: marker.stamp_in(&self.body),
            is_untouched: has_no_comments && marker.is_alone_in(&self.body),
            marker,
            created_at: self.created_at,
            title: self.title,
            body: self.body,
            labels: labels.map(|label| label.name).collect(),
            state: ticket_state(&self.state, self.state_reason.as_deref()),
            status: None,
            parent_id: self.parent.map(|parent| parent.number.to_string()),
            fields: None,
        }
    }
}
