//! Words for history.

use stepmark_model::journal::{Event, EventId};
pub use stepmark_model::journal::{change_in_words as change, changes_in_words as changes};

/// Two of a million events collide in one of some hundred journals.
const ID_DIGITS: usize = 12;

pub fn short(id: EventId) -> String {
    id.to_string().chars().take(ID_DIGITS).collect()
}

pub fn origin(event: &Event) -> String {
    let session = event.session.as_ref().map(|session| format!("  [{session}]")).unwrap_or_default();
    format!("{}  {}{session}", event.at, event.actor)
}
