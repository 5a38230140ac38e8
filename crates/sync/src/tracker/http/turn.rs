//! One write after another.

use std::time::Duration;

use tokio::{
    sync::Mutex,
    time::{Instant, sleep_until},
};

/// Lets writes through one at a time, with a while between their beginnings. The pace in the ledger does so
/// between requests of all processes; this does so for the several writes that one request to a tracker may
/// need.
#[derive(Debug)]
pub(super) struct Turn {
    interval: Duration,
    last: Mutex<Option<Instant>>,
}

impl Turn {
    pub(super) const fn new(interval: Duration) -> Self {
        Self { interval, last: Mutex::const_new(None) }
    }

    /// Waits until something may be written.
    pub(super) async fn wait(&self) {
        if self.interval.is_zero() {
            return;
        }
        let mut last = self.last.lock().await;
        if let Some(last) = *last {
            sleep_until(last + self.interval).await;
        }
        *last = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn writes_keep_their_distance() {
        let (turn, begin) = (Turn::new(Duration::from_secs(1)), Instant::now());
        tokio::join!(turn.wait(), turn.wait(), turn.wait());
        assert_eq!(begin.elapsed().as_secs(), 2);
        tokio::time::advance(Duration::from_secs(5)).await;
        turn.wait().await;
        assert_eq!(begin.elapsed().as_secs(), 7);
        let free = Turn::new(Duration::ZERO);
        tokio::join!(free.wait(), free.wait());
        assert_eq!(begin.elapsed().as_secs(), 7);
    }
}
