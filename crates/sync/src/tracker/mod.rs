//! Trackers. What a tracker answers never leaves this crate for an artifact.

mod dry;
mod file;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "github")]
mod github;
#[cfg(feature = "jira")]
mod jira;

use crate::{
    BoxFuture, TrackerName,
    breaker::{Failure, Reason, Route},
    pace::{Budget, Cost},
    ticket::{Differences, FieldDifference, Marker, Observed, RemoteTicket, Stamp, Ticket},
};

pub use dry::{Condition, DryRequest, DryTracker};
pub use file::{FileTracker, Line, LineKind};
#[cfg(feature = "github")]
pub use github::{GitHubSettings, GitHubTracker};
#[cfg(feature = "http")]
pub use http::HttpLimits;
#[cfg(feature = "jira")]
pub use jira::{JiraIssueTypes, JiraSettings, JiraTracker};

/// Each method is one request or one batch. No retry, no waiting, no memory: the caller asks breakers and
/// pace, and stores intents. A failed request is an outcome, never a panic.
pub trait Tracker: Send + Sync {
    fn name(&self) -> &TrackerName;

    /// If one call may send several requests or none; `None` if each sends one.
    fn sent(&self) -> Option<usize> {
        None
    }

    /// Another credential may have other rights.
    fn credential_digest(&self) -> Option<&str> {
        None
    }

    fn batch(&self, kind: RequestKind) -> usize;

    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route;

    fn cost(&self, kind: RequestKind, tickets: usize) -> Cost;

    /// `before` is what the ticket was last made to say. Pure.
    fn compare(&self, desired: &Ticket, before: Option<&Ticket>, observed: &Observed) -> Differences;

    /// The id of its repository or project, which stays when that is renamed or moved.
    fn target(&self) -> Reply<'_, String>;

    /// Problems with these tickets, each of which may be new: one line for each cause. `None` if the tracker
    /// cannot tell before writing.
    fn preflight<'t>(&'t self, tickets: &'t [(&'t Ticket, bool)]) -> Option<Reply<'t, Vec<String>>> {
        let _ = tickets;
        None
    }

    fn create<'t>(&'t self, creations: &'t [Creation]) -> BoxFuture<'t, Answer<Delivered>>;

    fn update<'t>(&'t self, changes: &'t [Change]) -> BoxFuture<'t, Answer<Delivered>>;

    /// `None` for a ticket without our marker.
    fn read<'t>(&'t self, tickets: &'t [RemoteTicket]) -> BoxFuture<'t, Answer<Option<Observed>>>;

    /// Open and closed, by a way that shows new tickets at once if the tracker has one; never by a text
    /// search.
    fn list<'t>(&'t self, project: &'t str, from: Option<&'t Cursor>, listing: Listing) -> Reply<'t, Page>;

    /// A person may have renamed the label.
    fn lists_by_label(&self) -> bool {
        false
    }

    fn list_lags(&self) -> bool {
        false
    }
}

pub type Reply<'t, T> = BoxFuture<'t, Result<T, Failure>>;

/// With the label of the project, or all that carry its marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    Labelled,
    All,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creation {
    pub ticket: Ticket,
    pub parent: Option<RemoteTicket>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub remote: RemoteTicket,
    pub desired: Ticket,
    /// As last written, if known: labels that are ours no longer are removed.
    pub before: Option<Ticket>,
    pub parent: Option<RemoteTicket>,
    pub condition: Condition,
}

impl Change {
    pub fn refusal(&self, markers: &[Marker], current: &Observed) -> Option<Failure> {
        self.condition.refusal(markers, current).or_else(|| self.too_old_for(&current.stamp))
    }

    pub(crate) fn too_old_for(&self, written: &Stamp) -> Option<Failure> {
        let own = self.before.as_ref().map(|before| &before.stamp.commit);
        let newer = self.desired.stamp.refusal(written, own == Some(&written.commit));
        let is_guarded = matches!(self.condition, Condition::Marked | Condition::NamedInFile);
        newer.filter(|_| is_guarded).map(|newer| Failure::new(Reason::Newer, &newer))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    Target,
    Create,
    Update,
    Read,
    List,
}

impl RequestKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Create => "create",
            Self::Update => "update",
            Self::Read => "read",
            Self::List => "list",
        }
    }
}

/// A refusal is a value, not an error: breaker and delivery use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    Done(T),
    Failed(Failure),
    /// Sent, and no answer was read. The intent stays, and the ticket is looked up.
    InDoubt(Failure),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<T> {
    pub outcomes: Vec<Outcome<T>>,
    pub budget: Option<Budget>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// A tracker may have moved the ticket.
    pub remote: RemoteTicket,
    /// Fields that still differ, as read back: GitHub drops labels silently, and cannot make a closed issue.
    pub missing: Vec<FieldDifference>,
    pub is_overwritten: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub tickets: Vec<Observed>,
    /// Tickets with our label and no marker, with their titles.
    pub unmarked: Vec<(String, RemoteTicket)>,
    /// `None` after the last page.
    pub next: Option<Cursor>,
    pub budget: Option<Budget>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

impl<T> Outcome<T> {
    pub const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Done(_) => None,
            Self::Failed(failure) | Self::InDoubt(failure) => Some(failure),
        }
    }
}

impl<T> Answer<T> {
    pub const fn of(outcomes: Vec<Outcome<T>>) -> Self {
        Self { outcomes, budget: None }
    }
}
