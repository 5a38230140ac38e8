//! Many issues in one request (GitHub's "GraphQL API"); mutations may succeed in part.

mod document;
mod update;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::{
    issue::{remote, ticket_state},
    request::{limit_in, limit_wait, tells_disabled},
};
use crate::{
    breaker::{Failure, Reason},
    ticket::{Marker, Observed},
    tracker::http::HttpReply,
};

/// Issues (docs/formats.md, "Trackers").
pub(super) const READ_BATCH: usize = 100;

/// Mutations in one request (docs/formats.md, "Trackers").
pub(super) const MUTATIONS: usize = 20;

/// Three requests of mutations after one that reads: a thousand changes need 67 requests.
pub(super) const UPDATE_BATCH: usize = 3 * MUTATIONS;

#[derive(Debug, Deserialize)]
pub(in crate::tracker::github) struct GraphQlAnswer {
    #[serde(default)]
    data: Option<Map<String, Json>>,
    #[serde(default)]
    errors: Vec<GraphQlError>,
}

#[derive(Debug, Deserialize)]
struct GraphQlError {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    path: Option<Vec<Json>>,
    #[serde(default)]
    extensions: Option<Extensions>,
}

#[derive(Debug, Deserialize)]
struct Extensions {
    #[serde(default)]
    code: Option<String>,
}

const UNKNOWN_SCHEMA: [&str; 5] = [
    "undefinedField",
    "undefinedType",
    "argumentNotAccepted",
    "selectionMismatch",
    "variableRequiresValidType",
];

impl GraphQlAnswer {
    fn is_of_another_schema(&self) -> bool {
        let codes = self.errors.iter().filter_map(|error| error.extensions.as_ref()?.code.as_deref());
        self.data.is_none() && codes.into_iter().any(|code| UNKNOWN_SCHEMA.contains(&code))
    }

    /// An error without a path is about the whole answer.
    fn failure_at(&self, path: &[Json], reply: &HttpReply, now: Timestamp) -> Option<Failure> {
        let is_about = |error: &&GraphQlError| match error.path.as_deref() {
            None | Some([]) => true,
            Some(own) => own.starts_with(path),
        };
        self.errors.iter().find(is_about).map(|error| error.failure(reply, now))
    }
}

impl GraphQlError {
    fn failure(&self, reply: &HttpReply, now: Timestamp) -> Failure {
        let kind = self.kind.as_deref().unwrap_or_default();
        let detail = format!("GraphQL {kind}: {}", self.message);
        let is_limit = matches!(kind, "RATE_LIMITED" | "RATE_LIMIT");
        if let Some(reason) = limit_in(&self.message).or(is_limit.then_some(Reason::PrimaryLimit)) {
            return Failure::new(reason, &detail).waiting_until(Some(limit_wait(reply, now)));
        }
        let reason = match kind {
            _ if tells_disabled(&self.message) => Reason::Forbidden,
            "NOT_FOUND" => Reason::Gone,
            "FORBIDDEN" | "INSUFFICIENT_SCOPES" => Reason::Forbidden,
            "SERVICE_UNAVAILABLE" | "INTERNAL" | "INTERNAL_ERROR" | "TIMEOUT" => Reason::ServerError,
            "STALE_DATA" => Reason::Conflict,
            // An error of one change has a path; one of the server has none.
            _ if self.path.as_ref().is_some_and(|path| !path.is_empty()) => Reason::Invalid,
            _ => Reason::ServerError,
        };
        Failure::new(reason, &detail)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IssueNode {
    id: String,
    full_database_id: BigInt,
    number: u64,
    url: String,
    title: String,
    body: String,
    state: String,
    state_reason: Option<String>,
    created_at: Timestamp,
    last_edited_at: Option<Timestamp>,
    user_content_edits: Option<Edits>,
    comments: Option<Comments>,
    labels: Option<Labels>,
    parent: Option<Parent>,
}

/// GitHub's `BigInt`: text, for readers without integers of 64 bits.
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
struct LabelNode {
    id: String,
    name: String,
}

#[derive(Debug, Deserialize)]
struct Parent {
    number: u64,
}

impl IssueNode {
    fn read(json: &Json) -> Option<Self> {
        Self::deserialize(json).ok()
    }

    fn marker(&self) -> Option<Marker> {
        Marker::in_body(&self.body)
    }

    fn edited_at(&self) -> Timestamp {
        self.last_edited_at.unwrap_or(self.created_at)
    }

    /// The change before the last one (which is ours) came after `read`.
    fn was_changed_since(&self, read: Timestamp) -> bool {
        let before = self.user_content_edits.as_ref().and_then(|edits| edits.nodes.get(1)?.as_ref());
        before.is_some_and(|edit| edit.edited_at > read)
    }

    /// By lower-case name: GitHub ignores case.
    fn label_ids(&self) -> BTreeMap<String, String> {
        let nodes = self.labels.iter().flat_map(|labels| &labels.nodes);
        nodes.map(|label| (label.name.to_lowercase(), label.id.clone())).collect()
    }

    fn observed(self, marker: Marker) -> Observed {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn errors_with_http_200_are_told_apart() {
        let reply = HttpReply { status: 200, headers: BTreeMap::new(), body: String::new() };
        for (error, reason, waits) in [
            (
                json!({"type": "RATE_LIMITED", "message": "API rate limit exceeded"}),
                Reason::PrimaryLimit,
                true,
            ),
            (json!({"type": "RATE_LIMITED", "message": "later"}), Reason::PrimaryLimit, true),
            (json!({"message": "You have exceeded a secondary rate limit"}), Reason::SecondaryLimit, true),
            (json!({"type": "NOT_FOUND", "path": ["u0"], "message": "no node"}), Reason::Gone, false),
            (json!({"type": "FORBIDDEN", "path": ["u0"], "message": "no"}), Reason::Forbidden, false),
            (
                json!({"type": "NOT_FOUND", "path": ["u0"], "message": "Issues are disabled for this repo"}),
                Reason::Forbidden,
                false,
            ),
            (
                json!({"type": "UNPROCESSABLE", "path": ["u0", "issue"], "message": "no"}),
                Reason::Invalid,
                false,
            ),
            (
                json!({"message": "Something went wrong while executing your query."}),
                Reason::ServerError,
                false,
            ),
        ] {
            let answer: GraphQlAnswer =
                serde_json::from_value(json!({ "data": null, "errors": [error] })).unwrap();
            let failure = answer.failure_at(&["u0".into()], &reply, Timestamp::UNIX_EPOCH).unwrap();
            assert_eq!((failure.reason, failure.wait_until.is_some()), (reason, waits), "{failure:?}");
            let has_path = answer.errors[0].path.is_some();
            let elsewhere = answer.failure_at(&["u1".into()], &reply, Timestamp::UNIX_EPOCH);
            assert_eq!(elsewhere.is_none(), has_path, "another change is not concerned");
        }
    }

    #[test]
    fn an_older_server_is_known() {
        let error =
            json!({"message": "Field 'parent' doesn't exist", "extensions": {"code": "undefinedField"}});
        let answer: GraphQlAnswer = serde_json::from_value(json!({ "errors": [error] })).unwrap();
        assert!(answer.is_of_another_schema());
        let answer: GraphQlAnswer = serde_json::from_value(json!({ "data": {} })).unwrap();
        assert!(!answer.is_of_another_schema());
    }
}
