//! A request that was not answered with yes.

use super::{Outcome, http::HttpFailure};
use crate::breaker::{Failure, Reason};

/// A question that was not answered with yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Nothing was done.
    Failed(Failure),
    /// Nobody knows.
    InDoubt(Failure),
}

impl Refused {
    /// What became of the ticket.
    pub(super) fn outcome<T>(self) -> Outcome<T> {
        match self {
            Self::Failed(failure) => Outcome::Failed(failure),
            Self::InDoubt(failure) => Outcome::InDoubt(failure),
        }
    }

    /// The failure.
    pub(super) const fn failure(&self) -> &Failure {
        match self {
            Self::Failed(failure) | Self::InDoubt(failure) => failure,
        }
    }

    /// The same, after something was done already: then nothing is certain about the whole.
    pub(super) fn after_a_write(self) -> Self {
        match self {
            Self::Failed(failure) if failure.reason != Reason::Invalid => Self::InDoubt(failure),
            other => other,
        }
    }
}

impl From<HttpFailure> for Refused {
    fn from(failure: HttpFailure) -> Self {
        match failure {
            HttpFailure::NotSent(failure) => Self::Failed(failure),
            HttpFailure::Lost(failure) => Self::InDoubt(failure),
        }
    }
}
