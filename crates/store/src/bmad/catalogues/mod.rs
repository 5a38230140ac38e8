//! The catalogues of agents, workflows, skills, tasks and tools: found and read here, and written to
//! `.stepmark/manifests/`. [`stepmark_model::bmad::catalogue`] decides on their rows. The installer's own
//! catalogues are only read, for their columns and the paths of skills.
//!
//! # Guarantees
//! The same files give the same bytes, in whatever order the system lists them. An unreadable file is
//! reported, and everything else is in the catalogue.

mod search;

use std::borrow::Cow;

use crate::{
    Error,
    commit::read_whole,
    projection::{OnEdit, ProjectedFile, Projection, Published, Witness, publish},
    workspace::Workspace,
};
use search::Search;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    bmad::catalogue::{CatalogueKind, Entry, EntryProblem, distinct, in_walk_order, module_order, write},
    projection::ProjectionFacts,
};

const CATALOGUES_FOLDER: &str = ".stepmark/manifests";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueRebuild {
    pub entries: usize,
    pub published: Published,
    /// Files that are missing in the catalogues since they could not be read.
    pub problems: Vec<EntryProblem>,
}

#[derive(Debug)]
struct Catalogue {
    kind: CatalogueKind,
    /// The installer's columns if the project has them, otherwise those of the newest release.
    columns: Vec<String>,
    entries: Vec<Entry>,
    is_installers: bool,
}

struct CatalogueDrafts(Vec<ProjectedFile<'static>>);

impl Projection for CatalogueDrafts {
    const FACTS: ProjectionFacts = ProjectionFacts::CATALOGUES;

    fn files(&self) -> Vec<ProjectedFile<'_>> {
        self.0.clone()
    }
}

impl Workspace {
    /// Updates the catalogues in `.stepmark/manifests/`. Empty ones are written only if the installer has
    /// that catalogue or ours already exists.
    pub fn rebuild_catalogues(&self) -> Result<CatalogueRebuild, Error> {
        let (catalogues, problems) = self.catalogues();
        let (mut drafts, mut entries) = (CatalogueDrafts(Vec::new()), 0);
        for catalogue in catalogues {
            let path = ProjectPath::new(format!("{CATALOGUES_FOLDER}/{}", catalogue.kind.file_name()))?;
            let found = read_whole(self.root(), &path)?;
            if catalogue.entries.is_empty() && !catalogue.is_installers && found.is_none() {
                continue;
            }
            entries += catalogue.entries.len();
            drafts.0.push(ProjectedFile {
                path: Cow::Owned(path),
                bytes: Cow::Owned(write(&catalogue.columns, &catalogue.entries)),
                found: found.as_deref().map(FileHash::of),
                witness: Witness::Memory,
                on_edit: OnEdit::Replace,
                is_foreign: false,
            });
        }
        let published = publish(self.root(), self.commit_options(), &drafts)?;
        Ok(CatalogueRebuild { entries, published, problems })
    }

    fn catalogues(&self) -> (Vec<Catalogue>, Vec<EntryProblem>) {
        let mut search = Search::of(self);
        let order = module_order(&search.modules, &search.folders);
        let skills = search.skills();
        let (skills, agents) = (in_walk_order(skills.skills, &order), in_walk_order(skills.agents, &order));
        let catalogues = CatalogueKind::ALL.map(|kind| {
            let installers = search.installers_catalogue(kind);
            let entries = match kind {
                CatalogueKind::Skill => skills.clone(),
                CatalogueKind::Agent => distinct([search.entries(&order, kind), agents.clone()].concat()),
                _ => distinct(search.entries(&order, kind)),
            };
            let is_installers = installers.is_some();
            let columns = installers.map_or_else(|| kind.newest_columns(), |table| table.columns);
            Catalogue { kind, columns, entries, is_installers }
        });
        let mut problems = search.problems;
        problems.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        problems.dedup();
        (catalogues.into(), problems)
    }
}

#[cfg(test)]
mod cases;
