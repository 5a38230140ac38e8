//! Tickets, as whoever knows the trackers tells of them.

use crate::index_db::{Contents, IntoCell as _, Row};

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TicketRow {
    pub tracker: String,
    pub marker: String,
    pub artifact: Option<String>,
    pub ticket: Option<String>,
    pub url: Option<String>,
    pub action: Option<String>,
    pub differs: Vec<String>,
    /// `waiting`, `parked` or `in-doubt`.
    pub delivery: Option<String>,
    pub reason: Option<String>,
    pub linked_at: Option<String>,
}

/// Takes in `tickets`, which are all that there are. Of two with the same tracker and marker the first
/// counts.
pub(super) fn refresh(tickets: &[TicketRow], contents: &mut Contents<'_>) -> rusqlite::Result<()> {
    let mut sorted: Vec<&TicketRow> = tickets.iter().collect();
    sorted.sort();
    sorted.dedup_by_key(|row| (&row.tracker, &row.marker));
    contents.replace_named("tickets", sorted.into_iter().map(row).collect())
}

fn row(ticket: &TicketRow) -> Row {
    let TicketRow { tracker, marker, artifact, ticket, url, action, differs, delivery, reason, linked_at } =
        ticket;
    let differs = (!differs.is_empty()).then(|| differs.join(", "));
    let texts = [artifact, ticket, url, action, &differs, delivery, reason, linked_at];
    let mut row = vec![tracker.as_str().cell(), marker.as_str().cell()];
    row.extend(texts.map(|text| text.as_deref().cell()));
    row
}
