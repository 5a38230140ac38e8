//! Answers of GraphQL: errors come with HTTP 200. Pure.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::super::refusal::{limit_in, limit_wait, tells_disabled};
use crate::{
    breaker::{Failure, Reason},
    tracker::http::HttpReply,
};

#[derive(Debug, Deserialize)]
pub(in crate::tracker::github) struct GraphQlAnswer {
    #[serde(default)]
    pub(super) data: Option<Map<String, Json>>,
    #[serde(default)]
    pub(super) errors: Vec<GraphQlError>,
}

#[derive(Debug, Deserialize)]
pub(super) struct GraphQlError {
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

/// Codes by which a server says that it does not know what was asked: an older GitHub Enterprise.
const UNKNOWN_SCHEMA: [&str; 5] = [
    "undefinedField",
    "undefinedType",
    "argumentNotAccepted",
    "selectionMismatch",
    "variableRequiresValidType",
];

impl GraphQlAnswer {
    /// Returns whether the server does not know what was asked.
    pub(super) fn is_of_another_schema(&self) -> bool {
        let codes = self.errors.iter().filter_map(|error| error.extensions.as_ref()?.code.as_deref());
        self.data.is_none() && codes.into_iter().any(|code| UNKNOWN_SCHEMA.contains(&code))
    }

    /// Returns what the errors say of the part of the answer at `path`; of the whole where an error has no
    /// path.
    pub(super) fn failure_at(&self, path: &[Json], reply: &HttpReply, now: Timestamp) -> Option<Failure> {
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
            // A fault of one change is told with its place; one of the server has none.
            _ if self.path.as_ref().is_some_and(|path| !path.is_empty()) => Reason::Invalid,
            _ => Reason::ServerError,
        };
        Failure::new(reason, &detail)
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
