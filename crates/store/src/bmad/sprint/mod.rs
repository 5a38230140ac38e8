//! `sprint-status.yaml` and `Status:` lines of BMAD stories: which files, and how they are read and written.
//! [`bmad::sprint`](stepmark_model::bmad::sprint) decides on the content.

#[cfg(feature = "write")]
mod following;
#[cfg(feature = "write")]
mod import;
#[cfg(feature = "write")]
mod projecting;

use crate::Error;
use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::workspace::Workspace;
use stepmark_frontmatter::ParseError;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::ProjectPath,
    bmad::settings::STORIES_KEY,
    bmad::sprint::{LedgerKey, SPRINT_STATUS_NAME, SprintStatus, Story, StoryState},
    check::{
        Finding,
        rules::status::{sprint_status_not_yaml_finding, sprint_status_unmatched_findings},
    },
};

#[cfg(feature = "write")]
pub use following::StorySurvey;
#[cfg(feature = "write")]
pub(crate) use following::{MovedStory, listing_of};
#[cfg(feature = "write")]
pub use import::{ImportDecision, StoryImport};
#[cfg(feature = "write")]
pub use projecting::LedgerProjection;

#[derive(Clone, Copy, Debug)]
pub struct StoryLedgers<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn ledgers(&self) -> StoryLedgers<'_> {
        StoryLedgers { workspace: self }
    }
}

fn story_state(artifact: &TrackedArtifact) -> StoryState {
    Story::read(artifact.artifact(), artifact.lifecycle().map(|choice| &choice.lifecycle))
}

#[derive(Debug, Default)]
pub(crate) struct Ledgers(Mutex<BTreeMap<ProjectPath, Ledger>>);

#[derive(Debug)]
enum Ledger {
    Absent,
    Read(SprintStatus),
    Broken { bytes: Vec<u8>, error: ParseError },
    Unreadable(Error),
}

/// A sprint status that is not YAML. It is never changed.
#[derive(Debug)]
pub struct BrokenSprintStatus {
    pub bytes: Vec<u8>,
    pub finding: Finding,
}

impl BrokenSprintStatus {
    fn of(path: &ProjectPath, bytes: Vec<u8>, error: &ParseError) -> Self {
        Self { bytes, finding: sprint_status_not_yaml_finding(path, error) }
    }
}

impl Ledger {
    fn on_disk(workspace: &Workspace, path: &ProjectPath) -> Self {
        match workspace.read_file(path) {
            Ok(bytes) => Self::of(bytes),
            Err(error) if error.is_missing() => Self::Absent,
            Err(error) => Self::Unreadable(error),
        }
    }

    fn of(bytes: Vec<u8>) -> Self {
        match SprintStatus::read(&bytes) {
            Ok(states) => Self::Read(states),
            Err(error) => Self::Broken { bytes, error },
        }
    }
}

impl Ledgers {
    /// The word for the story of that file; `read` is called at most once for `path`.
    pub(crate) fn status(
        &self,
        path: &ProjectPath,
        story: &str,
        read: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<String> {
        let mut ledgers = self.known();
        let ledger = match ledgers.entry(path.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unread) => unread.insert(read().map_or(Ledger::Absent, Ledger::of)),
        };
        match ledger {
            Ledger::Read(states) => states.status_of(story).map(str::to_owned),
            Ledger::Absent | Ledger::Broken { .. } | Ledger::Unreadable(_) => None,
        }
    }

    pub(crate) fn is_broken(&self, path: &ProjectPath) -> bool {
        matches!(self.known().get(path), Some(Ledger::Broken { .. }))
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<ProjectPath, Ledger>> {
        // Entries are inserted whole, so a poisoned lock is valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Files that are not YAML, and errors of unreadable ones; both in path order.
    pub(crate) fn into_unusable(self) -> (Vec<BrokenSprintStatus>, Vec<Error>) {
        let (mut broken, mut unreadable) = (Vec::new(), Vec::new());
        for (path, ledger) in self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match ledger {
                Ledger::Broken { bytes, error } => broken.push(BrokenSprintStatus::of(&path, bytes, &error)),
                Ledger::Unreadable(error) => unreadable.push(error),
                Ledger::Absent | Ledger::Read(_) => {}
            }
        }
        (broken, unreadable)
    }
}

/// BMAD's default folder for stories: a planned sprint has its sprint status there before its first story
/// exists (docs/formats.md, "Sprint status and stories").
const USUAL_FOLDER: &str = "_bmad-output/implementation-artifacts";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SprintLedger {
    pub path: ProjectPath,
    pub states: SprintStatus,
}

#[derive(Debug, Default)]
pub struct SprintLedgers {
    pub ledgers: Vec<SprintLedger>,
    pub broken: Vec<BrokenSprintStatus>,
    pub unreadable: Vec<Error>,
}

impl StoryLedgers<'_> {
    pub fn all<'p>(&self, paths: impl Iterator<Item = &'p ProjectPath>) -> SprintLedgers {
        // Most artifacts share their folder with others.
        let mut places: BTreeSet<ProjectPath> =
            Self::places(paths, |_| false).flat_map(SprintStatus::places).collect();
        let (settings, _) = self.workspace.bmad_settings();
        let named = settings.of_key(STORIES_KEY).map(|own| own.folder.as_str());
        let sprints = named.chain([USUAL_FOLDER]).filter_map(|folder| ProjectPath::new(folder).ok());
        places.extend(sprints.filter_map(|folder| folder.join(SPRINT_STATUS_NAME).ok()));
        let mut found = SprintLedgers::default();
        for path in places {
            match Ledger::on_disk(self.workspace, &path) {
                Ledger::Read(states) => found.ledgers.push(SprintLedger { path, states }),
                Ledger::Unreadable(error) => found.unreadable.push(error),
                Ledger::Broken { bytes, error } => {
                    found.broken.push(BrokenSprintStatus::of(&path, bytes, &error))
                }
                Ledger::Absent => {}
            }
        }
        found
    }

    /// Those of `paths` with numbered names, and one for each folder, since a story may have any name.
    pub(crate) fn stories<'p>(paths: impl Iterator<Item = &'p ProjectPath>) -> Vec<ProjectPath> {
        Self::places(paths, |path| LedgerKey::of(path).is_some()).cloned().collect()
    }

    /// Those of `paths` that are `wanted`, and the first of each run in one folder.
    fn places<'p>(
        paths: impl Iterator<Item = &'p ProjectPath>,
        wanted: impl Fn(&ProjectPath) -> bool,
    ) -> impl Iterator<Item = &'p ProjectPath> {
        let folder = |path: &'p ProjectPath| path.as_str().rsplit_once('/').map(|(folder, _)| folder);
        let mut last = None;
        paths.filter(move |path| wanted(path) | (last.replace(folder(path)) != Some(folder(path))))
    }

    /// True if the configuration makes `key` a story's, or a story's file has this name beside the sprint
    /// status or in the folder for stories.
    fn has_story(&self, ledger: &ProjectPath, key: &str) -> bool {
        let pattern = self.workspace.configuration().stories.key_pattern.as_ref();
        let file = ProjectPath::new(format!("{key}.md"));
        let mut places = SprintStatus::story_places(ledger, key).into_iter();
        let is_story = |path| {
            let own = self.workspace.artifact(&path);
            own.is_ok_and(|own| !matches!(story_state(&own), StoryState::Other))
        };
        pattern.zip(file.ok()).is_some_and(|(glob, file)| glob.matches(&file)) || places.any(is_story)
    }

    pub(crate) fn unmatched(&self, stories: &[ProjectPath]) -> Vec<BrokenSprintStatus> {
        let mut found = Vec::new();
        let SprintLedgers { ledgers, broken, .. } = self.all(stories.iter());
        found.extend(broken);
        for SprintLedger { path, states } in ledgers {
            let is_of_ledger = |story: &ProjectPath| {
                let places = SprintStatus::places(story);
                let nearest = places.iter().find(|place| self.workspace.read_file(place).is_ok());
                let Ok(artifact) = self.workspace.artifact(story) else { return false };
                let state = story_state(&artifact);
                nearest == Some(&path) && matches!(state, StoryState::Told(story) if story.belongs_in_ledger)
            };
            let stories = stories.iter().filter(|story| states.namesake(story.file_stem()).is_some());
            let stories: Vec<&ProjectPath> = stories.filter(|story| is_of_ledger(story)).collect();
            let bytes = self.workspace.read_file(&path).unwrap_or_default();
            let findings =
                sprint_status_unmatched_findings(&path, &bytes, &stories, |key| self.has_story(&path, key));
            found.extend(
                findings.into_iter().map(|finding| BrokenSprintStatus { bytes: bytes.clone(), finding }),
            );
        }
        found
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes a project")]
mod tests {
    use super::*;
    use crate::workspace::Workspace;
    use std::{cell::Cell, fs};

    #[test]
    fn a_ledger_is_read_once() {
        let (ledgers, reads) = (Ledgers::default(), Cell::new(0));
        let path = ProjectPath::new("sprint-status.yaml").unwrap();
        let ask = |story: &str| {
            ledgers.status(&path, story, || {
                reads.set(reads.get() + 1);
                Some(b"development_status: {1-1-a: done}\n".to_vec())
            })
        };
        assert_eq!((ask("1-1-a").as_deref(), ask("1-2-b"), reads.get()), (Some("done"), None, 1));
        let other = ProjectPath::new("docs/sprint-status.yaml").unwrap();
        assert_eq!(ledgers.status(&other, "1-1-a", || Some(b"a: b: c".to_vec())), None);
        let (broken, unreadable) = ledgers.into_unusable();
        let broken: Vec<_> = broken.into_iter().map(|broken| broken.finding.path).collect();
        assert_eq!((broken, unreadable.len()), (vec![other], 0));
    }

    #[test]
    fn ledgers_are_found_beside_stories_above_them_and_where_a_sprint_begins() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let place = folder.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        };
        let ledger = "development_status:\n  1-1-a: done\n";
        write("a/stories/1-1-a.md", "---\nstatus: done\n---\n# Story 1.1\n");
        write("a/sprint-status.yaml", ledger);
        write("b/1-1-a.md", "---\nstatus: done\n---\n# Story 1.1\n");
        write("b/sprint-status.yaml", "development_status: [unclosed\n");
        write("c/notes.md", "---\nstatus: done\n---\n# Notes\n");
        write("c/sprint-status.yaml", ledger);
        write("_bmad-output/implementation-artifacts/sprint-status.yaml", ledger);
        fs::create_dir(folder.path().join("sprint-status.yaml")).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let found = workspace
            .ledgers()
            .all(workspace.artifacts().unwrap().artifacts.iter().map(|artifact| artifact.path()));
        let paths: Vec<_> = found.ledgers.iter().map(|ledger| ledger.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "_bmad-output/implementation-artifacts/sprint-status.yaml",
                "a/sprint-status.yaml",
                "c/sprint-status.yaml"
            ],
            "stories may have any name"
        );
        assert_eq!(found.ledgers[1].states.status("1-1-a"), Some("done"));
        assert_eq!(found.unreadable.len(), 1, "{:?}", found.unreadable);
    }
}
