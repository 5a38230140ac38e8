//! Time, for a worker that sometimes waits.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use stepmark_store::workspace::Clock;
use tokio::sync::watch;

use crate::BoxFuture;

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
