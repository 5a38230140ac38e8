//! The settings of a worker, its clock, its notices, and its errors.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use stepmark_store::workspace::Clock;
use tokio::sync::watch;

use crate::BoxFuture;
use crate::ledger::{LeaseHeld, LedgerError};

/// The settings of a worker, beside what the configuration says about its tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The number of milliseconds that the lease is kept after each transaction. Longer than the longest
    /// request.
    pub lease_ms: u64,
    /// The number of milliseconds that the worker waits altogether: for the lease, for the pace, and for what
    /// is in doubt. What would take longer is left for later. It never waits for a breaker.
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
    Held(LeaseHeld),
    /// Something of the plan will not work, and why. Nothing was written yet.
    Obstacle(String),
}

pub type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

/// A reason why a worker stopped before it had been through its plan. What it had begun is in the ledger, and
/// whoever works next goes on.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error(transparent)]
    LeaseHeld(#[from] LeaseHeld),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

pub trait WorkerClock: Send + Sync {
    fn now(&self) -> Timestamp;

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()>;
}

/// The clock of the machine. Waits need the runtime of tokio.
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

/// A wish that work ends at the next good moment: the request in flight is finished and written down, no
/// other begins. Clones share the wish; it is never taken back.
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

    /// Ends when somebody asks, or has asked already.
    pub async fn asked(&self) {
        let mut listener = self.0.subscribe();
        // Fails only when the sender is gone, and this is it.
        let _asked = listener.wait_for(|is_asked| *is_asked).await;
    }
}
