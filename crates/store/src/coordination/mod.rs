//! Coordination: agents share tasks, each a record; other programs' files are written from them
//! (docs/formats.md, "Coordination").
//!
//! # Flow
//! Read the records → a pure decision of [`stepmark_model::coordination`] → the task, its agent and its
//! dependents change in one commit, decided again under their locks → update the files of the configured
//! format ([`crate::projection`]).
//!
//! # Guarantees
//! * A task has one holder: claims are decided under the locks of the task and of the agent's record.
//! * No process keeps state: several programs and servers may share a folder.

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
    /// `None` without the key `coordination`.
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
    /// Switches coordination on, for files that are only about to be imported.
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

    /// The newer one from this clone or the configured files.
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
