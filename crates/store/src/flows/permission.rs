//! Permission to run the checks of a graph in this clone: they are commands of a shell, and a repository may
//! be a stranger's.

use std::{collections::BTreeSet, io};

use super::{FlowError, Flows};
use crate::commit::{FsyncPolicy, replace_state_file};
use crate::disk::{local_state::StateFolder, own_file};
use stepmark_model::flows::{FlowRefusal, Graph};

/// The file with the digests of graphs whose checks may be run.
const FILE: &str = "flow-checks.json";

/// Its largest size.
const LIMIT: u64 = 1024 * 1024;

impl Flows<'_> {
    /// Returns whether the checks of `graph` may be run in this clone: the graph was made here, or a person
    /// allowed it.
    pub fn may_run_checks(&self, graph: &Graph) -> bool {
        graph.tasks.iter().all(|task| task.checks.is_empty()) || self.allowed().contains(&graph.digest())
    }

    /// Allows the checks of `graph` in this clone, as a person.
    ///
    /// # Errors
    /// When an agent asks, or it cannot be noted.
    pub fn allow_checks(&self, graph: &Graph) -> Result<(), FlowError> {
        let acting = self.acting(None);
        if !acting.is_human() {
            let (actor, legal) = (acting.actor.clone(), Vec::new());
            return Err(FlowRefusal::NotHuman { action: "allow the checks of a graph", actor, legal }.into());
        }
        self.note_allowed(graph)
    }

    /// Notes that the checks of `graph` may be run.
    pub(super) fn note_allowed(&self, graph: &Graph) -> Result<(), FlowError> {
        let mut allowed = self.allowed();
        if !allowed.insert(graph.digest()) {
            return Ok(());
        }
        let noted: io::Result<()> = (|| {
            let folder =
                self.workspace.root().state().make(StateFolder::Permissions).map_err(io::Error::other)?;
            replace_state_file(&folder, FILE, &serde_json::to_vec(&allowed)?, FsyncPolicy::Always)
        })();
        noted.map_err(|source| FlowError::Permission { id: graph.id.clone(), source })
    }

    /// The digests of the graphs whose checks may be run. A file that cannot be read allows nothing.
    fn allowed(&self) -> BTreeSet<String> {
        let read = || {
            let folder = self.workspace.root().state().folder(StateFolder::Permissions).ok()?;
            serde_json::from_slice(&own_file::read(&folder, FILE.as_ref(), LIMIT).ok()?).ok()
        };
        read().unwrap_or_default()
    }
}
