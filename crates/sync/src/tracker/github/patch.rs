//! What is sent to change an issue. Pure.

use serde_json::{Map, Value as Json, json};

use super::issue::reason_word;
use crate::{
    breaker::{Failure, Reason},
    ticket::{FieldDifference, ManagedSection, Marker, MergeError, Observed, Standing, Ticket},
};

/// How many characters a body has at most (FORMATS.md §4).
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

/// Why an issue must not be touched, if it must not: its number is another one's now, or it says that it belongs to another artifact.
pub(super) fn not_ours(number: u64, current: &Observed, first_marker: Option<&Marker>) -> Option<Failure> {
    if current.remote.id != number.to_string() {
        let detail = format!("issue #{number} was moved to {}", current.remote.url);
        return Some(Failure::new(Reason::Gone, &detail));
    }
    let stranger = first_marker.filter(|marker| **marker != current.marker)?;
    // Somebody may have copied the section of another issue above ours.
    let own = format!("<!-- stepmark:begin v1 {} -->", current.marker);
    let has_own = current.body.lines().any(|line| line.trim() == own);
    let detail = format!("issue #{number} belongs to `{stranger}`, not to `{}`", current.marker);
    (!has_own).then(|| Failure::new(Reason::Gone, &detail))
}

/// The failure of a body that has no room.
pub(super) fn no_room(error: &MergeError) -> Failure {
    Failure::new(Reason::Invalid, &error.to_string())
}
