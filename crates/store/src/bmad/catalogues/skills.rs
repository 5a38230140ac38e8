//! Skills: in the folders of modules, and where agents look for them.
//!
//! Installers since 6.3 copy skills into the folders of agents and then delete those of the modules, so most
//! are found there. One that the installer's catalogue knows by its folder's name keeps the module and the
//! path that stand in it: where it was installed from is in no frontmatter. Any other belongs to no module
//! and stands where it is. Of several copies the first counts: a module's, then in the order of
//! [`DEFAULT_ROOTS`].

use std::collections::{HashMap, HashSet};

use crate::bmad::catalogues::{Installation, Search, installation};
use crate::disk::folder::EntryKind;
use stepmark_model::{
    artifact::ProjectPath,
    bmad::{
        catalogue::{
            CatalogueFile, CatalogueKind, Column, Entry, EntryReading, NO_MODULE, SKILL_FILE, agent_of_skill,
            is_agent_skill, read_skill,
        },
        steps::DEFAULT_ROOTS,
    },
};

/// The depth to which folders of a module are entered; known releases have skills 3 deep.
const DEPTH_LIMIT: usize = 12;

/// The skills of a project, in no order, and those agents that are skills.
#[derive(Debug, Default)]
pub(super) struct Skills {
    pub(super) skills: Vec<Entry>,
    pub(super) agents: Vec<Entry>,
    known: HashSet<String>,
}

pub(super) fn find(search: &mut Search<'_>, installation: Option<&Installation>) -> Skills {
    let mut skills = Skills::default();
    let installed = installation.map(|found| places(search, found)).unwrap_or_default();
    if let Some(installation) = installation {
        for module in &installation.folders {
            if let Ok(folder) = installation.folder.join(module) {
                skills.add_of_module(search, &folder, module, 0);
            }
        }
    }
    for folder in DEFAULT_ROOTS.into_iter().filter(|folder| folder.ends_with("/skills")) {
        let Ok(folder) = ProjectPath::new(folder) else { continue };
        for (name, kind) in installation::names(search, &folder) {
            // People link one agent's skills to another's.
            if matches!(kind, EntryKind::Folder | EntryKind::Link)
                && !skills.known.contains(&name)
                && let Ok(skill) = folder.join(&name)
            {
                skills.add_of_agent(search, &skill, installed.get(&name));
            }
        }
    }
    skills
}

fn places(search: &mut Search<'_>, installation: &Installation) -> HashMap<String, (String, String)> {
    let Some(table) = installation.catalogue(search, CatalogueKind::Skill) else { return HashMap::new() };
    let places = table.fields(Column::Module).zip(table.fields(Column::Path));
    let names = table.fields(Column::CanonicalId).map(str::to_owned);
    names.zip(places.map(|(module, path)| (module.to_owned(), path.to_owned()))).collect()
}

impl Skills {
    /// Those below a folder of a module. Inside of a skill there is no other, and none in folders that begin
    /// with `.` or `_`.
    fn add_of_module(&mut self, search: &mut Search<'_>, folder: &ProjectPath, module: &str, depth: usize) {
        let names = installation::names(search, folder);
        if names.iter().any(|(name, kind)| name == SKILL_FILE && installation::is_file(*kind))
            && let Ok(path) = folder.join(SKILL_FILE)
            && self.add(search, &path, module, path.as_str())
        {
            return;
        }
        for (name, kind) in names {
            let is_entered = kind == EntryKind::Folder && !name.starts_with(['.', '_']);
            if is_entered
                && depth < DEPTH_LIMIT
                && let Ok(folder) = folder.join(&name)
            {
                self.add_of_module(search, &folder, module, depth + 1);
            }
        }
    }

    fn add_of_agent(
        &mut self,
        search: &mut Search<'_>,
        folder: &ProjectPath,
        installed: Option<&(String, String)>,
    ) {
        let Ok(path) = folder.join(SKILL_FILE) else { return };
        match installed {
            Some((module, installed_path)) => self.add(search, &path, module, installed_path),
            None => self.add(search, &path, NO_MODULE, path.as_str()),
        };
    }

    fn add(&mut self, search: &mut Search<'_>, path: &ProjectPath, module: &str, listed_path: &str) -> bool {
        let Some(bytes) = search.read(path) else { return false };
        let source = CatalogueFile { path, bytes: &bytes, module, listed_path };
        let EntryReading { entry, problem } = read_skill(&source);
        search.problems.extend(problem);
        let Some(skill) = entry else { return false };
        self.known.insert(skill.get(Column::CanonicalId).to_owned());
        if is_agent_skill(listed_path) {
            self.agents.push(agent_of_skill(&source, &skill));
        }
        self.skills.push(skill);
        true
    }
}
