//! An issue as REST tells it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value as Json, json};

use super::{fields::IssueFields, rest::number_of};
use crate::{
    breaker::{Failure, Reason},
    ticket::{
        CloseReason, FieldDifference, ManagedSection, Marker, MergeError, Observed, RemoteTicket, Ticket,
        TicketState,
    },
    tracker::Change,
};

/// The name under which [`RemoteTicket::other_ids`] keeps the id that GraphQL wants.
pub(super) const NODE_ID: &str = "node_id";

/// The name under which [`RemoteTicket::other_ids`] keeps the id that a sub-issue is named by.
pub(super) const DATABASE_ID: &str = "database_id";

/// The keys of an issue that matter here (GitHub's OpenAPI, schema `issue`).
#[derive(Debug, Deserialize)]
pub(super) struct RestIssue {
    pub(super) number: u64,
    id: u64,
    node_id: String,
    html_url: String,
    title: String,
    body: Option<String>,
    state: String,
    state_reason: Option<String>,
    labels: Vec<RestLabel>,
    created_at: Timestamp,
    #[serde(flatten)]
    pub(super) fields: IssueFields,
    #[serde(default)]
    comments: Option<u64>,
    #[serde(default)]
    parent_issue_url: Option<String>,
    #[serde(default)]
    pull_request: Option<IgnoredAny>,
}

/// A label: a name, or an object with one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum RestLabel {
    Name(String),
    Object { name: Option<String> },
}

impl RestIssue {
    /// Returns whether it is an issue: pull requests stand in the same lists.
    pub(super) const fn is_issue(&self) -> bool {
        self.pull_request.is_none()
    }

    pub(super) fn marker(&self) -> Option<Marker> {
        Marker::in_body(self.body.as_deref().unwrap_or_default())
    }

    pub(super) fn titled(self) -> (String, RemoteTicket) {
        (self.title, remote(self.number, self.id, self.node_id, self.html_url))
    }

    pub(super) fn observed(self, marker: Marker) -> Observed {
        let labels = self.labels.into_iter().filter_map(|label| match label {
            RestLabel::Name(name) => Some(name),
            RestLabel::Object { name } => name,
        });
        let parent_id = self.parent_issue_url.and_then(|url| {
            let (_, number) = url.rsplit_once('/')?;
            number.parse::<u64>().ok().map(|number| number.to_string())
        });
        let body = self.body.unwrap_or_default();
        Observed {
            remote: remote(self.number, self.id, self.node_id, self.html_url),
            stamp: marker.stamp_in(&body),
            is_untouched: self.comments == Some(0) && marker.is_alone_in(&body),
            marker,
            created_at: self.created_at,
            title: self.title,
            body,
            labels: labels.collect::<BTreeSet<_>>(),
            state: ticket_state(&self.state, self.state_reason.as_deref()),
            status: None,
            parent_id,
            fields: serde_json::to_value(&self.fields).ok(),
        }
    }
}

pub(super) fn remote(number: u64, database_id: u64, node_id: String, url: String) -> RemoteTicket {
    let other_ids =
        BTreeMap::from([(NODE_ID.to_owned(), node_id), (DATABASE_ID.to_owned(), database_id.to_string())]);
    RemoteTicket { id: number.to_string(), key: format!("#{number}"), url, other_ids }
}

/// Returns what GitHub's words say, in the case of REST or of GraphQL. An issue that is open has no progress
/// there.
pub(super) fn ticket_state(state: &str, reason: Option<&str>) -> TicketState {
    if !state.eq_ignore_ascii_case("closed") {
        return TicketState::ToDo;
    }
    TicketState::Closed(match reason.map(str::to_ascii_lowercase).as_deref() {
        Some("not_planned") => CloseReason::NotPlanned,
        Some("duplicate") => CloseReason::Duplicate,
        // Issues that were closed before there were reasons have none.
        _ => CloseReason::Completed,
    })
}

pub(super) const fn reason_word(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Completed => "completed",
        CloseReason::NotPlanned => "not_planned",
        CloseReason::Duplicate => "duplicate",
    }
}

/// The most characters of a body (docs/formats.md, "Trackers").
pub(super) const BODY_LIMIT: usize = 65_536;

/// The body of the request that makes an issue. The marker stands in its text and in a label, so that no
/// crash parts them.
pub(super) fn creation(ticket: &Ticket) -> Result<Json, Failure> {
    let body = ManagedSection::of(ticket).alone(BODY_LIMIT).map_err(|error| no_room(&error))?.body;
    Ok(json!({ "title": ticket.title, "body": body, "labels": ticket.labels }))
}

/// The bodies of the requests that change an issue, in their order: none where nothing differs. A reason
/// counts only where the state changes (GitHub's OpenAPI, `state_reason`), so an issue that is closed for
/// another reason is opened first.
pub(super) fn patches(differences: &[FieldDifference], before: TicketState, after: TicketState) -> Vec<Json> {
    let mut fields = Map::new();
    let mut patches = Vec::new();
    for difference in differences {
        match difference.field.as_str() {
            name @ ("title" | "body" | "labels") => {
                fields.insert(name.to_owned(), difference.after.clone());
            }
            "state" => {
                if let (TicketState::Closed(_), TicketState::Closed(_)) = (before, after) {
                    patches.push(json!({ "state": "open", "state_reason": "reopened" }));
                }
                let (state, reason) = match after {
                    TicketState::ToDo | TicketState::InProgress => ("open", "reopened"),
                    TicketState::Closed(reason) => ("closed", reason_word(reason)),
                };
                fields.insert("state".to_owned(), state.into());
                fields.insert("state_reason".to_owned(), reason.into());
            }
            // The parent has requests of its own; GitHub has no other fields that are managed.
            _ => {}
        }
    }
    if !fields.is_empty() {
        patches.push(Json::Object(fields));
    }
    patches
}

/// The `differences` to be sent: whatever changes, the body names the commit that it was written from.
pub(super) fn stamped(
    mut differences: Vec<FieldDifference>,
    desired: &Ticket,
    current: &Observed,
) -> Result<Vec<FieldDifference>, MergeError> {
    let says_more = differences.iter().any(|own| own.field != "parent");
    if says_more && differences.iter().all(|own| own.field != "body") {
        let body = ManagedSection::of(desired).merged_into(&current.body, BODY_LIMIT)?.body;
        differences.extend(FieldDifference::between("body", current.body.as_str().into(), body.into()));
    }
    Ok(differences)
}

/// The reason why the issue at `number` is not the one that was asked for, if it is not: GitHub answers with
/// the one that it was moved to.
pub(super) fn moved(number: u64, current: &Observed) -> Option<Failure> {
    let detail = format!("issue #{number} was moved to {}", current.remote.url);
    (current.remote.id != number.to_string()).then(|| Failure::new(Reason::Gone, &detail))
}

/// The reason why an issue must not be changed, if it must not.
pub(super) fn not_ours(change: &Change, current: &Observed) -> Option<Failure> {
    let number = match number_of(&change.remote) {
        Ok(number) => number,
        Err(failure) => return Some(failure),
    };
    let markers: Vec<Marker> = Marker::all_in(&current.body).collect();
    moved(number, current).or_else(|| change.refusal(&markers, current))
}

pub(super) fn no_room(error: &MergeError) -> Failure {
    Failure::new(Reason::Invalid, &error.to_string())
}
