//! Flows: graphs of tasks, their runs, and executions of tasks, each a record (docs/flows.md).
//!
//! # Flow
//! Read the records → a pure decision of [`stepmark_model::flows`] → the record and its event change in one
//! commit under the flow's lock.
//!
//! # Guarantees
//! * All changes of a flow hold its record's lock: no claim succeeds after a pause, and no two claims miss
//!   that they need the same files.
//! * A record edited outside stepmark stops its flow's commands until a person decides.

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
    /// `None` without the key `flows`.
    pub fn flows(&self) -> Option<Flows<'_>> {
        let settings = self.configuration().flows.as_ref()?;
        Some(Flows { workspace: self, settings, snapshot: Arc::new(Mutex::new(Snapshot::new("flows.stat"))) })
    }

    /// `None` without flows. Unreadable flows are left to other rules.
    pub(crate) fn flow_facts(&self) -> Option<FlowFacts> {
        let flows = self.flows()?;
        Some(FlowFacts { flows: flows.ids().iter().filter_map(|id| flows.state(id).ok()).collect() })
    }
}

impl Flows<'_> {
    /// As known to this clone.
    pub fn signals(&self) -> Signals {
        read_signals(self.workspace.root(), SYSTEM)
    }
}
