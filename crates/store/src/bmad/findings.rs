//! Findings in files of BMAD that are no artifacts: memlogs, lists of stories.

use crate::disk::folder::{EntryKind, Folder};
use crate::git::process::printed;
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::ProjectPath,
    bmad::{
        memlog::Memlog,
        stories_list::{STORIES_NAME, checkpoints, faults, stories},
    },
    check::{
        Finding,
        rules::bmad::{memlog_finding, stories_finding},
    },
};

/// The first story of a list that is not done.
#[derive(Clone, Debug)]
pub struct NextStory {
    pub list: ProjectPath,
    pub id: String,
    pub title: String,
    /// Its spec; `None` where that is still to be written, or two files could be meant.
    pub spec: Option<ProjectPath>,
}

impl Workspace {
    /// The next story of each `stories.yaml`: its order is the order of execution.
    pub fn next_stories(&self) -> Vec<NextStory> {
        self.spec_folders().iter().filter_map(|folder| self.next_story(folder)).collect()
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

    fn spec_folders(&self) -> Vec<String> {
        let Some(folder) = self.bmad_output() else { return Vec::new() };
        let has_specs = (0..folder.len()).any(|place| folder.name(place) == "specs");
        let specs = has_specs.then(|| self.folder_at(folder.path_of("specs"))).flatten();
        let folders = |specs: &Folder| {
            let folders = (0..specs.len()).filter(|place| specs.kind(*place) == EntryKind::Folder);
            folders.map(|place| specs.path_of(specs.name(place))).collect()
        };
        specs.as_ref().map(folders).unwrap_or_default()
    }

    pub(crate) fn bmad_findings(&self) -> Vec<Finding> {
        let Some(folder) = self.bmad_output() else { return Vec::new() };
        // Both stand in the output folder alone.
        let mut found = self.changed_memlogs(folder.path());
        found.extend(self.spec_folders().iter().flat_map(|folder| self.wrong_stories(folder)));
        found
    }

    /// Returns whether a person has to look at the work at `path` before it enters `state`: a checkpoint of
    /// its ticket or its story says so.
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

    /// Memlogs of which an entry is not what it was at HEAD.
    fn changed_memlogs(&self, output: &str) -> Vec<Finding> {
        let output = if output.is_empty() { "." } else { output };
        let changed = ["diff", "--name-only", "--relative", "-z", "HEAD", "--", output];
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
