//! Findings in files of BMAD that are no artifacts: memlogs, lists of stories.

use crate::disk::folder::{EntryKind, Folder};
use crate::git::process::printed;
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::ProjectPath,
    bmad::{
        memlog::Memlog,
        stories_list::{STORIES_NAME, checkpoints, faults},
    },
    check::{
        Finding,
        rules::bmad::{memlog_finding, stories_finding},
    },
};

impl Workspace {
    pub(crate) fn bmad_findings(&self) -> Vec<Finding> {
        let Some(folder) = self.bmad_output() else { return Vec::new() };
        // Both stand in the output folder alone.
        let mut found = self.changed_memlogs(folder.path());
        let has_specs = (0..folder.len()).any(|place| folder.name(place) == "specs");
        let specs = has_specs.then(|| self.folder_at(folder.path_of("specs"))).flatten();
        for specs in specs.iter() {
            let folders = (0..specs.len()).filter(|place| specs.kind(*place) == EntryKind::Folder);
            found.extend(folders.flat_map(|place| self.wrong_stories(&specs.path_of(specs.name(place)))));
        }
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
