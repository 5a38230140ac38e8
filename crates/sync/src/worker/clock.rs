//! Time, for a worker that sometimes waits.

use std::time::Duration;

use jiff::Timestamp;
use stepmark_store::workspace::Clock;

use crate::BoxFuture;

/// What time it is, and waiting.
pub trait WorkerClock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Waits.
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
