//! Events of a run.

use std::{future, time::Duration};

use jiff::Timestamp;
use tokio::sync::watch;

use super::{Pass, PassError};
use crate::ledger::{Lease, LedgerError};

/// An event of a run, for whoever writes logs and counts.
#[derive(Debug)]
pub enum RunEvent<'e> {
    /// Another process leads; this one waits.
    Standby {
        held: &'e Lease,
    },
    Leading {
        lease: &'e Lease,
    },
    /// Another process has taken over, since this one did not renew its lease in time.
    LostLead {
        held: &'e Lease,
    },
    /// The lease could neither be taken nor renewed. It is tried again.
    NoLedger {
        error: &'e LedgerError,
    },
    Passed {
        pass: &'e Pass,
        at: Timestamp,
        took: Duration,
    },
    PassFailed {
        error: &'e PassError,
    },
    /// The run has ended: nothing is in flight.
    Stopped,
}

/// Tells all listeners that something has changed. A million changes are as one: the truth is read again
/// anyway, so nothing is queued.
#[derive(Clone, Debug)]
pub struct ChangeSignal(watch::Sender<()>);

#[derive(Clone, Debug)]
pub struct ChangeListener(watch::Receiver<()>);

impl Default for ChangeSignal {
    fn default() -> Self {
        Self(watch::Sender::new(()))
    }
}

impl ChangeSignal {
    /// Tells that something has changed; never waits, and may be called on any thread.
    pub fn tell(&self) {
        self.0.send_replace(());
    }

    pub fn listen(&self) -> ChangeListener {
        ChangeListener(self.0.subscribe())
    }
}

impl ChangeListener {
    /// Ends when something has changed since this was last called; never, once nobody can tell.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_million_changes_are_one() {
        let signal = ChangeSignal::default();
        let mut listener = signal.listen();
        for _ in 0..1_000_000 {
            signal.tell();
        }
        listener.changed().await;
        let next = tokio::time::timeout(std::time::Duration::from_millis(1), listener.changed());
        assert!(next.await.is_err(), "one change was left after it was heard of");
        // What is sent holds nothing, and the channel keeps one of it.
        assert_eq!(size_of_val(&*listener.0.borrow()), 0);
    }
}
