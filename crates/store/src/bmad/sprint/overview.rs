//! The ledgers of sprints of a project, as a whole.

use std::collections::BTreeSet;

use super::{StoryLedgers, ledgers::Ledger};
use crate::workspace::ArtifactError;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::ProjectPath,
    bmad::sprint::{LedgerKey, SPRINT_STATUS_NAME, SprintStatus},
};

/// Where BMAD keeps stories unless its configuration says otherwise: a sprint that is planned has a ledger there before its first story
/// has a file (docs/formats.md, "Sprint status and stories").
const USUAL_FOLDER: &str = "_bmad-output/implementation-artifacts";

/// A ledger of a sprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SprintLedger {
    /// Where it stands.
    pub path: ProjectPath,
    /// What it says.
    pub states: SprintStatus,
}

/// The ledgers of sprints of a project.
#[derive(Debug, Default)]
pub struct SprintLedgers {
    /// Those that can be read, in the order of their paths. One that is no YAML says nothing; a check has a finding for it.
    pub ledgers: Vec<SprintLedger>,
    /// Why others cannot be read.
    pub unreadable: Vec<ArtifactError>,
}

impl StoryLedgers<'_> {
    /// The ledgers of sprints that stand where the stories, epics and retrospectives among `artifacts` may have one, and where BMAD
    /// puts the first.
    pub fn all(&self, artifacts: &[TrackedArtifact]) -> SprintLedgers {
        let kept = artifacts.iter().map(TrackedArtifact::path).filter(|path| LedgerKey::of(path).is_some());
        // Most stories share their folder, and so their places, with others.
        let folders: BTreeSet<Option<ProjectPath>> = kept.map(ProjectPath::parent).collect();
        let in_folder = |folder: Option<ProjectPath>| match folder {
            Some(folder) => folder.join(SPRINT_STATUS_NAME).ok(),
            None => ProjectPath::new(SPRINT_STATUS_NAME).ok(),
        };
        let mut places: BTreeSet<ProjectPath> = folders
            .into_iter()
            .filter_map(in_folder)
            .flat_map(|beside| SprintStatus::places(&beside))
            .collect();
        places.extend(ProjectPath::new(USUAL_FOLDER).and_then(|folder| folder.join(SPRINT_STATUS_NAME)));
        let mut found = SprintLedgers::default();
        for path in places {
            match Ledger::on_disk(self.workspace, &path) {
                Ledger::Read(states) => found.ledgers.push(SprintLedger { path, states }),
                Ledger::Unreadable(error) => found.unreadable.push(error),
                Ledger::Absent | Ledger::Broken { .. } => {}
            }
        }
        found
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes a project")]
mod tests {
    use std::fs;

    use crate::workspace::Workspace;

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
        let found = workspace.ledgers().all(&workspace.artifacts().unwrap().artifacts);
        let paths: Vec<_> = found.ledgers.iter().map(|ledger| ledger.path.as_str()).collect();
        assert_eq!(
            paths,
            ["_bmad-output/implementation-artifacts/sprint-status.yaml", "a/sprint-status.yaml"]
        );
        assert_eq!(found.ledgers[1].states.status("1-1-a"), Some("done"));
        assert_eq!(found.unreadable.len(), 1, "{:?}", found.unreadable);
    }
}
