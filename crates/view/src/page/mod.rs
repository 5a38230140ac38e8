//! Views as HTML: escaped by `maud`, readable without scripts, no request to other hosts. Pure.

mod marks;
mod drawing;
mod layout;
mod timeline;
mod findings;
mod tickets;
mod overview_page;
mod artifact_page;
mod memory_page;
#[cfg(test)]
mod cases;

pub use artifact_page::{ArtifactView, artifact_page};
pub use layout::{Links, Revision, SCRIPT, STYLE, Stale, journal_page, sync_page};
pub use marks::moment;
pub use memory_page::memory_page;
pub use overview_page::{OverviewPage, Piece, is_report, report};
