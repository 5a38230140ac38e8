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

mod admission;
mod trial;
mod settle;
mod look_up;
mod found;
mod creations;
mod apply;
mod prepare;
mod open_tracker;

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use stepmark_store::workspace::Clock;
use tokio::sync::watch;

use crate::{
    BoxFuture,
    breaker::{Failure, Scope},
    plan::{ActionKind, Remark},
    retry::Delivery,
    ticket::{FieldDifference, Marker, RemoteTicket},
};

pub use look_up::{begin, give_back, try_lease, wants_look};

pub use apply::Worker;
pub use open_tracker::{CredentialAccess, open_tracker};
pub use settle::{LostLink, Reset, clock_was_ahead, reset, retry};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// In milliseconds after each transaction: more than the longest request takes.
    pub lease_ms: u64,
    /// All waits together, in milliseconds: for the lease, the pace, and what is in doubt. Longer ones are
    /// left for later. It never waits for a breaker.
    pub patience_ms: u64,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { lease_ms: 120_000, patience_ms: 60 * 60 * 1000 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    Waits(Timestamp),
    /// The message for people: another process has the lease.
    Held(String),
    /// A part of the plan that will not work. Nothing was written yet.
    Obstacle(String),
}

pub type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

pub trait WorkerClock: Send + Sync {
    fn now(&self) -> Timestamp;

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()>;
}

/// Waits need the runtime of tokio.
#[derive(Clone, Debug, Default)]
pub struct WallClock(pub Clock);

impl WorkerClock for WallClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            tokio::time::sleep(duration).await;
        })
    }
}

/// Ends work between two requests: the one in flight is finished and stored, no other begins. Clones share
/// it; it is never taken back.
#[derive(Clone, Debug)]
pub struct StopSignal(Arc<watch::Sender<bool>>);

impl Default for StopSignal {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl StopSignal {
    pub fn ask(&self) {
        self.0.send_replace(true);
    }

    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    pub async fn asked(&self) {
        let mut listener = self.0.subscribe();
        // Fails only without a sender, and `self` is one.
        let _asked = listener.wait_for(|is_asked| *is_asked).await;
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub entries: Vec<Entry>,
    /// Known before anything was written, one line for each cause.
    pub obstacles: Vec<String>,
    pub requests: usize,
    pub remarks: Vec<Remark>,
    /// The time to list all tickets again: another machine may have made the same, and the list may lag.
    pub look_again_at: Option<Timestamp>,
    /// Parked tickets that may be tried again, since one showed that their cause has passed.
    pub brought_back: usize,
    /// The plan was made from tickets of another target: nothing was done, and the next plan is made from the
    /// right ones.
    pub is_of_another_target: bool,
    /// The time to list the tickets that another machine made at the same time.
    pub listing_due: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: ActionKind,
    pub marker: Marker,
    pub outcome: ActionOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionOutcome {
    Done { remote: RemoteTicket, missing: Vec<FieldDifference> },
    // A ticket with the marker was found, and is linked now. The next plan updates it.
    Found { remote: RemoteTicket, duplicates: Vec<RemoteTicket> },
    // A creation that was in doubt was certainly not done. The next plan creates it.
    NotThere,
    Failed { failure: Failure, delivery: Delivery },
    // In doubt: looked up before anything else.
    InDoubt { failure: Failure },
    Deferred(Deferred),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Deferred {
    #[error("it failed and is tried again after {until}: {}", .last.detail)]
    Waiting { until: Timestamp, last: Failure },
    #[error("it is parked after {attempts} tries: {}: {}", .last.reason, .last.detail)]
    Parked { attempts: u32, last: Failure },
    #[error("`{scope}` is left alone until {until}: {}: {}", .cause.reason, .cause.detail)]
    Refused { scope: Scope, until: Timestamp, cause: Failure },
    #[error("the pace of the tracker allows it at {until}")]
    TooFast { until: Timestamp },
    #[error("the ticket below which it hangs is not there yet")]
    NoParent { parent: Marker },
    #[error("it may have been created, and the list of the tracker may show it only at {until}")]
    Unlisted { until: Timestamp },
    #[error("the tickets of the tracker cannot be listed: {}: {}", .0.reason, .0.detail)]
    NotListed(Failure),
    /// A stranger's tickets might be changed.
    #[error("the tracker does not tell which repository or project it is: {}: {}", .0.reason, .0.detail)]
    NoTarget(Failure),
    #[error("another machine makes tickets of this project; look again after {until}")]
    Contended { until: Timestamp },
    #[error("the worker was asked to stop before it was tried")]
    Stopped,
    #[error("what is known of the ticket has changed since the plan was made")]
    Stale,
    #[error("nothing is known of what the ticket says: run `stepmark sync adopt`, or close it by hand")]
    Unknown,
    #[error("{key} is the ticket of another artifact")]
    LinkedElsewhere { key: String, owner: Marker },
}

impl ActionOutcome {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Found { .. } => "found",
            Self::NotThere => "not-there",
            Self::Failed { .. } => "failed",
            Self::InDoubt { .. } => "in-doubt",
            Self::Deferred(_) => "deferred",
        }
    }
}

impl Report {
    pub fn of(&self, marker: &Marker) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.marker == *marker)
    }

    /// Found tickets are to be updated, missing ones created, or others tried again.
    pub fn is_followed_by_more(&self) -> bool {
        let leads_on = |entry: &Entry| match &entry.outcome {
            ActionOutcome::Found { .. } | ActionOutcome::NotThere => true,
            ActionOutcome::Done { missing, .. } => entry.kind == ActionKind::Create && !missing.is_empty(),
            _ => false,
        };
        self.is_of_another_target || self.brought_back > 0 || self.entries.iter().any(leads_on)
    }

    pub fn is_complete(&self) -> bool {
        let is_done = |outcome: &ActionOutcome| {
            matches!(
                outcome,
                ActionOutcome::Done { .. } | ActionOutcome::Found { .. } | ActionOutcome::NotThere
            )
        };
        self.entries.iter().all(|entry| is_done(&entry.outcome))
    }

    /// The last attempt replaces what failed or was not tried before.
    pub fn add(&mut self, later: Self) {
        self.requests += later.requests;
        self.entries.retain(|entry| {
            let is_open = matches!(entry.outcome, ActionOutcome::Deferred(_) | ActionOutcome::Failed { .. });
            !is_open || later.of(&entry.marker).is_none()
        });
        self.entries.extend(later.entries);
        self.obstacles.extend(later.obstacles);
        later.remarks.into_iter().for_each(|remark| self.remark(remark));
        self.look_again_at = later.look_again_at.or(self.look_again_at);
    }

    fn remark(&mut self, remark: Remark) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    fn tell(&mut self, kind: ActionKind, marker: &Marker, outcome: ActionOutcome) {
        self.entries.push(Entry { kind, marker: marker.clone(), outcome });
    }
}

#[cfg(test)]
pub(crate) mod scripted;
#[cfg(test)]
mod cases;
