//! A project of any number of artifacts, for tests whose workers are processes of their own.
#![expect(clippy::disallowed_methods, reason = "an edge: files are written here")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use stepmark_store::workspace::Workspace;
use stepmark_sync::{
    configuration::{SyncConfiguration, Target, TrackerSettings},
    ledger::{Ledger as _, SqliteLedger},
    plan::{Plan, PlanInputs},
    ticket::{Commit, Snapshot},
    tracker::GitHubTracker,
};

use crate::project::{credential, settings};

/// The id of the project.
pub(crate) const PROJECT: &str = "flat";

/// A project of artifacts that are all alike.
pub(crate) struct FlatProject {
    folder: PathBuf,
    pub(crate) settings: TrackerSettings,
    /// What is checked out, where that matters.
    pub(crate) commit: Option<Commit>,
}

impl FlatProject {
    /// Makes one in `folder`, whose tickets are at `url`. No pace, and no wait that a test could not wait
    /// for.
    pub(crate) fn make(folder: &Path, url: &str, artifacts: usize, look_up_wait_seconds: u32) -> Self {
        let configuration = format!(
            "project_id: {PROJECT}\ntrackers:\n  github:\n    base_url: {url}\n    repository: o/r\n    look_up_wait_seconds: \
             {look_up_wait_seconds}\n    pace: {{credential: {{write_interval_ms: 0, limits: []}}}}\n    breaker: {{wait_seconds: 1, \
             longest_wait_seconds: 1, person_wait_seconds: 1, probe_seconds: 5}}\n    retry: {{wait_ms: 20, longest_wait_seconds: \
             1}}\n"
        );
        fs::create_dir_all(folder.join(".stepmark")).unwrap();
        fs::create_dir_all(folder.join("docs")).unwrap();
        fs::write(folder.join(".stepmark/config.yaml"), configuration).unwrap();
        for number in 0..artifacts {
            write(folder, number, "draft");
        }
        Self::open(folder)
    }

    /// The one in `folder`.
    pub(crate) fn open(folder: &Path) -> Self {
        let workspace = Workspace::open(folder).unwrap();
        let settings = SyncConfiguration::of(workspace.configuration()).unwrap().trackers[0].clone();
        Self { folder: folder.to_owned(), settings, commit: None }
    }

    /// Changes the status of an artifact, as an editor does.
    pub(crate) fn set_status(&self, number: usize, status: &str) {
        write(&self.folder, number, status);
    }

    /// Writes an artifact that says something else.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(format!("docs/{name}.md")), text).unwrap();
    }

    /// Gives the file of an artifact another name; its id stays.
    pub(crate) fn rename(&self, number: usize, name: &str) {
        if let Some(path) = self.file(number) {
            fs::rename(path, self.folder.join(format!("docs/{name}-{number}.md"))).unwrap();
        }
    }

    pub(crate) fn remove(&self, number: usize) {
        self.file(number).into_iter().for_each(|path| fs::remove_file(path).unwrap());
    }

    /// Where an artifact stands, whatever it is called.
    fn file(&self, number: usize) -> Option<PathBuf> {
        let names = ["a", "b", "c"].map(|name| self.folder.join(format!("docs/{name}-{number}.md")));
        names.into_iter().find(|path| path.exists())
    }

    pub(crate) fn ledger(&self) -> SqliteLedger {
        SqliteLedger::open(&self.folder.join("sync.db")).unwrap()
    }

    pub(crate) fn lose_ledger(&self) {
        for end in ["", "-wal", "-shm"] {
            let path = self.folder.join(format!("sync.db{end}"));
            if path.exists() {
                fs::remove_file(path).unwrap();
            }
        }
    }

    pub(crate) fn tracker(&self) -> GitHubTracker {
        let Target::Github { base_url, .. } = &self.settings.target else { panic!("it is on GitHub") };
        GitHubTracker::new(settings(base_url.as_str()), &credential()).unwrap()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let workspace = Workspace::open(&self.folder).unwrap();
        let snapshot = Snapshot::of(PROJECT, &workspace.checks().summaries().unwrap());
        match self.commit.clone() {
            Some(commit) => snapshot.at(move || Some(commit)),
            None => snapshot,
        }
    }

    pub(crate) fn plan(&self, ledger: &mut SqliteLedger) -> Plan {
        let (snapshot, settings) = (&self.snapshot(), &self.settings);
        Plan::make(&PlanInputs { snapshot, settings, ledger: &*ledger.read().unwrap(), survey: None })
            .unwrap()
    }

    /// Returns whether nothing is left to do and nothing is in doubt.
    pub(crate) fn is_settled(&self, ledger: &mut SqliteLedger) -> bool {
        self.plan(ledger).actions.is_empty()
            && ledger.read().unwrap().intents(&self.settings.name).unwrap().is_empty()
    }
}

/// In one step, so that nobody reads half of it.
fn write(folder: &Path, number: usize, status: &str) {
    let text = format!("---\nid: A-{number}\nstatus: {status}\n---\n\n# Artifact {number}\n");
    let staged = folder.join(format!(".{number}.tmp"));
    fs::write(&staged, text).unwrap();
    fs::rename(staged, folder.join(format!("docs/a-{number}.md"))).unwrap();
}
