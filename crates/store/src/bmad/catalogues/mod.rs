//! The catalogues of a project: its agents, workflows, skills, tasks and tools are found and read here. What
//! their rows say is decided in [`stepmark_model::bmad::catalogue`].
//!
//! # Flow
//! The BMAD installation (`installation`) names modules in order → their folders and the skill folders of
//! agents are listed → each file is read → its catalogue. `upkeep` writes what differs into
//! `.stepmark/manifests/`. The installer's own catalogues are read for their columns and for the places of
//! skills; nothing is written there.
//!
//! # Guarantees
//! The same files give the same bytes, in whatever order the system lists them. A file that cannot be read is
//! told, and everything else is in the catalogue.

mod installation;
mod modules;
mod skills;
#[cfg(feature = "write")]
mod upkeep;
#[cfg(test)]
#[cfg(feature = "write")]
mod cases;

use std::sync::atomic::Ordering;

#[cfg(feature = "write")]
pub use upkeep::{CatalogueError, CatalogueRebuild};

use crate::workspace::{ArtifactError, Workspace};
use installation::Installation;
use stepmark_model::{
    artifact::ProjectPath,
    bmad::catalogue::{
        CatalogueKind, Entry, EntryProblem, EntryProblemKind, Table, distinct, in_walk_order, module_order,
    },
};

#[derive(Clone, Debug, Default)]
pub struct Catalogues {
    /// One of each kind, in the order of [`CatalogueKind::ALL`].
    pub catalogues: Vec<Catalogue>,
    /// The problems of what could not be read, by path.
    pub problems: Vec<EntryProblem>,
}

#[derive(Clone, Debug)]
pub struct Catalogue {
    pub kind: CatalogueKind,
    /// Its columns: those of the installer's, where the project has one, else those of the newest release.
    pub columns: Vec<String>,
    /// Its rows, in order.
    pub entries: Vec<Entry>,
    /// True where the installer has this catalogue, so that ours is written even without a row.
    pub is_installers: bool,
}

struct Search<'w> {
    workspace: &'w Workspace,
    problems: Vec<EntryProblem>,
}

impl Search<'_> {
    /// The bytes of a file; `None` where there is none, or where it cannot be read, which is noted.
    fn read(&mut self, path: &ProjectPath) -> Option<Vec<u8>> {
        self.workspace.files_looked_at().fetch_add(1, Ordering::Relaxed);
        match self.workspace.read_file(path) {
            Ok(bytes) => Some(bytes),
            Err(ArtifactError::Missing { .. }) => None,
            Err(error) => {
                let reason = match &error {
                    ArtifactError::Read { source, .. } => source.to_string(),
                    other => other.to_string(),
                };
                self.note(path, EntryProblemKind::Unreadable { reason });
                None
            }
        }
    }

    fn note(&mut self, path: &ProjectPath, kind: EntryProblemKind) {
        self.problems.push(EntryProblem::of_file(path, kind));
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CatalogueFiles<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    /// The catalogues that BMAD keeps of its workflows, agents and tasks.
    pub const fn catalogues(&self) -> CatalogueFiles<'_> {
        CatalogueFiles { workspace: self }
    }
}

impl CatalogueFiles<'_> {
    /// Reads the agents, workflows, skills, tasks and tools of the project. Nothing is written.
    pub fn read(&self) -> Catalogues {
        let mut search = Search { workspace: self.workspace, problems: Vec::new() };
        let installation = Installation::find(&mut search);
        let named = installation.as_ref().map_or(&[][..], |found| &found.modules);
        let folders = installation.as_ref().map_or(&[][..], |found| &found.folders);
        let order = module_order(named, folders);
        let skills = skills::find(&mut search, installation.as_ref());
        let mut catalogues = Vec::new();
        for kind in CatalogueKind::ALL {
            let installers = installation.as_ref().and_then(|found| found.catalogue(&mut search, kind));
            let mut entries = match &installation {
                Some(installation) if kind != CatalogueKind::Skill => {
                    modules::entries(&mut search, installation, &order, kind)
                }
                _ => Vec::new(),
            };
            match kind {
                CatalogueKind::Skill => entries = in_walk_order(skills.skills.clone(), &order),
                CatalogueKind::Agent => entries.extend(in_walk_order(skills.agents.clone(), &order)),
                _ => {}
            }
            if kind != CatalogueKind::Skill {
                entries = distinct(entries);
            }
            let columns = Table::columns_for(installers.as_ref(), kind);
            catalogues.push(Catalogue { kind, columns, entries, is_installers: installers.is_some() });
        }
        let mut problems = search.problems;
        problems.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        problems.dedup();
        Catalogues { catalogues, problems }
    }
}
