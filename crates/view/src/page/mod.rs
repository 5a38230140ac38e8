//! Views as HTML: escaped by `maud`, readable without script, without a single request to elsewhere. Pure.

mod links;
mod marks;
mod assets;
mod stale;
mod drawing;
mod layout;
mod timeline;
mod findings;
mod tickets;
mod overview_page;
mod excerpt;
mod artifact_page;
mod journal_page;
mod sync_page;
mod memory_page;
#[cfg(test)]
mod cases;

pub use artifact_page::{ArtifactView, artifact_page};
pub use assets::{SCRIPT, STYLE};
pub use journal_page::journal_page;
pub use links::Links;
pub use marks::moment;
pub use memory_page::memory_page;
pub use overview_page::{OverviewPage, Piece, is_report, report};
pub use stale::{Revision, Stale};
pub use sync_page::sync_page;
