//! The trackers, where tickets are kept. What a tracker answers never leaves this crate for an artifact.

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

/// A tracker: few methods, each one request or one batch. It decides nothing: no retry, no waiting, no
/// memory; the caller asks breakers and pace before, and writes down intents. A request that fails is an
/// outcome, and never a panic, whatever the tracker answers.
pub trait Tracker: Send + Sync {
    fn name(&self) -> &TrackerName;

    /// Returns how many requests it has sent so far, where one call of a method may send several or none;
    /// `None` where each sends one.
    fn sent(&self) -> Option<usize> {
        None
    }

    /// A digest of the credential, where it has one: another one may be let do what this one was not.
    fn credential_digest(&self) -> Option<&str> {
        None
    }

    fn batch(&self, kind: RequestKind) -> usize;

    fn route(&self, kind: RequestKind, tickets: &[Marker]) -> Route;

    fn cost(&self, kind: RequestKind, tickets: usize) -> Cost;

    /// The managed fields in which a ticket differs from what it should say; `before` is what it was last
    /// made to say. Pure.
    fn compare(&self, desired: &Ticket, before: Option<&Ticket>, observed: &Observed) -> Differences;

    /// Asks for the id of its repository or project, which stays when that is renamed or moved. The one
    /// request that is about no ticket.
    fn target(&self) -> Reply<'_, String>;

    /// Returns what will not work with these tickets, each of which may be new: one line for each cause, as
    /// far as the tracker can tell before anything is written. `None` where it never tells anything.
    fn preflight<'t>(&'t self, tickets: &'t [(&'t Ticket, bool)]) -> Option<Reply<'t, Vec<String>>> {
        let _ = tickets;
        None
    }

    fn create<'t>(&'t self, creations: &'t [Creation]) -> BoxFuture<'t, Answer<Delivered>>;

    fn update<'t>(&'t self, changes: &'t [Change]) -> BoxFuture<'t, Answer<Delivered>>;

    /// Reads tickets that are known; `None` for one that carries our marker no longer.
    fn read<'t>(&'t self, tickets: &'t [RemoteTicket]) -> BoxFuture<'t, Answer<Option<Observed>>>;

    /// Lists tickets of the project `project`, open and closed, by a way that shows what was just made, where
    /// the tracker has one; never by a search for text.
    fn list<'t>(&'t self, project: &'t str, from: Option<&'t Cursor>, listing: Listing) -> Reply<'t, Page>;

    /// Returns whether [`Listing::Labelled`] finds tickets by a label, which a person may have renamed.
    fn lists_by_label(&self) -> bool {
        false
    }

    fn list_lags(&self) -> bool {
        false
    }
}

pub type Reply<'t, T> = BoxFuture<'t, Result<T, Failure>>;

/// The tickets that a list is of: those with the label of the project, or all that carry its marker.
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
    /// The ticket as it was last written, where that is known: labels that are ours no longer are taken away.
    pub before: Option<Ticket>,
    pub parent: Option<RemoteTicket>,
    pub condition: Condition,
}

impl Change {
    pub fn refusal(&self, markers: &[Marker], current: &Observed) -> Option<Failure> {
        self.condition.refusal(markers, current).or_else(|| self.too_old_for(&current.stamp))
    }

    /// The reason why a ticket must not be written since it was written from something newer, if it must not.
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

/// The outcome of a request for one ticket. A refusal is a value, not an error: the breaker and the delivery
/// hear of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    Done(T),
    Failed(Failure),
    /// Nobody knows: it was sent, and no answer was read. The intent stays, and the ticket is looked up.
    InDoubt(Failure),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<T> {
    pub outcomes: Vec<Outcome<T>>,
    pub budget: Option<Budget>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The place of the ticket now: a tracker may have moved it.
    pub remote: RemoteTicket,
    /// The fields that it still does not say, as read back from the answer: GitHub drops labels silently, and
    /// cannot make a closed issue. Where this is empty, the ticket is known to say all of it.
    pub missing: Vec<FieldDifference>,
    pub is_overwritten: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Those of them that carry a marker of the project.
    pub tickets: Vec<Observed>,
    /// Tickets with our label from which the marker was taken away, with their titles.
    pub unmarked: Vec<(String, RemoteTicket)>,
    /// The place where the next page begins; `None` after the last one.
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
