//! The delivery of memory to its stores, from time to time: the process that runs anyway makes it, in a
//! thread of its own, since stores are slow.

use std::{
    convert::Infallible,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use stepmark_store::workspace::Workspace;
use tokio::{task::spawn_blocking, time::sleep};
use tracing::{info, warn};

use crate::{commands::memory::deliver_to_all, exit::chain};

/// The time between two rounds.
const EVERY: Duration = Duration::from_secs(60);

/// Ends a round between two batches when it is dropped.
struct Going(Arc<AtomicBool>);

impl Drop for Going {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Delivers again and again, where the project has stores.
pub(super) async fn keep_delivering(workspace: &Workspace) -> Infallible {
    if workspace.configuration().memory().stores.is_empty() {
        return pending().await;
    }
    let going = Going(Arc::new(AtomicBool::new(true)));
    loop {
        let (workspace, goes_on) = (workspace.afresh(), Arc::clone(&going.0));
        let round = spawn_blocking(move || deliver_to_all(&workspace, &|| goes_on.load(Ordering::Relaxed)));
        match round.await {
            Ok(Ok(told)) => told.iter().for_each(|(store, report)| {
                for failure in &report.failures {
                    warn!(store, reason = %failure.reason, detail = failure.detail, "memory could not be delivered");
                }
                if report.delivered > 0 {
                    info!(store, units = report.delivered, "memory was delivered");
                }
            }),
            Ok(Err(failure)) => warn!(error = failure.message, "memory could not be delivered"),
            Err(error) => warn!(error = chain(&error), "memory could not be delivered"),
        }
        sleep(EVERY).await;
    }
}
