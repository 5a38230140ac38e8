//! Coordination in a project: agents share tasks, a record each, and the files of other programs follow
//! (docs/formats.md, "Coordination").
//!
//! # Flow
//! The records are read → a pure decision of [`stepmark_model::coordination`] → the task, its agent and the
//! tasks that wait for it change in one commit, decided again under their locks → the files of the configured
//! format follow ([`crate::projection`]).
//!
//! # Guarantees
//! * A task has one holder: whoever claims decides under the locks of the task and of its own record.
//! * Nothing is kept in the process: several programs and servers work on one folder.

mod records;
#[cfg(feature = "write")]
mod files;
#[cfg(feature = "write")]
mod importing;
#[cfg(feature = "write")]
mod tasks;

use std::sync::{Arc, Mutex};

use stepmark_model::{
    artifact::ProjectPath,
    coordination::{Format, Record, heartbeats},
    records::{Signals, take_newer},
};

use crate::workspace::Workspace;
use crate::{configuration::CoordinationSettings, signals::read_signals, workspace::snapshot::Snapshot};

#[cfg(feature = "write")]
pub use self::{files::CoordinationFiles, importing::StateFile, tasks::TaskChange};
#[cfg(feature = "write")]
use crate::projection::found_files::FoundFiles;
#[cfg(feature = "write")]
pub use crate::projection::pack_files::Overwrite;

const SYSTEM: &str = "coordination";

#[derive(Clone, Debug)]
pub struct Coordination<'w> {
    workspace: &'w Workspace,
    settings: &'w CoordinationSettings,
    snapshot: Arc<Mutex<Snapshot<Record>>>,
    #[cfg(feature = "write")]
    found: Arc<Mutex<FoundFiles>>,
}

impl Workspace {
    /// Coordination in the project; `None` where the configuration has no key `coordination`.
    pub fn coordination(&self) -> Option<Coordination<'_>> {
        let settings = self.configuration().coordination.as_ref()?;
        Some(Coordination {
            workspace: self,
            settings,
            snapshot: Arc::clone(&self.tasks),
            #[cfg(feature = "write")]
            found: Arc::default(),
        })
    }
}

impl Workspace {
    /// The same project with coordination switched on, if it is not: for files that may be brought in.
    #[must_use]
    pub fn with_coordination(mut self) -> Self {
        self.configuration_mut().switch_coordination_on();
        self
    }
}

impl<'w> Coordination<'w> {
    pub const fn settings(&self) -> &'w CoordinationSettings {
        self.settings
    }

    /// The last sign of life of each agent, the newer of this clone's and the configured files'.
    pub fn signals(&self) -> Signals {
        let mut signals = read_signals(self.workspace.root(), SYSTEM);
        let told = self.file_of(self.settings.option, self.settings.option.heartbeat_file());
        let told = told.and_then(|path| self.workspace.read_file(&path).ok());
        take_newer(&mut signals, told.map(|bytes| heartbeats(&bytes)).unwrap_or_default());
        signals
    }

    fn file_of(&self, format: Format, name: &str) -> Option<ProjectPath> {
        match format {
            Format::OrchestratorState => Some(self.settings.state_file.clone()),
            _ => self.settings.folder.join(name).ok(),
        }
    }
}
