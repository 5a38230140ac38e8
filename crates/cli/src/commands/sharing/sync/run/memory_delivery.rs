//! Delivers memory, in a thread of its own since stores are slow, and looks at agents of ASDD from time to
//! time. `stepmark-sync` itself cannot write artifacts.

use std::{
    convert::Infallible,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    task::{JoinError, spawn_blocking},
    time::sleep,
};
use tracing::{info, warn};

use crate::{
    commands::memory::{Told, deliver_to_all},
    exit::{Failure, chain},
};
use stepmark_store::workspace::Workspace;

const EVERY: Duration = Duration::from_secs(60);
/// Every so many rounds all stores are asked: they may have been deleted.
const LOOKS: u32 = 60;

/// Dropping it ends a round between two batches.
struct Going(Arc<AtomicBool>);

impl Drop for Going {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

pub(super) async fn keep_delivering(workspace: &Workspace) -> Infallible {
    if workspace.configuration().memory.stores.is_empty() {
        return pending().await;
    }
    let going = Going(Arc::new(AtomicBool::new(true)));
    let (mut round, mut seen) = (0, String::new());
    loop {
        let (workspace, goes_on) = (workspace.afresh(), Arc::clone(&going.0));
        let extent = workspace.history().ask(|history| history.extent()).map(|extent| extent.to_string());
        // Where nothing was told since a round in which all went well there is nothing to do.
        if round == 0 || !extent.as_ref().is_ok_and(|extent| *extent == seen) {
            let asks_all = round == 0;
            let work = move || deliver_to_all(&workspace, asks_all, &|| goes_on.load(Ordering::Relaxed));
            let is_whole = told(spawn_blocking(work).await);
            seen = extent.ok().filter(|_| is_whole).unwrap_or_default();
        }
        round = (round + 1) % LOOKS;
        sleep(EVERY).await;
    }
}

fn told(outcome: Result<Result<Told, Failure>, JoinError>) -> bool {
    let stores = match outcome {
        Ok(Ok(stores)) => stores,
        Ok(Err(failure)) => return warned("", &failure.message),
        Err(error) => return warned("", &chain(&error)),
    };
    let mut is_whole = true;
    for (store, report) in &stores {
        match report {
            Err(failure) => is_whole = warned(store, &failure.message),
            Ok(report) => {
                for failure in &report.failures {
                    is_whole = warned(store, &format!("{}: {}", failure.reason, failure.detail));
                }
                is_whole &= report.refused.is_none() && report.postponed == 0;
                if report.delivered > 0 {
                    info!(store, units = report.delivered, "memory was delivered");
                }
            }
        }
    }
    is_whole
}

fn warned(store: &str, error: &str) -> bool {
    warn!(store, error, "memory could not be delivered");
    false
}

pub(super) async fn keep_looking(workspace: &Workspace) -> Infallible {
    let Some(every) = workspace.asdd().map(|asdd| asdd.settings().monitor.every_seconds) else {
        return pending().await;
    };
    loop {
        sleep(Duration::from_secs(every)).await;
        look(&workspace.afresh());
    }
}

fn look(workspace: &Workspace) {
    let Some(asdd) = workspace.asdd() else { return };
    match asdd.monitor() {
        Ok(found) => {
            for (agent, times) in &found.silent {
                warn!(agent, times, "an agent is silent for too long");
            }
            for (slice, reason) in &found.blocked {
                info!(slice, reason, "a slice was blocked");
            }
        }
        Err(error) => warn!(error = chain(&error), "agents could not be looked at"),
    }
}
