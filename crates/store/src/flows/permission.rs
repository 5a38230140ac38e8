//! Permission to run the checks of a graph in this clone: they are commands of a shell, and a repository may
//! be a stranger's. So it lies in the user's own folder, which no repository and no archive brings along.
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

    /// Notes that the checks of `graph` may be run, unless it is an agent that says so, by whatever command.
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

    /// The digests of the graphs whose checks may be run. A file that cannot be read allows nothing.
    fn allowed(&self) -> BTreeSet<String> {
        let read = || {
            let folder = self.workspace.configuration().user_folder()?;
            serde_json::from_slice(&own_file::read(folder, FILE.as_ref(), LIMIT).ok()?).ok()
        };
        read().unwrap_or_default()
    }
}
