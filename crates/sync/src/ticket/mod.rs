//! The ticket that an artifact should have: pure, from what the artifact says and what the configuration
//! chooses.

mod marker;
mod desired;
mod difference;
mod observed;
mod template;
mod file_url;
mod commit;
mod stamp;
mod settings;
mod title;
mod facts;
mod entry;
mod snapshot;
mod key;
mod step_name;
mod body;
mod outgoing;
mod project;
#[cfg(test)]
mod cases;
#[cfg(test)]
pub(crate) mod sample;

pub use body::BodyTemplate;
#[cfg(feature = "jira")]
pub(crate) use body::cut;
pub use body::{Block, Entry, Inline, ManagedSection, Mark, Markdown, MergeError, Merged, Task, markdown};
#[cfg(feature = "jira")]
pub(crate) use body::{depths, shortened};
pub use commit::Commit;
pub use desired::{TITLE_LIMIT, Ticket, TicketDigest, TicketKind};
pub use difference::{FieldDifference, labels_agree, merged_labels};
#[cfg(feature = "http")]
pub(crate) use difference::{parent_difference, shown_marker};
pub use entry::SnapshotEntry;
pub(crate) use entry::StoredTicket;
pub use facts::{StepFact, TicketFacts};
pub use file_url::{FileUrl, FileUrlError};
pub(crate) use key::TicketKeys;
pub use marker::{Marker, MarkerError, project_label};
pub use observed::{CloseReason, Observed, RemoteTicket, TicketState, oldest_first};
pub use outgoing::Withheld;
pub use settings::{Parents, Section, TicketSettings};
pub(crate) use snapshot::Hangs;
pub use snapshot::{LeftOut, LeftOutReason, Snapshot};
pub use stamp::{CHANGED, Checkout, Stamp};
pub use template::{Placeholder, Template, TemplateError};
