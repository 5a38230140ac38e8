//! What a ticket is made to say when it is closed without an artifact behind it: only what the ticket itself tells is known.

use std::collections::BTreeMap;

use super::{Block, CloseReason, Inline, Observed, RemoteTicket, Standing, Ticket, TicketKind};

impl Ticket {
    /// The ticket of an artifact that is gone. Its title stays.
    pub(crate) fn of_gone(observed: &Observed) -> Self {
        let text = "The artifact of this ticket is gone.".to_owned();
        closed(observed, vec![Inline::Text(text)], CloseReason::NotPlanned)
    }

    /// One of two tickets of the same artifact, of which `kept` counts. Its title stays.
    pub(crate) fn duplicate_of(observed: &Observed, kept: &RemoteTicket) -> Self {
        let text = "This ticket was made twice. The one that counts is ".to_owned();
        let kept = match kept.url.is_empty() {
            true => Inline::Text(kept.key.clone()),
            false => Inline::Link { text: kept.key.clone(), url: kept.url.clone() },
        };
        closed(observed, vec![Inline::Text(text), kept], CloseReason::Duplicate)
    }
}

fn closed(observed: &Observed, text: Vec<Inline>, reason: CloseReason) -> Ticket {
    Ticket {
        marker: observed.marker.clone(),
        title: observed.title.clone(),
        file: Inline::Text(String::new()),
        file_at_commit: None,
        body: vec![Block::Paragraph(text)],
        labels: [observed.marker.label()].into(),
        standing: Standing::Closed(reason),
        status: None,
        kind: TicketKind::Other,
        parent: None,
        fields: BTreeMap::new(),
    }
}
