//! All slices in one view, for a tech lead.

use std::collections::BTreeMap;

use super::{Asdd, AsddRecordsError};
use stepmark_model::{asdd::State, records::Signals};

/// All slices in one view: `stepmark asdd status` and the page show the same.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AsddStatus {
    /// The records.
    pub state: State,
    /// The last sign of life of each agent.
    pub signals: Signals,
    /// The slices that other programs changed in the manifest; none where that cannot be told, and without
    /// the feature `write`, which knows what was written there.
    pub drift: Vec<String>,
    /// The slices that no agent can begin with, each with the reason.
    pub held_up: BTreeMap<String, String>,
}

impl Asdd<'_> {
    /// All slices in one view.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn status(&self) -> Result<AsddStatus, AsddRecordsError> {
        #[cfg(feature = "write")]
        let drift = self.drift().unwrap_or_default();
        #[cfg(not(feature = "write"))]
        let drift = Vec::new();
        Ok(AsddStatus { state: self.state()?, signals: self.signals(), drift, held_up: self.held_up()? })
    }
}
