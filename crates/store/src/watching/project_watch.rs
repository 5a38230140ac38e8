//! Watching the folders of a project.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::watching::watched_paths::{Meaning, WatchedPaths};
use crate::workspace::Workspace;
use stepmark_model::artifact::ProjectPath;

/// A project that is watched until this is dropped: every folder in which there may be artifacts, each by
/// itself, so that what is excluded costs nothing. Systems lose events, and network file systems have none:
/// whoever must not miss a change also looks from time to time.
#[derive(Debug)]
pub struct ProjectWatch {
    stop: Sender<Told>,
}

/// The choice of what is watched of a project besides its artifacts, and what not.
#[derive(Clone, Debug, Default)]
pub struct WatchChoice {
    pub own: Vec<ProjectPath>,
    /// Folders, absolute, in which every file counts.
    pub beside: Vec<PathBuf>,
    /// Names of files that count like artifacts wherever they stand.
    pub names: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    Changed,
    Trouble(WatchTrouble),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchTrouble {
    Nothing { why: String },
    Folder { why: String },
}

/// A message to the thread of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Folders,
    Losses,
    Stop,
}

type Hear = Arc<dyn Fn(WatchEvent) + Send + Sync>;

/// The time for which folders must have come to rest: a tool that makes one makes more.
const QUIET: Duration = Duration::from_millis(200);

/// The parts of a rest, after each of which it is looked whether to stop.
const PARTS: u32 = 10;

/// The number of such rests after which everything is looked at when the system has lost events. Not at once:
/// our own reading makes events too.
const RESTS_AFTER_LOSS: u32 = 50;

/// The interval at which it is looked whether a folder that was not there is there.
const MISSING_AGAIN: Duration = Duration::from_millis(500);

/// The number of times that folders are listed in a row, where each time there are new ones.
const LISTINGS: usize = 8;

impl ProjectWatch {
    /// Watches the project of `workspace`. `hear` is called for each change and trouble, on threads of the
    /// watch, and first before this returns.
    pub fn start(
        workspace: &Workspace,
        choice: WatchChoice,
        hear: impl Fn(WatchEvent) + Send + Sync + 'static,
    ) -> Self {
        let (stop, told) = mpsc::channel();
        let mut folders = WatchedFolders::new(workspace.clone(), choice, Arc::new(hear), stop.clone());
        folders.list();
        folders.watch_beside();
        let hear = Arc::clone(&folders.hear);
        if let Err(error) = thread::Builder::new().spawn(move || folders.keep_up(&told)) {
            hear(WatchEvent::Trouble(WatchTrouble::Nothing { why: error.to_string() }));
        }
        Self { stop }
    }
}

impl Drop for ProjectWatch {
    fn drop(&mut self) {
        // The thread may have ended already.
        self.stop.send(Told::Stop).ok();
    }
}

struct WatchedFolders {
    workspace: Workspace,
    /// `None` where the system watches nothing.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<String>,
    beside: Vec<PathBuf>,
    hear: Hear,
    /// The reason why a folder is not watched, once that was told.
    told: Option<String>,
}

impl WatchedFolders {
    fn new(workspace: Workspace, choice: WatchChoice, hear: Hear, tell: Sender<Told>) -> Self {
        let root = workspace.root().path().to_owned();
        let beside = choice.beside.clone();
        let paths = WatchedPaths::new(root, workspace.configuration().clone(), choice);
        let artifacts = Arc::clone(&hear);
        // Called on a thread of the watcher's own, for each event, and keeps none of them.
        let of_event = move |event: notify::Result<notify::Event>| {
            let told = match event.map(|event| paths.meaning(&event)) {
                Ok(Meaning::Nothing) => return,
                Ok(Meaning::Artifact) => return artifacts(WatchEvent::Changed),
                Ok(Meaning::Folders) => Told::Folders,
                Ok(Meaning::Lost) | Err(_) => Told::Losses,
            };
            // Nobody may watch any more.
            tell.send(told).ok();
        };
        let (mut told, watcher) = (None, notify::recommended_watcher(of_event));
        let watcher = watcher.map_err(|error| {
            told = Some(error.to_string());
            hear(WatchEvent::Trouble(WatchTrouble::Nothing { why: error.to_string() }));
        });
        Self { workspace, watcher: watcher.ok(), watched: BTreeSet::new(), beside, hear, told }
    }

    /// Watches folders that come, until it is told to stop.
    fn keep_up(&mut self, told: &Receiver<Told>) {
        loop {
            let next = if self.beside.is_empty() {
                told.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                told.recv_timeout(MISSING_AGAIN)
            };
            let rests = match next {
                Ok(Told::Folders) => 1,
                Ok(Told::Losses) => RESTS_AFTER_LOSS,
                Ok(Told::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    if self.watch_beside() {
                        (self.hear)(WatchEvent::Changed);
                    }
                    continue;
                }
            };
            for _ in 0..rests * PARTS {
                thread::sleep(QUIET / PARTS);
                if told.try_iter().any(|told| told == Told::Stop) {
                    return;
                }
            }
            self.list();
            // Files may have come before their folder was watched.
            (self.hear)(WatchEvent::Changed);
        }
    }

    /// Watches folders beside those of artifacts, and answers whether one is new. One that is there stays; it
    /// is not waited for again.
    fn watch_beside(&mut self) -> bool {
        let Some(watcher) = &mut self.watcher else {
            self.beside.clear();
            return false;
        };
        let waiting = self.beside.len();
        self.beside.retain(|folder| watcher.watch(folder, RecursiveMode::NonRecursive).is_err());
        self.beside.len() < waiting
    }

    /// Watches all folders that there are. A folder may have taken the place of another one, so each is named
    /// again.
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
                        (self.hear)(WatchEvent::Trouble(WatchTrouble::Folder { why: why.clone() }));
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
