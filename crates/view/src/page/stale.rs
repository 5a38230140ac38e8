//! The state that a live page shows, and whether it is that of now.

use jiff::Timestamp;
use maud::{Markup, html};

use super::{Piece, layout, marks};

/// That the project cannot be looked at: what is shown was seen before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Since when.
    pub since: Timestamp,
    pub why: String,
}

/// The state that a live page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision<'s> {
    pub number: u64,
    /// The reason why it is not that of now; `None` where it is.
    pub stale: Option<&'s Stale>,
}

pub(super) const NOTICES: &str = "notices";

impl Revision<'static> {
    pub const fn current(number: u64) -> Self {
        Self { number, stale: None }
    }
}

impl Stale {
    pub fn piece(&self) -> Piece {
        Piece { id: "stale".to_owned(), place: NOTICES, html: layout::text(&self.notice()) }
    }

    pub(super) fn notice(&self) -> Markup {
        html! {
            p #stale role="alert" {
                span .tag.error { "not as it is now" } " Since " (marks::time(self.since)) " UTC the project cannot be looked at: "
                (marks::prose(&self.why)) " What is shown was seen before."
            }
        }
    }
}
