//! The BMAD installation of a project, and the files of agents, workflows, skills, tasks and tools in it.
//!
//! Installers since 6.3 copy skills into the agents' folders and delete the modules' copies, so most are
//! found there. A skill that the installer's catalogue lists by folder name keeps its module and path from
//! there, since no frontmatter has them; any other has no module, and its own path. Of several copies the
//! first counts: a module's, then in the order of [`DEFAULT_ROOTS`].

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::atomic::Ordering,
};

use crate::{
    disk::folder::{EntryKind, Folder},
    workspace::Workspace,
};
use stepmark_frontmatter::{Node, Span, Yaml};
use stepmark_model::{
    artifact::ProjectPath,
    bmad::{
        catalogue::{
            CatalogueFile, CatalogueKind, Entry, EntryProblem, NO_MODULE, SKILL_FILE, Table, is_agent_skill,
        },
        settings::{BOOKS, FOLDERS, MODULES_BOOK, RENDERED},
        steps::DEFAULT_ROOTS,
    },
};

/// The maximum depth in a module's folder; known releases have 4.
const DEPTH_LIMIT: usize = 12;

pub(super) struct Search<'w> {
    workspace: &'w Workspace,
    pub(super) problems: Vec<EntryProblem>,
    /// `_bmad`, or `bmad` in alpha releases.
    installation: Option<ProjectPath>,
    books: Option<ProjectPath>,
    pub(super) modules: Vec<String>,
    /// The modules' folders that exist.
    pub(super) folders: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Skills {
    pub(super) skills: Vec<Entry>,
    pub(super) agents: Vec<Entry>,
    known: HashSet<String>,
}

impl<'w> Search<'w> {
    pub(super) fn of(workspace: &'w Workspace) -> Self {
        let (problems, modules, folders) = (Vec::new(), Vec::new(), Vec::new());
        let mut search = Self { workspace, problems, installation: None, books: None, modules, folders };
        for name in FOLDERS {
            let Ok(folder) = ProjectPath::new(name) else { continue };
            let mut folders = search.folders_in(&folder);
            let book = BOOKS.into_iter().find(|book| folders.iter().any(|name| name == book));
            if book.is_some() || (name == FOLDERS[0] && !folders.is_empty()) {
                folders.retain(|name| {
                    !name.starts_with('.') && !BOOKS.contains(&name.as_str()) && name != RENDERED
                });
                search.folders = folders;
                search.books = book.and_then(|book| folder.join(book).ok());
                search.modules = search.named_modules().unwrap_or_default();
                search.installation = Some(folder);
                break;
            }
        }
        search
    }

    /// `modules` in the installer's manifest is a list of names, or of maps with `name`.
    fn named_modules(&mut self) -> Option<Vec<String>> {
        let path = self.books.as_ref()?.join(MODULES_BOOK).ok()?;
        let bytes = self.read(&path)?;
        let yaml = match Yaml::parse(&bytes, Span::new(0, bytes.len())) {
            Ok(yaml) => yaml,
            Err(error) => {
                self.note_book(&path, &error.to_string());
                return None;
            }
        };
        let name = |module: &Node<'_>| match module.text() {
            Some(name) => Some(name.to_owned()),
            None => module.get("name").and_then(Node::text).map(str::to_owned),
        };
        Some(yaml.root()?.get("modules")?.items().iter().filter_map(name).collect())
    }

    pub(super) fn installers_catalogue(&mut self, kind: CatalogueKind) -> Option<Table> {
        let path = self.books.as_ref()?.join(&kind.file_name()).ok()?;
        let bytes = self.read(&path)?;
        Table::read(&bytes).map_err(|reason| self.note_book(&path, &reason)).ok()
    }

    pub(super) fn entries(&mut self, modules: &[String], kind: CatalogueKind) -> Vec<Entry> {
        let mut entries = Vec::new();
        let Some(installation) = self.installation.clone() else { return entries };
        for module in modules.iter().filter(|module| self.folders.contains(module)).collect::<Vec<_>>() {
            if let Ok(folder) = installation.join(&format!("{module}/{}s", kind.noun())) {
                self.add_below(&folder, module, kind, 0, &mut entries);
            }
        }
        // Agents without a module have one folder each.
        if kind == CatalogueKind::Agent
            && let Ok(folder) = installation.join("agents")
        {
            for name in self.folders_in(&folder) {
                if let Ok(folder) = folder.join(&name) {
                    self.add_below(&folder, NO_MODULE, kind, 0, &mut entries);
                }
            }
        }
        entries
    }

    fn add_below(
        &mut self,
        folder: &ProjectPath,
        module: &str,
        kind: CatalogueKind,
        depth: usize,
        entries: &mut Vec<Entry>,
    ) {
        let is_deep = matches!(kind, CatalogueKind::Agent | CatalogueKind::Workflow) && depth < DEPTH_LIMIT;
        for (name, entry_kind) in self.names(folder) {
            let Ok(path) = folder.join(&name) else { continue };
            match entry_kind {
                EntryKind::Folder if is_deep => self.add_below(&path, module, kind, depth + 1, entries),
                EntryKind::File | EntryKind::Link if kind.may_be(&name) => {
                    let Some(bytes) = self.read(&path) else { continue };
                    let source =
                        CatalogueFile { path: &path, bytes: &bytes, module, listed_path: path.as_str() };
                    entries.extend(source.read(kind, &mut self.problems));
                }
                _ => {}
            }
        }
    }

    pub(super) fn skills(&mut self) -> Skills {
        let mut skills = Skills::default();
        let mut places = HashMap::new();
        if let Some(table) = self.installers_catalogue(CatalogueKind::Skill) {
            let fields = table.fields(["canonicalId", "module", "path"]);
            places.extend(
                fields.map(|fields| fields.map(str::to_owned)).map(|[id, module, path]| (id, (module, path))),
            );
        }
        if let Some(installation) = self.installation.clone() {
            for module in self.folders.clone() {
                if let Ok(folder) = installation.join(&module) {
                    self.add_skills_below(&folder, &module, 0, &mut skills);
                }
            }
        }
        for folder in DEFAULT_ROOTS.into_iter().filter(|folder| folder.ends_with("/skills")) {
            let Ok(folder) = ProjectPath::new(folder) else { continue };
            for (name, kind) in self.names(&folder) {
                // Agents' skills are often links to those of others.
                if matches!(kind, EntryKind::Folder | EntryKind::Link)
                    && !skills.known.contains(&name)
                    && let Ok(path) = folder.join(&format!("{name}/{SKILL_FILE}"))
                {
                    let own = || (NO_MODULE, path.as_str());
                    let (module, listed) = places
                        .get(&name)
                        .map_or_else(own, |(module, listed)| (module.as_str(), listed.as_str()));
                    self.add_skill(&path, module, listed, &mut skills);
                }
            }
        }
        skills
    }

    /// Adds skills below a module's folder, but none inside skills, or below names beginning with `.` or `_`.
    fn add_skills_below(&mut self, folder: &ProjectPath, module: &str, depth: usize, skills: &mut Skills) {
        let names = self.names(folder);
        let is_skill = |(name, kind): &(String, EntryKind)| {
            name == SKILL_FILE && matches!(kind, EntryKind::File | EntryKind::Link)
        };
        if names.iter().any(is_skill)
            && let Ok(path) = folder.join(SKILL_FILE)
            && self.add_skill(&path, module, path.as_str(), skills)
        {
            return;
        }
        for (name, kind) in names {
            if kind == EntryKind::Folder
                && !name.starts_with(['.', '_'])
                && depth < DEPTH_LIMIT
                && let Ok(folder) = folder.join(&name)
            {
                self.add_skills_below(&folder, module, depth + 1, skills);
            }
        }
    }

    fn add_skill(
        &mut self,
        path: &ProjectPath,
        module: &str,
        listed_path: &str,
        skills: &mut Skills,
    ) -> bool {
        let Some(bytes) = self.read(path) else { return false };
        let source = CatalogueFile { path, bytes: &bytes, module, listed_path };
        let Some(skill) = source.read(CatalogueKind::Skill, &mut self.problems) else { return false };
        skills.known.insert(skill.get("canonicalId").to_owned());
        skills.agents.extend(is_agent_skill(listed_path).then(|| source.agent_of_skill(&skill)));
        skills.skills.push(skill);
        true
    }

    /// In the byte order of the names, as Node lists them. Empty for a missing folder, and for one that is
    /// unreadable or outside the project, which is noted.
    fn names(&mut self, folder: &ProjectPath) -> Vec<(String, EntryKind)> {
        let root = self.workspace.root();
        let listed = root.resolve(folder).map_err(|error| Some(error.to_string())).and_then(|_| {
            Folder::open(root.path(), folder.as_str().to_owned()).map_err(|error| {
                let is_none = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
                (!is_none).then(|| error.to_string())
            })
        });
        match listed {
            Ok(listed) => {
                for name in listed.names_not_utf8() {
                    let why = format!("the name `{name}` in it is not UTF-8, so no catalogue can hold it");
                    self.note(folder, why);
                }
                (0..listed.len()).map(|place| (listed.name(place).to_owned(), listed.kind(place))).collect()
            }
            Err(reason) => {
                if let Some(reason) = reason {
                    self.note(folder, format!("it cannot be read: {reason}"));
                }
                Vec::new()
            }
        }
    }

    /// Links are not included, as in the installer.
    fn folders_in(&mut self, folder: &ProjectPath) -> Vec<String> {
        let names = self.names(folder).into_iter();
        names.filter(|(_, kind)| *kind == EntryKind::Folder).map(|(name, _)| name).collect()
    }

    /// `None` for a missing file; also for an unreadable one, which is noted.
    fn read(&mut self, path: &ProjectPath) -> Option<Vec<u8>> {
        self.workspace.files_looked_at().fetch_add(1, Ordering::Relaxed);
        let reason = match self.workspace.read_file(path) {
            Ok(bytes) => return Some(bytes),
            Err(error) if error.is_missing() => return None,
            Err(error) => error.detail::<io::Error>().map_or_else(|| error.to_string(), io::Error::to_string),
        };
        self.note(path, format!("it cannot be read: {reason}"));
        None
    }

    fn note(&mut self, path: &ProjectPath, message: String) {
        self.problems.push(EntryProblem { path: path.clone(), line: None, message });
    }

    fn note_book(&mut self, path: &ProjectPath, reason: &str) {
        let lost = "so columns, modules and their order are taken from the folders";
        self.note(path, format!("the installer's file cannot be read, {lost}: {reason}"));
    }
}
