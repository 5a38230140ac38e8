//! What became of a request.

use crate::{
    breaker::Failure,
    pace::Budget,
    ticket::{FieldDifference, Observed, RemoteTicket},
};

/// What became of one ticket of a request. A refusal is a value, not an error: the breaker and the delivery hear of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// It was done.
    Done(T),
    /// It was not done, for certain.
    Failed(Failure),
    /// Nobody knows: the request was sent, and no answer was read. The intent stays, and the ticket is looked up.
    InDoubt(Failure),
}

/// The answer to a request about several tickets: one outcome for each, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<T> {
    /// The outcomes, as many as there were tickets.
    pub outcomes: Vec<Outcome<T>>,
    /// What the tracker says is left of its limit.
    pub budget: Option<Budget>,
}

/// A ticket that was made or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Where it is now: a tracker may have moved it.
    pub remote: RemoteTicket,
    /// What it still does not say, as read back from the answer: GitHub drops labels silently, and cannot make a closed issue. Where
    /// this is empty, the ticket is known to say all of it.
    pub missing: Vec<FieldDifference>,
}

/// One page of the tickets that carry a project's label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Those of them that carry a marker of the project.
    pub tickets: Vec<Observed>,
    /// Where the next page begins; `None` after the last one.
    pub next: Option<Cursor>,
    /// What the tracker says is left of its limit.
    pub budget: Option<Budget>,
}

/// A place in a list, as the tracker names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

impl<T> Outcome<T> {
    /// The failure, if it is one.
    pub const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Done(_) => None,
            Self::Failed(failure) | Self::InDoubt(failure) => Some(failure),
        }
    }
}

impl<T> Answer<T> {
    /// The answer of a tracker without limits.
    pub const fn of(outcomes: Vec<Outcome<T>>) -> Self {
        Self { outcomes, budget: None }
    }
}
