//! A project for tests.

use std::{fs, path::Path};

use stepmark_store::workspace::{Clock, Workspace};
use tempfile::TempDir;

use crate::{observation::Observation, overview::Overview};

pub(crate) struct SampleProject {
    folder: TempDir,
}

impl SampleProject {
    pub(crate) fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        project.write(
            ".stepmark/config.yaml",
            "project_id: sample\nworkflows:\n- name: paper\n  artifacts: ['docs/*.md']\n  steps: [outline, draft, review]\n",
        );
        project
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let place = self.folder.path().join(path);
        fs::create_dir_all(place.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(place, text).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.folder.path().join(path)).unwrap();
    }

    pub(crate) fn workspace(&self) -> Workspace {
        let workspace = Workspace::open(self.folder.path()).unwrap();
        workspace.with_clock(Clock::Fixed("2026-11-22T10:00:00Z".parse().unwrap()))
    }

    /// The project as it is now, under a name that does not change.
    pub(crate) fn overview(&self) -> Overview {
        let observation = Observation::take(&self.workspace()).unwrap();
        Overview::of(&Observation { project: "sample".to_owned(), ..observation })
    }
}
