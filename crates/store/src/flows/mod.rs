//! Flows in a project: graphs of tasks, their runs, and the executions of tasks, a record each
//! (docs/flows.md).
//!
//! # Flow
//! The records are read → a pure decision of [`stepmark_model::flows`] → the record changes, with its event,
//! in one commit under the lock of its flow.
//!
//! # Guarantees
//! * All changes of one flow hold the lock of its record: no claim lands after a pause, and no two claims
//!   miss that they want the same files.
//! * A record that was edited by other means stops the commands of its flow, until a person decides.

mod records;
mod files;
mod constitution;
#[cfg(feature = "write")]
mod checkpoints;
#[cfg(feature = "write")]
mod creating;
#[cfg(feature = "write")]
mod log;
#[cfg(feature = "write")]
mod permission;
#[cfg(feature = "write")]
mod running;

use std::sync::{Arc, Mutex};

use self::files::KnownFile;
use crate::workspace::Workspace;
use crate::{configuration::FlowSettings, signals::read_signals, workspace::snapshot::Snapshot};
use stepmark_model::{flows::FlowFacts, records::Signals};

#[cfg(feature = "write")]
pub use checkpoints::unusable_graph;
pub use constitution::Constitution;
#[cfg(feature = "write")]
pub use log::FlowEvent;

const SYSTEM: &str = "flows";

#[derive(Clone, Debug)]
pub struct Flows<'w> {
    workspace: &'w Workspace,
    settings: &'w FlowSettings,
    snapshot: Arc<Mutex<Snapshot<KnownFile>>>,
}

impl Workspace {
    /// Flows in the project; `None` where the configuration has no key `flows`.
    pub fn flows(&self) -> Option<Flows<'_>> {
        let settings = self.configuration().flows.as_ref()?;
        Some(Flows { workspace: self, settings, snapshot: Arc::new(Mutex::new(Snapshot::new("flows.stat"))) })
    }

    /// The facts to hold flow records against, if any. A flow that cannot be read is left to other rules.
    pub(crate) fn flow_facts(&self) -> Option<FlowFacts> {
        let flows = self.flows()?;
        Some(FlowFacts { flows: flows.ids().iter().filter_map(|id| flows.state(id).ok()).collect() })
    }
}

impl Flows<'_> {
    /// The last sign of life of each agent, as this clone knows it.
    pub fn signals(&self) -> Signals {
        read_signals(self.workspace.root(), SYSTEM)
    }
}
