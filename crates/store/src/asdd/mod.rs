//! ASDD in a project: agents lead slices through phases, a record each, and the manifest that they read
//! follows (docs/formats.md, "ASDD").
//!
//! # Flow
//! An agent begins: what the slice says is held against the files → it works, and proposes what follows → the
//! proposal is validated, and committed by the custodian, at once where the slice says `AUTO` → the manifest
//! follows ([`crate::projection`]).
//!
//! # Guarantees
//! * A proposal rests on the slice as its agent read it: when that has changed, it is refused, and kept.
//! * A slice is what it was, or what a proposal makes of it, whenever the process dies.

mod records;
mod facts;
#[cfg(feature = "write")]
mod manifest;
#[cfg(feature = "write")]
mod proposing;
#[cfg(feature = "write")]
mod changing;
#[cfg(feature = "write")]
mod monitoring;

use stepmark_model::records::Signals;

use crate::{configuration::AsddSettings, signals::read_signals, workspace::Workspace};

#[cfg(feature = "write")]
pub use self::{
    manifest::AsddFiles,
    monitoring::{Monitored, Rebuilt},
    proposing::{Begun, Draft, Proposed},
};
pub use facts::AsddStatus;

const SYSTEM: &str = "asdd";

#[derive(Clone, Copy, Debug)]
pub struct Asdd<'w> {
    workspace: &'w Workspace,
    settings: &'w AsddSettings,
}

impl Workspace {
    /// ASDD in the project; `None` where the configuration has no key `asdd`.
    pub fn asdd(&self) -> Option<Asdd<'_>> {
        Some(Asdd { workspace: self, settings: self.configuration().asdd.as_ref()? })
    }

    /// The same project with ASDD switched on, if it is not: for a manifest that may be brought in.
    #[must_use]
    pub fn with_asdd(mut self) -> Self {
        self.configuration_mut().switch_asdd_on();
        self
    }
}

impl<'w> Asdd<'w> {
    pub const fn settings(&self) -> &'w AsddSettings {
        self.settings
    }

    /// The last sign of life of each agent, as this clone knows it.
    pub fn signals(&self) -> Signals {
        read_signals(self.workspace.root(), SYSTEM)
    }
}
