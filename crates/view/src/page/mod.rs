//! Views as HTML: escaped by `maud`, readable without script, without a single request to elsewhere. Pure.

mod links;
mod marks;
mod assets;
mod piece;
mod layout;
mod summary;
mod artifact_table;
mod progress;
mod delegation;
mod timeline;
mod findings;
mod tickets;
mod overview_page;
mod report;
#[cfg(test)]
mod cases;

pub use assets::{SCRIPT, STYLE};
pub use links::Links;
pub use overview_page::OverviewPage;
pub use piece::Piece;
pub use report::report;
