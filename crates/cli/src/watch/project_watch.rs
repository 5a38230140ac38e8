//! Watching the folders of a project.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use stepmark_model::artifact::ProjectPath;
use stepmark_store::workspace::Workspace;
use stepmark_sync::run::{ChangeListener, ChangeSignal};
use tokio::time::sleep;

use super::watched_paths::{Meaning, WatchedPaths};

/// Watches every folder in which there may be artifacts, each by itself: what is excluded costs nothing. What it misses is found by the next
/// regular pass.
pub(crate) struct ProjectWatch<'w> {
    workspace: &'w Workspace,
    /// `None` where the system watches nothing.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<String>,
    /// Folders beside those of artifacts that are watched as soon as they are there.
    beside: Vec<PathBuf>,
    tell: Tell<'w>,
    /// Why a folder is not watched, once that was told.
    told: Option<String>,
    changes: ChangeSignal,
    folders: ChangeListener,
    losses: ChangeListener,
}

/// What a process watches besides the artifacts of its project, and what not.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchChoice {
    /// Files that the process writes itself.
    pub(crate) own: Vec<ProjectPath>,
    /// Folders, absolute, in which every file counts.
    pub(crate) beside: Vec<PathBuf>,
    /// Names of files that count like artifacts wherever they stand.
    pub(crate) names: Vec<&'static str>,
}

/// Something that is not watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchTrouble {
    /// The system watches nothing.
    Nothing {
        /// What it says.
        why: String,
    },
    /// It does not watch a folder.
    Folder {
        /// What it says.
        why: String,
    },
}

/// Hears of trouble.
pub(crate) type Tell<'w> = Box<dyn Fn(&WatchTrouble) + 'w>;

/// How long folders must have come to rest: a tool that makes one makes more.
const QUIET: Duration = Duration::from_millis(200);

/// How long after the system has lost events everything is looked at. Not at once: our own reading makes events too.
const AFTER_LOSS: Duration = Duration::from_secs(10);

/// How often it is looked whether a folder that was not there is there.
const MISSING_AGAIN: Duration = Duration::from_millis(500);

/// How often folders are listed in a row, where each time there are new ones.
const LISTINGS: usize = 8;

impl<'w> ProjectWatch<'w> {
    /// Watches the project of `workspace`, tells `changes`, and `tell` what it cannot watch.
    pub(crate) fn start(
        workspace: &'w Workspace,
        choice: WatchChoice,
        changes: ChangeSignal,
        tell: Tell<'w>,
    ) -> Self {
        let (folders, losses) = (ChangeSignal::default(), ChangeSignal::default());
        let (heard_folders, heard_losses) = (folders.listen(), losses.listen());
        let root = workspace.root().path().to_owned();
        let paths = WatchedPaths::new(root, workspace.configuration().clone(), choice.clone());
        let (artifacts, mut told) = (changes.clone(), None);
        // Called on a thread of the watcher's own, for each event, and keeps none of them.
        let hear = move |event: notify::Result<notify::Event>| match event.map(|event| paths.meaning(&event))
        {
            Ok(Meaning::Nothing) => {}
            Ok(Meaning::Artifact) => artifacts.tell(),
            Ok(Meaning::Folders) => folders.tell(),
            Ok(Meaning::Lost) | Err(_) => losses.tell(),
        };
        let watcher = match notify::recommended_watcher(hear) {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                told = Some(error.to_string());
                tell(&WatchTrouble::Nothing { why: error.to_string() });
                None
            }
        };
        let (watched, folders, losses) = (BTreeSet::new(), heard_folders, heard_losses);
        let beside = choice.beside;
        let mut watch = Self { workspace, watcher, watched, beside, tell, told, changes, folders, losses };
        watch.list();
        watch.watch_beside();
        watch
    }

    /// Watches folders that come, for as long as it is polled.
    pub(crate) async fn keep_up(&mut self) {
        loop {
            tokio::select! {
                () = self.folders.changed() => sleep(QUIET).await,
                () = self.losses.changed() => sleep(AFTER_LOSS).await,
                () = sleep(MISSING_AGAIN), if !self.beside.is_empty() => {
                    if self.watch_beside() {
                        self.changes.tell();
                    }
                    continue;
                }
            }
            self.list();
            // Files may have come before their folder was watched.
            self.changes.tell();
        }
    }

    /// Watches folders beside those of artifacts, and answers whether one is new. One that is there stays; it is not waited for again.
    fn watch_beside(&mut self) -> bool {
        let Some(watcher) = &mut self.watcher else {
            self.beside.clear();
            return false;
        };
        let waiting = self.beside.len();
        self.beside.retain(|folder| watcher.watch(folder, RecursiveMode::NonRecursive).is_err());
        self.beside.len() < waiting
    }

    /// Watches all folders that there are. A folder may have taken the place of another one, so each is named again.
    fn list(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        for _ in 0..LISTINGS {
            // A root that cannot be listed fails the next pass, which tells of it.
            let Ok(folders) = self.workspace.artifact_folders() else { return };
            let root = self.workspace.root().path();
            let place = |folder: &str| -> PathBuf {
                if folder.is_empty() { root.to_owned() } else { root.join(folder) }
            };
            let listed: BTreeSet<String> = folders.into_iter().collect();
            for gone in self.watched.difference(&listed) {
                // The system has forgotten it together with the folder, or forgets it now.
                let _forgotten = watcher.unwatch(&place(gone));
            }
            for folder in &listed {
                if let Err(error) = watcher.watch(&place(folder), RecursiveMode::NonRecursive)
                    && !matches!(error.kind, ErrorKind::PathNotFound)
                {
                    let why = error.to_string();
                    if self.told.as_ref() != Some(&why) {
                        (self.tell)(&WatchTrouble::Folder { why: why.clone() });
                        self.told = Some(why);
                    }
                    self.watched = listed;
                    return;
                }
            }
            let is_complete = listed.is_subset(&self.watched);
            self.watched = listed;
            if is_complete {
                return;
            }
        }
    }
}
