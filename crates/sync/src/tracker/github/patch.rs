//! What is sent to change an issue. Pure.

use serde_json::{Map, Value as Json, json};

use super::{issue::reason_word, rest::number_of};
use crate::{
    breaker::{Failure, Reason},
    ticket::{FieldDifference, ManagedSection, Marker, MergeError, Observed, Standing, Ticket},
    tracker::Change,
};

/// The most characters of a body (docs/formats.md, "Trackers").
pub(super) const BODY_LIMIT: usize = 65_536;

/// The body of the request that makes an issue. The marker stands in its text and in a label, so that no crash parts them.
pub(super) fn creation(ticket: &Ticket) -> Result<Json, Failure> {
    let body = ManagedSection::of(ticket).alone(BODY_LIMIT).map_err(|error| no_room(&error))?.body;
    Ok(json!({ "title": ticket.title, "body": body, "labels": ticket.labels }))
}

/// The bodies of the requests that change an issue, in their order: none where nothing differs. A reason counts only where the state
/// changes (GitHub's OpenAPI, `state_reason`), so an issue that is closed for another reason is opened first.
pub(super) fn patches(differences: &[FieldDifference], before: Standing, after: Standing) -> Vec<Json> {
    let mut fields = Map::new();
    let mut patches = Vec::new();
    for difference in differences {
        match difference.field.as_str() {
            name @ ("title" | "body" | "labels") => {
                fields.insert(name.to_owned(), difference.after.clone());
            }
            "standing" => {
                if let (Standing::Closed(_), Standing::Closed(_)) = (before, after) {
                    patches.push(json!({ "state": "open", "state_reason": "reopened" }));
                }
                let (state, reason) = match after {
                    Standing::ToDo | Standing::InProgress => ("open", "reopened"),
                    Standing::Closed(reason) => ("closed", reason_word(reason)),
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

/// Why the issue at `number` is not the one that was asked for, if it is not: GitHub answers with the one that it was moved to.
pub(super) fn moved(number: u64, current: &Observed) -> Option<Failure> {
    let detail = format!("issue #{number} was moved to {}", current.remote.url);
    (current.remote.id != number.to_string()).then(|| Failure::new(Reason::Gone, &detail))
}

/// Why an issue must not be changed, if it must not.
pub(super) fn not_ours(change: &Change, current: &Observed) -> Option<Failure> {
    let number = match number_of(&change.remote) {
        Ok(number) => number,
        Err(failure) => return Some(failure),
    };
    let markers: Vec<Marker> = Marker::all_in(&current.body).collect();
    moved(number, current).or_else(|| change.condition.refusal(&markers, current))
}

/// The failure of a body that has no room.
pub(super) fn no_room(error: &MergeError) -> Failure {
    Failure::new(Reason::Invalid, &error.to_string())
}
