//! The look at agents of ASDD, from time to time: the process that runs anyway makes it. `stepmark-sync`
//! itself cannot write artifacts.

use std::{convert::Infallible, future::pending, time::Duration};

use stepmark_store::workspace::Workspace;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::exit::chain;

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
