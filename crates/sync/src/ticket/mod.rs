//! The ticket that an artifact should have: pure, from artifact and configuration.

mod marker;
mod desired;
mod settings;
mod title;
mod snapshot;
mod body;
mod outgoing;
mod project;
#[cfg(test)]
mod cases;
#[cfg(test)]
pub(crate) mod sample;

pub use body::BodyTemplate;
pub use body::{Block, Entry, Inline, ManagedSection, Mark, Markdown, Merged, Task, markdown};
#[cfg(feature = "jira")]
pub(crate) use body::{cut, depths, no_room, shortened};
pub use desired::{
    Differences, FieldDifference, TITLE_LIMIT, Ticket, TicketDigest, TicketKind, labels_agree, merged_labels,
};
#[cfg(feature = "http")]
pub(crate) use desired::{parent_difference, shown_marker};
pub use marker::{CHANGED, Checkout, Marker, Stamp, project_label};
pub use outgoing::{CloseReason, Observed, RemoteTicket, TicketState, Withheld, oldest_first};
pub use project::{StepFact, TicketFacts};
pub use settings::{Commit, Parents, Placeholder, Section, Template, TicketSettings};
pub(crate) use snapshot::{Hangs, StoredTicket};
pub use snapshot::{LeftOut, Snapshot, SnapshotEntry};
pub use title::FileUrl;
pub(crate) use title::TicketKeys;
