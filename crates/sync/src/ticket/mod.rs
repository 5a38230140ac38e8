//! The ticket that an artifact should have: pure, from what the artifact says and what the configuration chooses.

mod marker;
mod block;
mod desired;
mod difference;
mod observed;
mod template;
mod body_template;
mod file_url;
mod commit;
mod settings;
mod title;
mod facts;
mod snapshot;
mod source;
mod step_name;
mod text;
mod body;
mod project;
mod markdown;
mod managed_section;
#[cfg(test)]
mod cases;
#[cfg(test)]
pub(crate) mod sample;

#[cfg(feature = "jira")]
pub(crate) use block::depths;
pub use block::{Block, Entry, Inline, Mark, Task};
pub use body_template::BodyTemplate;
pub use commit::Commit;
pub use desired::TicketDigest;
pub use desired::{TITLE_LIMIT, Ticket, TicketKind};
pub use difference::FieldDifference;
pub use difference::{labels_agree, merged_labels};
#[cfg(feature = "http")]
pub(crate) use difference::{parent_difference, shown_marker};
pub use facts::{StepFact, TicketFacts};
pub use file_url::{FileUrl, FileUrlError};
pub use managed_section::{ManagedSection, MergeError, Merged};
#[cfg(feature = "jira")]
pub(crate) use markdown::cut;
pub use markdown::{Markdown, markdown};
pub use marker::{Marker, MarkerError, project_label};
pub use observed::RemoteTicket;
pub use observed::{CloseReason, TicketState};
pub use observed::{Observed, oldest_first};
pub use settings::{Parents, Section, TicketSettings};
pub use snapshot::{LeftOut, LeftOutReason, Snapshot};
pub use source::SourceDigest;
pub(crate) use source::SourceDigests;
pub use template::Placeholder;
pub use template::{Template, TemplateError};
