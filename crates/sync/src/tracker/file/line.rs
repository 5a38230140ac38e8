//! One line of a file of tickets.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ticket::{Ticket, TicketDigest};

const LINE_SCHEMA: &str = "stepmark.ticket-line/2";

/// The version before it, which is still read: the state of a ticket is called `standing` there.
const OLDER_SCHEMA: &str = "stepmark.ticket-line/1";

/// One line: that a ticket was made, or changed. The last line with a number counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    schema: String,
    pub number: u64,
    pub at: Timestamp,
    pub done: LineKind,
    pub digest: TicketDigest,
    pub parent: Option<u64>,
    pub ticket: Ticket,
    pub body: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineKind {
    Created,
    Updated,
}

impl Line {
    pub(super) const BEGINNING: &str = "{\"schema\":\"stepmark.ticket-line/";

    /// The line that the ticket `number` says this and hangs below that, with `body` as its managed section.
    pub(super) fn new(
        number: u64,
        at: Timestamp,
        done: LineKind,
        (ticket, parent): (&Ticket, Option<u64>),
        body: String,
    ) -> Self {
        Self {
            schema: LINE_SCHEMA.to_owned(),
            number,
            at,
            done,
            digest: ticket.digest(),
            parent,
            ticket: ticket.clone(),
            body,
        }
    }

    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        (self.number, self.parent, &self.ticket, &self.body)
            == (other.number, other.parent, &other.ticket, &other.body)
    }

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let line: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match line.schema.as_str() {
            LINE_SCHEMA | OLDER_SCHEMA => Ok(line),
            other => Err(format!("its form is `{other}`")),
        }
    }
}
