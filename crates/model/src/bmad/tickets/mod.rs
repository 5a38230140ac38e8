//! Tickets of BMAD 7: `tickets.toml` lists planned work in build order, a leaf file describes one ticket, and
//! only its plan has a status (docs/formats.md). Pure.
//!
//! [`TicketFolder`]s → [`TicketTree::of`] → [`TicketTree::next`], [`TicketTree::status`]: the answers of
//! BMAD's `tickets.py`. A mistake in a file becomes a [`TicketProblem`]; all else is read.

mod answers;
mod breakdown;
mod folder;
mod tree;

pub use answers::{NextTickets, TicketGroup, TicketReports, TicketRow, TicketStatus};
pub use breakdown::{BREAKDOWN_NAME, TicketId, are_unlike, titles_of_entries};
pub use folder::{Ticket, TicketFolder, TicketState};
pub use tree::{Needed, TicketTree};

use crate::artifact::ProjectPath;
use icu_normalizer::DecomposingNormalizerBorrowed;
use stepmark_frontmatter::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketFault {
    Unusable,
    /// Unknown or cyclic.
    Reference,
    Order,
    Drift,
    /// A plan that says it has no ticket: unplanned work.
    Unticketed,
    Reused,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketProblem {
    pub path: ProjectPath,
    pub span: Span,
    pub fault: TicketFault,
    pub message: String,
}

/// From the title: lower case, ASCII, at most 60 characters.
pub(crate) fn slug(title: &str) -> String {
    let plain = DecomposingNormalizerBorrowed::new_nfkd().normalize(title);
    let mut slug = String::new();
    for letter in plain.chars().filter(char::is_ascii).map(|letter| letter.to_ascii_lowercase()) {
        match letter.is_ascii_alphanumeric() {
            true => slug.push(letter),
            false if slug.is_empty() || slug.ends_with('-') => {}
            false => slug.push('-'),
        }
    }
    slug.truncate(60.min(slug.trim_end_matches('-').len()));
    match slug.trim_end_matches('-') {
        "" => "untitled".to_owned(),
        slug => slug.to_owned(),
    }
}
