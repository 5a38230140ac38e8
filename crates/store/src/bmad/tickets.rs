//! The tickets of BMAD 7: the folders of the output folder that are ticket trees.

#[cfg(feature = "write")]
use std::collections::{BTreeMap, BTreeSet};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use crate::configuration::ConfigurationSources;
use crate::disk::{
    Root,
    folder::{EntryKind, Folder},
    in_parts::par_map,
};
use crate::workspace::Workspace;
use stepmark_frontmatter::Span;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    bmad::{
        settings::{BmadSettings, CONFIGURATION_LAYERS, TICKET_STORE},
        tickets::{BREAKDOWN_NAME, Ticket, TicketFault, TicketFolder, TicketProblem, TicketTree},
    },
};

/// Larger files are not ticket lists.
const MOST_BYTES: usize = 16 << 20;

const BACKLOG: &str = "backlog";

/// The setting of a project that is another one's output folder: the path of that project's folder, relative
/// or absolute (`settings: {bmad_output: ../code}`).
pub const OUTPUT_SETTING: &str = "bmad_output";

/// The setting that names the active initiative; takes precedence over BMAD's configuration.
pub const ACTIVE_SETTING: &str = "active_initiative";

/// A project's ticket trees: its initiatives, and its backlog last.
#[derive(Debug, Default)]
pub struct Tickets {
    trees: Vec<TicketTree>,
    active: Option<usize>,
    settings: BmadSettings,
    problems: Vec<TicketProblem>,
    /// Indices of tree and ticket, by the plan's file.
    by_record: HashMap<ProjectPath, (usize, usize)>,
    leaves: HashSet<ProjectPath>,
}

impl Tickets {
    pub fn trees(&self) -> &[TicketTree] {
        &self.trees
    }

    /// The default tree: the active initiative, or else the only one.
    pub fn active(&self) -> Option<&TicketTree> {
        let only = || Some(0).filter(|_| self.initiatives() == 1);
        self.trees.get(self.active.or_else(only)?)
    }

    pub fn backlog(&self) -> Option<&TicketTree> {
        self.trees.get(self.initiatives())
    }

    fn initiatives(&self) -> usize {
        self.trees.iter().filter(|tree| tree.top().file_name() != BACKLOG).count()
    }

    /// `repo`, or a tracker's name.
    pub fn store(&self) -> &str {
        self.settings.store.as_deref().filter(|store| !store.is_empty()).unwrap_or("repo")
    }

    pub fn problems(&self) -> impl Iterator<Item = TicketProblem> {
        self.problems.iter().chain(self.trees.iter().flat_map(TicketTree::faults)).cloned()
    }

    /// The ticket whose status is in `record`, which may not exist yet: its tree and its index there.
    pub fn of_record(&self, record: &ProjectPath) -> Option<(&TicketTree, usize)> {
        let (tree, place) = self.by_record.get(record)?;
        Some((&self.trees[*tree], *place))
    }

    /// True for a ticket's leaf file, whose status is in another file.
    pub fn is_leaf(&self, path: &ProjectPath) -> bool {
        self.leaves.contains(path)
    }

    /// Searches the active tree, then all.
    pub fn called(&self, name: &str) -> Vec<ProjectPath> {
        self.records(|tree| tree.find(name, None))
    }

    pub fn titled(&self, words: &str) -> Vec<ProjectPath> {
        self.records(|tree| tree.titled(words))
    }

    fn records<'t>(&'t self, find: impl Fn(&'t TicketTree) -> Vec<&'t Ticket>) -> Vec<ProjectPath> {
        let of =
            |tree| -> Vec<ProjectPath> { find(tree).into_iter().map(|own| own.record.clone()).collect() };
        let active = self.active().map(of).filter(|found| !found.is_empty());
        active.unwrap_or_else(|| self.trees.iter().flat_map(of).collect())
    }

    /// The plans that do not exist yet, as they are before their first status.
    pub fn unwritten(&self) -> impl Iterator<Item = Artifact> {
        let tickets = self.trees.iter().flat_map(TicketTree::tickets).filter(|own| !own.has_plan);
        tickets.map(|own| Artifact::read(own.record.clone(), own.new_plan().into_bytes()))
    }
}

/// By its name alone: `tickets.toml` and Markdown in the tree at `top`, its epics and its backlog.
#[cfg(feature = "write")]
pub(crate) fn is_of_tree(top: &ProjectPath, path: &ProjectPath) -> bool {
    let Some(rest) = path.as_str().strip_prefix(&format!("{top}/")) else { return false };
    let (folder, name) = rest.split_once('/').unwrap_or(("backlog", rest));
    let is_file = name == BREAKDOWN_NAME || name.ends_with(".md") && !name.contains('/');
    is_file && (folder == "backlog" || folder.starts_with("epic-"))
}

/// `files` are all files of `top`; `None` if it is not a ticket tree.
#[cfg(feature = "write")]
pub(crate) fn tree_of(top: &ProjectPath, files: Vec<(ProjectPath, Vec<u8>)>) -> Option<TicketTree> {
    let folder = |path: &ProjectPath| TicketFolder { path: path.clone(), breakdown: None, files: Vec::new() };
    let mut folders: BTreeMap<ProjectPath, TicketFolder> = BTreeMap::new();
    for (path, bytes) in files {
        let Some(place) = path.parent() else { continue };
        let own = folders.entry(place.clone()).or_insert_with(|| folder(&place));
        match path.file_name() {
            BREAKDOWN_NAME => own.breakdown = Some(bytes),
            name if name.ends_with(".md") => own.files.push(Artifact::read(path, bytes)),
            _ => {}
        }
    }
    let own = folders.remove(top).unwrap_or_else(|| folder(top));
    let is_epic = |epic: &TicketFolder| {
        let name = epic.path.file_name();
        epic.path.parent().as_ref() == Some(top)
            && name.starts_with("epic-")
            && (epic.breakdown.is_some() || epic.files.iter().any(|file| file.path().file_stem() == name))
    };
    let epics: Vec<TicketFolder> = folders.into_values().filter(is_epic).collect();
    let is_tree = !epics.is_empty() || own.breakdown.is_some() || top.file_name() == BACKLOG;
    is_tree.then(|| TicketTree::of(&own, &epics))
}

impl Workspace {
    pub fn tickets(&self) -> Tickets {
        let (settings, problems) = self.bmad_settings();
        let mut found = Tickets { settings, problems, ..Tickets::default() };
        let Some(output) = self.output_folder(&found.settings) else { return found };
        let mut backlog = None;
        for place in 0..output.len() {
            let name = output.name(place);
            if output.kind(place) != EntryKind::Folder || name.starts_with('.') {
                continue;
            }
            let Some(folder) = self.folder_at(output.path_of(name)) else { continue };
            let epics = self.epics_in(&folder);
            let has = |name: &str| (0..folder.len()).any(|place| folder.name(place) == name);
            if epics.is_empty() && !has(BREAKDOWN_NAME) && name != BACKLOG {
                continue;
            }
            let mut read = |folder: &Folder| self.ticket_folder(folder, &mut found.problems);
            let (Some(top), epics) = (read(&folder), epics.iter().filter_map(&mut read).collect::<Vec<_>>())
            else {
                continue;
            };
            let tree = TicketTree::of(&top, &epics);
            match name {
                BACKLOG => backlog = Some(tree),
                _ => {
                    if found.settings.active_initiative.as_deref() == Some(name) {
                        found.active = Some(found.trees.len());
                    }
                    found.trees.push(tree);
                }
            }
        }
        found.trees.extend(backlog);
        for (tree, own) in found.trees.iter().enumerate() {
            let tickets = own.tickets().iter().enumerate();
            found.by_record.extend(tickets.map(|(place, ticket)| (ticket.record.clone(), (tree, place))));
            found.leaves.extend(own.tickets().iter().filter_map(|ticket| ticket.file.clone()));
        }
        found
    }

    #[cfg(feature = "write")]
    pub(crate) fn ticket_tops(&self, changed: &[ProjectPath]) -> BTreeSet<ProjectPath> {
        let output = Some(changed).filter(|changed| !changed.is_empty()).and_then(|_| self.bmad_output());
        let Some(output) = output else { return BTreeSet::new() };
        let above = if output.path().is_empty() { String::new() } else { format!("{}/", output.path()) };
        let top = |path: &ProjectPath| {
            let (name, _) = path.as_str().strip_prefix(&above)?.split_once('/')?;
            ProjectPath::new(format!("{above}{name}")).ok().filter(|_| !name.starts_with('.'))
        };
        changed.iter().filter_map(top).collect()
    }

    /// The output folder if it is outside the project, with the active initiative.
    pub fn bmad_output_outside(&self) -> Option<(PathBuf, Option<String>)> {
        let (settings, _) = self.bmad_settings();
        let folder = self.root().path().join(settings.output_outside()?);
        Some((folder, settings.active_initiative))
    }

    pub fn is_output(&self, folder: &Path) -> bool {
        let output = Root::open(folder).map(|root| Self::open_with(root, &ConfigurationSources::default()));
        let Ok(Ok(output)) = output else { return false };
        let named = output.configuration().settings().get(OUTPUT_SETTING);
        let named = named.and_then(|named| Root::open(output.root().path().join(named)).ok());
        named.is_some_and(|named| named.path() == self.root().path())
    }

    /// The plan that a ticket's first status creates at `path`, as it is before that.
    pub(crate) fn unwritten_plan(&self, path: &ProjectPath) -> Option<Artifact> {
        let may_be = path.file_name().ends_with("-plan.md") && self.read_file(path).is_err();
        may_be.then(|| self.tickets().unwritten().find(|own| own.path() == path)).flatten()
    }

    pub(super) fn bmad_settings(&self) -> (BmadSettings, Vec<TicketProblem>) {
        let paths = CONFIGURATION_LAYERS.into_iter().chain([TICKET_STORE]);
        let paths: Vec<ProjectPath> = paths.filter_map(|path| ProjectPath::new(path).ok()).collect();
        let text = |path: &ProjectPath| {
            let bytes = self.read_file(path).unwrap_or_default();
            String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).into_owned()
        };
        let (settings, problems) = BmadSettings::read(&paths.iter().map(text).collect::<Vec<_>>());
        let problem = |own: stepmark_model::bmad::settings::SettingsProblem| TicketProblem {
            path: paths[own.place].clone(),
            span: own.span,
            fault: TicketFault::Unusable,
            message: own.message,
        };
        let mut settings = settings;
        let given = self.configuration().settings().get(ACTIVE_SETTING).cloned();
        settings.active_initiative = given.or(settings.active_initiative);
        (settings, problems.into_iter().map(problem).collect())
    }

    /// `None` if it is outside the project.
    #[cfg(feature = "write")]
    pub(crate) fn bmad_output(&self) -> Option<Folder> {
        self.output_folder(&self.bmad_settings().0)
    }

    fn output_folder(&self, settings: &BmadSettings) -> Option<Folder> {
        let output = match self.configuration().settings().get(OUTPUT_SETTING) {
            // This project is another one's output folder.
            Some(_) => "",
            None => settings.output_in_project()?,
        };
        match output {
            "" => Folder::open(self.root().path(), String::new()).ok(),
            folder => self.folder_at(folder.to_owned()),
        }
    }

    pub(super) fn folder_at(&self, path: String) -> Option<Folder> {
        self.root().resolve(&ProjectPath::new(&path).ok()?).ok()?;
        Folder::open(self.root().path(), path).ok()
    }

    fn epics_in(&self, folder: &Folder) -> Vec<Folder> {
        let names = (0..folder.len()).filter(|place| folder.kind(*place) == EntryKind::Folder);
        let names = names.map(|place| folder.name(place)).filter(|name| name.starts_with("epic-"));
        let epics = names.filter_map(|name| self.folder_at(folder.path_of(name)).map(|epic| (name, epic)));
        let is_epic = |(name, epic): &(&str, Folder)| {
            let file = format!("{name}.md");
            (0..epic.len()).any(|place| epic.name(place) == file || epic.name(place) == BREAKDOWN_NAME)
        };
        epics.filter(is_epic).map(|(_, epic)| epic).collect()
    }

    fn ticket_folder(&self, folder: &Folder, problems: &mut Vec<TicketProblem>) -> Option<TicketFolder> {
        let path = ProjectPath::new(folder.path()).ok()?;
        let names: Vec<&str> = (0..folder.len()).map(|place| folder.name(place)).collect();
        let files: Vec<ProjectPath> = names
            .iter()
            .filter(|name| name.ends_with(".md"))
            .filter_map(|name| path.join(name).ok())
            .collect();
        let read = par_map(&files, |path| Some(Artifact::read(path.clone(), self.read_file(path).ok()?)));
        let list = path.join(BREAKDOWN_NAME).ok()?;
        let breakdown = names.contains(&BREAKDOWN_NAME).then(|| self.read_file(&list));
        let unusable = match &breakdown {
            Some(Err(error)) => Some(stepmark_model::spelling::with_causes(error)),
            Some(Ok(bytes)) if bytes.len() > MOST_BYTES => Some("it is larger than 16 MiB".to_owned()),
            _ => None,
        };
        let breakdown = breakdown.and_then(Result::ok).filter(|_| unusable.is_none());
        let problem = |message| TicketProblem {
            path: list.clone(),
            span: Span::at(0),
            fault: TicketFault::Unusable,
            message,
        };
        problems.extend(unusable.map(problem));
        Some(TicketFolder { path, breakdown, files: read.into_iter().flatten().collect() })
    }
}
