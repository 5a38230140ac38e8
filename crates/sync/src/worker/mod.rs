//! Carrying out a plan, so that a crash at any moment leaves at most one ticket an artifact (docs/design.md,
//! "Tickets").
//!
//! Flow: take the lease → ask the tracker which target it is, once a day → list, where something is in doubt
//! or to be created → link what was found → for each batch: one transaction that asks breakers and pace and
//! notes intents; the request; one transaction that writes down what became of it → list again, where
//! something was created: of two tickets that two machines made at once, the younger is closed by whoever
//! made it.
//!
//! Guarantees: every writing transaction checks the lease. No request that creates is made without an intent
//! that is durable. An intent goes only in the transaction that knows what became of the request. The future
//! can be dropped at any moment; a [`StopSignal`] ends it between two requests, so that nothing is left in
//! doubt.
//!
//! Assumption: a request that was sent reaches the tracker, and its list, within `look_up_wait_seconds`, or
//! never.

mod report;
mod admission;
mod trial;
mod settle;
mod look_up;
mod found;
mod creations;
mod apply;
mod prepare;
mod open_tracker;
#[cfg(test)]
pub(crate) mod scripted;
#[cfg(test)]
mod cases;

pub use look_up::{begin, give_back, try_lease, wants_look};

pub use apply::Worker;
pub use open_tracker::{CredentialAccess, open_tracker};
pub use report::{ActionOutcome, Deferred, Entry, Report};
pub use report::{Listener, Notice, StopSignal, WallClock, WorkerClock, WorkerSettings};
pub use settle::{LostLink, Reset, clock_was_ahead, reset, retry};
