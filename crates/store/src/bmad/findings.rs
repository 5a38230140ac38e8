//! Findings in files of BMAD that are not artifacts: memlogs, lists of stories.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::disk::folder::{EntryKind, Folder};
use crate::git::process::{is_object_name, printed};
use crate::history::History;
use crate::workspace::Workspace;
use crate::{Error, bmad::tickets::Tickets};
use stepmark_model::{
    artifact::ProjectPath,
    bmad::{
        memlog::Memlog,
        settings::{ArtifactFolder, CONFIGURATION_LAYERS},
        stories_list::{STORIES_NAME, checkpoints, faults, stories},
        tickets::{
            BREAKDOWN_NAME, Ticket, TicketId, TicketProblem, TicketTree, are_unlike, titles_of_entries,
        },
    },
    check::{
        Finding,
        rules::bmad::{folder_moved_finding, memlog_finding, stories_finding},
    },
};

/// The most bytes of former lists to read, each query counting as [`QUESTION`] more. Such findings are rare;
/// more than this is an attempt to keep us busy.
const MOST_ASKED: usize = 4 << 20;
const QUESTION: usize = 64 << 10;

/// The first story of a list that is not done.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct NextStory {
    pub list: ProjectPath,
    pub id: String,
    pub title: String,
    /// Its spec; `None` where that is still to be written, or two files could be meant.
    #[serde(skip)]
    pub spec: Option<ProjectPath>,
}

impl Workspace {
    /// The order in `stories.yaml` is the order of execution.
    pub fn next_stories(&self) -> Vec<NextStory> {
        let folders = self.spec_folders(&self.bmad_outputs());
        folders.iter().filter_map(|folder| self.next_story(folder)).collect()
    }

    fn next_story(&self, folder: &str) -> Option<NextStory> {
        let list = ProjectPath::new(format!("{folder}/{STORIES_NAME}")).ok()?;
        let stories = stories(&self.read_file(&list).ok()?);
        let files = Folder::open(self.root().path(), format!("{folder}/stories")).ok();
        let names =
            files.iter().flat_map(|files| (0..files.len()).map(|place| files.path_of(files.name(place))));
        let mut specs: Vec<ProjectPath> = names.filter_map(|path| ProjectPath::new(path).ok()).collect();
        specs.sort_unstable();
        let spec_of = |id: &str| {
            let start = format!("{id}-");
            let first = specs.partition_point(|path| *path.file_name() < *start);
            let mut named = specs[first..].iter().filter(|path| path.file_name().ends_with(".md"));
            let spec = named.next().filter(|path| path.file_name().starts_with(&start))?;
            named.next().is_none_or(|other| !other.file_name().starts_with(&start)).then(|| spec.clone())
        };
        let is_done = |spec: &ProjectPath| self.artifact(spec).is_ok_and(|own| !own.has_work_left());
        let mut open = stories.into_iter().map(|(id, title)| (spec_of(&id), id, title));
        let (spec, id, title) = open.find(|(spec, ..)| !spec.as_ref().is_some_and(is_done))?;
        Some(NextStory { list, id, title, spec })
    }

    fn spec_folders(&self, outputs: &[Folder]) -> BTreeSet<String> {
        let specs = outputs.iter().filter_map(|output| self.folder_at(output.path_of("specs")));
        let folders = |specs: Folder| -> Vec<String> {
            let folders = (0..specs.len()).filter(|place| specs.kind(*place) == EntryKind::Folder);
            folders.map(|place| specs.path_of(specs.name(place))).collect()
        };
        specs.flat_map(folders).collect()
    }

    pub(crate) fn bmad_findings(&self) -> Vec<Finding> {
        let mut found = self.moved_folders();
        let outputs = self.bmad_outputs();
        if outputs.is_empty() {
            return found;
        }
        // Both exist in output folders alone.
        found.extend(self.changed_memlogs(outputs.iter().map(Folder::path)));
        found.extend(self.spec_folders(&outputs).iter().flat_map(|folder| self.wrong_stories(folder)));
        found
    }

    /// The output folder, and the former ones that a configuration layer overrides.
    fn bmad_outputs(&self) -> Vec<Folder> {
        let (settings, _) = self.bmad_settings();
        let before = settings.of_key("output_folder").filter_map(|own| self.folder_at(own.folder.clone()));
        let mut found: Vec<Folder> = self.bmad_output().into_iter().chain(before).collect();
        found.sort_by(|one, other| one.path().cmp(other.path()));
        found.dedup_by(|one, other| one.path() == other.path());
        found
    }

    fn moved_folders(&self) -> Vec<Finding> {
        let (settings, _) = self.bmad_settings();
        let has_files = |own: &ArtifactFolder| {
            let folder =
                if own.key == "output_folder" { format!("{}/specs", own.folder) } else { own.folder.clone() };
            self.folder_at(folder).is_some_and(|folder| folder.len() > 0)
        };
        let moved = |own: &ArtifactFolder| {
            let before = settings.of_key(own.key).next()?;
            let path = ProjectPath::new(CONFIGURATION_LAYERS.get(own.place)?).ok()?;
            let is_split = before != own && has_files(before) && has_files(own);
            is_split.then(|| folder_moved_finding(&path, own.span, own.key, [&before.folder, &own.folder]))
        };
        settings.folders.iter().filter_map(moved).collect()
    }

    /// Entries that reuse the id of a finished one: history has its plan, and git its former entry.
    pub(crate) fn reused_ids(&self, tickets: &Tickets) -> Result<Vec<TicketProblem>, Error> {
        let mut gone = HashSet::new();
        for tree in tickets.trees() {
            gone.extend(self.history().ask(|history| history.known_below(tree.top()))?);
        }
        // A ticket whose plan would have this path again is the same one.
        gone.retain(|path| tickets.of_record(path).is_none() && self.read_file(path).is_err());
        let mut found = Vec::new();
        if gone.is_empty() {
            return Ok(found);
        }
        let mut by_id: HashMap<(ProjectPath, TicketId), (&TicketTree, &Ticket)> = HashMap::new();
        for tree in tickets.trees() {
            let place = |own: &Ticket| Some((tree.folder(own).clone(), own.id.clone()?));
            by_id.extend(tree.tickets().iter().filter_map(|own| Some((place(own)?, (tree, own)))));
        }
        let mut asked = 0;
        for known in self.history().ask(History::artifacts)? {
            if known.goes_on || !gone.contains(&known.path) || asked > MOST_ASKED {
                continue;
            }
            let last = self.last_known(&known.key)?.and_then(|last| last.artifact().state_value().ok());
            let Some(last) = last.filter(|last| matches!(last["status"].as_str(), Some("done" | "dropped")))
            else {
                continue;
            };
            let ticket = last["ticket"].as_str().map_or_else(|| last["ticket"].to_string(), str::to_owned);
            let Some(place) = known.path.parent().zip(TicketId::read(&ticket)) else { continue };
            let Some((tree, own)) = by_id.get(&place) else { continue };
            if are_unlike(last["title"].as_str().unwrap_or_default(), &own.title) {
                let before = self.title_at_plan(&known.path, &place.1, &mut asked);
                let before = before.filter(|before| are_unlike(before, &own.title));
                found.extend(before.and_then(|before| tree.reused(own, &before, &known.path)));
            }
        }
        Ok(found)
    }

    /// From the last commit of the plan.
    fn title_at_plan(&self, path: &ProjectPath, id: &TicketId, asked: &mut usize) -> Option<String> {
        let list = path.parent()?.join(BREAKDOWN_NAME).ok()?;
        let last = ["log", "-1", "--format=%H", "--no-renames", "--diff-filter=AM", "--", path.as_str()];
        let commit = printed(self.root(), &last)?;
        let commit = Some(commit.trim()).filter(|commit| is_object_name(commit))?;
        let text = printed(self.root(), &["show", &format!("{commit}:./{list}")]).unwrap_or_default();
        *asked += QUESTION + text.len();
        titles_of_entries(text.as_bytes(), &list).remove(id)
    }

    /// True if the ticket or story demands a person's review before `state`.
    pub(crate) fn is_checkpoint(&self, path: &ProjectPath, state: &str) -> bool {
        let of_ticket = || {
            let tickets = self.tickets();
            tickets.of_record(path).map(|(tree, place)| tree.tickets()[place].checkpoints())
        };
        let of_story = || {
            let folder = path.parent().filter(|folder| folder.file_name() == "stories")?.parent()?;
            let bytes = self.read_file(&folder.join(STORIES_NAME).ok()?).ok()?;
            Some(checkpoints(&bytes, path.file_stem()))
        };
        let [plan, done] = match state {
            "ready-for-dev" | "done" => of_story().or_else(of_ticket).unwrap_or_default(),
            _ => return false,
        };
        if state == "done" { done } else { plan }
    }

    fn wrong_stories(&self, folder: &str) -> Vec<Finding> {
        let Ok(path) = ProjectPath::new(format!("{folder}/{STORIES_NAME}")) else { return Vec::new() };
        let Ok(bytes) = self.read_file(&path) else { return Vec::new() };
        let files = Folder::open(self.root().path(), format!("{folder}/stories")).ok();
        let names = files.iter().flat_map(|files| (0..files.len()).map(|place| files.name(place)));
        let names: Vec<&str> = names.filter(|name| name.ends_with(".md")).collect();
        faults(&bytes, &names).into_iter().map(|fault| stories_finding(&path, fault)).collect()
    }

    fn changed_memlogs<'o>(&self, outputs: impl Iterator<Item = &'o str>) -> Vec<Finding> {
        let outputs = outputs.map(|output| if output.is_empty() { "." } else { output });
        let changed = ["diff", "--name-only", "--relative", "-z", "HEAD", "--"];
        let changed: Vec<&str> = changed.into_iter().chain(outputs).collect();
        let changed = printed(self.root(), &changed).unwrap_or_default();
        let of = |name: &str| {
            let path = ProjectPath::new(name).ok()?;
            let before = printed(self.root(), &["show", &format!("HEAD:./{name}")])?;
            let before = Memlog::read(before.as_bytes()).ok()?;
            let now = self.read_file(&path).unwrap_or_default();
            let now = Memlog::read(&now).ok();
            let first = match &now {
                Some(now) => now.first_changed(&before)?,
                None => before.entries().next()?,
            };
            Some(memlog_finding(&path, first))
        };
        changed.split('\0').filter(|name| name.ends_with(".memlog.md")).filter_map(of).collect()
    }
}
