//! ASDD in a project: agents take slices through phases. Each slice is a record; the manifest that agents
//! read is written from them (docs/formats.md, "ASDD").
//!
//! # Flow
//! An agent begins: the slice is compared with its files → the agent works and proposes → the proposal is
//! validated, and committed by the custodian (at once if the slice is `AUTO`) → the manifest is updated
//! ([`crate::projection`]).
//!
//! # Guarantees
//! * A proposal is based on the slice as its agent read it; if that has changed, it is refused, and kept.
//! * A slice is the old one or the proposed one, whenever the process dies.

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
    /// `None` without the key `asdd`.
    pub fn asdd(&self) -> Option<Asdd<'_>> {
        Some(Asdd { workspace: self, settings: self.configuration().asdd.as_ref()? })
    }

    /// Switches ASDD on, for a project whose manifest is only about to be imported.
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

    pub fn signals(&self) -> Signals {
        read_signals(self.workspace.root(), SYSTEM)
    }
}
