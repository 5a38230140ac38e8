//! Watching the folders of a project.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use stepmark_core::{artifact::ProjectPath, workspace::Workspace};
use stepmark_sync::run::{ChangeListener, ChangeSignal};
use tokio::time::sleep;
use tracing::warn;

use super::watched_paths::{Meaning, WatchedPaths};

/// Watches every folder in which there may be artifacts, each by itself: what is excluded costs nothing. What it misses is found by the next
/// regular pass.
pub(super) struct ProjectWatch<'w> {
    workspace: &'w Workspace,
    /// `None` where the system watches nothing.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<String>,
    /// Why a folder is not watched, once that was told.
    told: Option<String>,
    changes: ChangeSignal,
    folders: ChangeListener,
    losses: ChangeListener,
}

/// How long folders must have come to rest: a tool that makes one makes more.
const QUIET: Duration = Duration::from_millis(200);

/// How long after the system has lost events everything is looked at. Not at once: our own reading makes events too.
const AFTER_LOSS: Duration = Duration::from_secs(10);

/// How often folders are listed in a row, where each time there are new ones.
const LISTINGS: usize = 8;

impl<'w> ProjectWatch<'w> {
    /// Watches the project of `workspace`, but for the files `own`, and tells `changes`.
    pub(super) fn start(workspace: &'w Workspace, own: Vec<ProjectPath>, changes: ChangeSignal) -> Self {
        let (folders, losses) = (ChangeSignal::default(), ChangeSignal::default());
        let (heard_folders, heard_losses) = (folders.listen(), losses.listen());
        let root = workspace.root().path().to_owned();
        let paths = WatchedPaths::new(root, workspace.configuration().clone(), own);
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
                warn!(why = %error, "changes cannot be watched for; they are found by regular passes");
                None
            }
        };
        let (watched, folders, losses) = (BTreeSet::new(), heard_folders, heard_losses);
        let mut watch = Self { workspace, watcher, watched, told, changes, folders, losses };
        watch.list();
        watch
    }

    /// Watches folders that come, for as long as it is polled.
    pub(super) async fn keep_up(&mut self) {
        loop {
            tokio::select! {
                () = self.folders.changed() => sleep(QUIET).await,
                () = self.losses.changed() => sleep(AFTER_LOSS).await,
            }
            self.list();
            // Files may have come before their folder was watched.
            self.changes.tell();
        }
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
                        warn!(why, "a folder cannot be watched; changes in it are found by regular passes");
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
