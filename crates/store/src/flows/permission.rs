//! Permission to run a graph's checks in this clone: they are shell commands, and a repository may be a
//! stranger's. So permissions are in the user's own folder, which no repository or archive contains.
#![expect(clippy::disallowed_methods, reason = "an edge: the file belongs to the user, not to a project")]

use std::{collections::BTreeSet, io};

use super::Flows;
use crate::Error;
use crate::commit::{FsyncPolicy, replace_state_file};
use crate::disk::own_file;
use stepmark_model::{
    flows::{FlowRefusal, Graph},
    journal::ActorKind,
};

const FILE: &str = "flow-checks.json";

const LIMIT: u64 = 1024 * 1024;

impl Flows<'_> {
    pub fn may_run_checks(&self, graph: &Graph) -> bool {
        graph.tasks.iter().all(|task| task.checks.is_empty())
            || self.allowed().contains(&self.permission(graph))
    }

    pub fn allow_checks(&self, graph: &Graph) -> Result<(), Error> {
        let acting = self.acting(None);
        if !acting.is_human() {
            let (actor, legal) = (acting.actor.clone(), Vec::new());
            return Err(FlowRefusal::NotHuman {
                action: "allow the checks of a graph".to_owned(),
                actor,
                legal,
            }
            .into());
        }
        self.note_allowed(graph)
    }

    fn permission(&self, graph: &Graph) -> String {
        format!("{} {}", graph.digest(), self.workspace.root().path().display())
    }

    /// Does nothing for agents, whatever the command.
    pub(super) fn note_allowed(&self, graph: &Graph) -> Result<(), Error> {
        let mut allowed = self.allowed();
        let is_agent = self.workspace.attribution().actor.kind == ActorKind::Agent;
        let has_checks = graph.tasks.iter().any(|task| !task.checks.is_empty());
        if !has_checks || is_agent || !allowed.insert(self.permission(graph)) {
            return Ok(());
        }
        let noted: io::Result<()> = (|| {
            let folder = self.workspace.configuration().user_folder();
            let folder = folder.ok_or_else(|| io::Error::other("HOME names no folder of the user"))?;
            std::fs::create_dir_all(folder)?;
            replace_state_file(folder, FILE, &serde_json::to_vec(&allowed)?, FsyncPolicy::Always)
        })();
        noted.map_err(|source| {
            Error::refused(format!("cannot note that the checks of the graph `{}` may be run here", graph.id))
                .because(source)
        })
    }

    /// Digests of graphs whose checks may run; empty if unreadable.
    fn allowed(&self) -> BTreeSet<String> {
        let read = || {
            let folder = self.workspace.configuration().user_folder()?;
            serde_json::from_slice(&own_file::read(folder, FILE.as_ref(), LIMIT).ok()?).ok()
        };
        read().unwrap_or_default()
    }
}
