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

mod known_records;
mod records;
pub(crate) mod signals;
#[cfg(feature = "write")]
mod agents;
#[cfg(feature = "write")]
mod error;
#[cfg(feature = "write")]
mod file_findings;
#[cfg(feature = "write")]
mod files;
#[cfg(feature = "write")]
mod importing;
#[cfg(feature = "write")]
mod tasks;

use std::sync::{Arc, Mutex};

use stepmark_model::coordination::Signals;

use self::known_records::KnownRecords;
use crate::configuration::CoordinationSettings;
use crate::workspace::Workspace;

#[cfg(feature = "write")]
pub use self::{
    error::CoordinationError,
    file_findings::FileState,
    files::CoordinationFiles,
    importing::{ImportRow, ImportSide, ImportSurvey},
    tasks::TaskChange,
};
#[cfg(feature = "write")]
pub use crate::projection::record_files::Overwrite;
pub use records::RecordsError;

/// Coordination in a project.
#[derive(Clone, Debug)]
pub struct Coordination<'w> {
    workspace: &'w Workspace,
    settings: &'w CoordinationSettings,
    known: Arc<Mutex<KnownRecords>>,
}

impl Workspace {
    /// Coordination in the project; `None` where the configuration has no key `coordination`.
    pub fn coordination(&self) -> Option<Coordination<'_>> {
        let settings = self.configuration().coordination()?;
        Some(Coordination { workspace: self, settings, known: Arc::default() })
    }
}

impl Workspace {
    /// The same project, where coordination is switched on with what counts without a configuration, if it is
    /// not: for whoever looks at files that may be brought in.
    #[must_use]
    pub fn with_coordination(mut self) -> Self {
        self.configuration_mut().switch_coordination_on();
        self
    }
}

impl<'w> Coordination<'w> {
    /// The settings.
    pub const fn settings(&self) -> &'w CoordinationSettings {
        self.settings
    }

    /// The last sign of life of each agent, as this clone knows it.
    pub fn signals(&self) -> Signals {
        signals::read_signals(self.workspace.root(), "coordination")
    }
}
