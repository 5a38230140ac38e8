//! Watching a project for changes.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender},
    },
    thread,
    time::Duration,
};

use crate::{
    Error,
    configuration::Configuration,
    workspace::{ArtifactChanges, Revision, Workspace},
};
use notify::{
    ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode, CreateKind, ModifyKind},
};
use stepmark_model::artifact::ProjectPath;

/// Watches until dropped: every folder with possible artifacts, each by itself, so that excluded folders cost
/// nothing. Systems lose events, and network file systems have none: also look from time to time.
#[derive(Debug)]
pub struct ProjectWatch {
    stop: Sender<Told>,
}

#[derive(Clone, Debug, Default)]
pub struct WatchChoice {
    pub own: Vec<ProjectPath>,
    /// Absolute; every file in them counts.
    pub beside: Vec<PathBuf>,
    /// File names that count like artifacts anywhere.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Folders,
    Losses,
    Stop,
}

type Hear = Arc<dyn Fn(WatchEvent) + Send + Sync>;

/// Folders must be quiet this long: a tool that creates one creates more.
const QUIET: Duration = Duration::from_millis(200);

/// Checks for a stop in one quiet time.
const PARTS: u32 = 10;

/// Quiet times before a full look after lost events. Delayed, since our own reading causes events.
const RESTS_AFTER_LOSS: u32 = 50;

/// The interval for checking missing folders.
const MISSING_AGAIN: Duration = Duration::from_millis(500);

/// Listings in a row, as long as each finds new folders.
const LISTINGS: usize = 8;

impl ProjectWatch {
    /// Calls `hear` for each change and error, on its own threads; the first time before it returns.
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
        // The thread may have ended.
        self.stop.send(Told::Stop).ok();
    }
}

struct WatchedFolders {
    workspace: Workspace,
    /// `None` if the system cannot watch.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<String>,
    beside: Vec<PathBuf>,
    hear: Hear,
    told: Option<String>,
}

impl WatchedFolders {
    fn new(workspace: Workspace, choice: WatchChoice, hear: Hear, tell: Sender<Told>) -> Self {
        let root = workspace.root().path().to_owned();
        let beside = choice.beside.clone();
        let paths = WatchedPaths::new(root, workspace.configuration().clone(), choice);
        let artifacts = Arc::clone(&hear);
        // Called on the watcher's thread for each event.
        let of_event = move |event: notify::Result<notify::Event>| {
            let told = match event.map(|event| paths.meaning(&event)) {
                Ok(Meaning::Nothing) => return,
                Ok(Meaning::Artifact) => return artifacts(WatchEvent::Changed),
                Ok(Meaning::Folders) => Told::Folders,
                Ok(Meaning::Lost) | Err(_) => Told::Losses,
            };
            // The receiver may be gone.
            tell.send(told).ok();
        };
        let (mut told, watcher) = (None, notify::recommended_watcher(of_event));
        let watcher = watcher.map_err(|error| {
            told = Some(error.to_string());
            hear(WatchEvent::Trouble(WatchTrouble::Nothing { why: error.to_string() }));
        });
        Self { workspace, watcher: watcher.ok(), watched: BTreeSet::new(), beside, hear, told }
    }

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
            // Files may precede the watch of their folder.
            (self.hear)(WatchEvent::Changed);
        }
    }

    /// Returns true if one is new. Existing watches stay.
    fn watch_beside(&mut self) -> bool {
        let Some(watcher) = &mut self.watcher else {
            self.beside.clear();
            return false;
        };
        let waiting = self.beside.len();
        self.beside.retain(|folder| watcher.watch(folder, RecursiveMode::NonRecursive).is_err());
        self.beside.len() < waiting
    }

    /// Watches each folder again: it may have replaced another.
    fn list(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        for _ in 0..LISTINGS {
            // The next pass fails and reports an unreadable root.
            let Ok(folders) = self.workspace.artifact_folders() else { return };
            let root = self.workspace.root().path();
            let place = |folder: &str| -> PathBuf {
                if folder.is_empty() { root.to_owned() } else { root.join(folder) }
            };
            let listed: BTreeSet<String> = folders.into_iter().collect();
            for gone in self.watched.difference(&listed) {
                // The system forgets it with its folder.
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

/// Ordered from the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    /// A read, or another file.
    Nothing,
    /// An artifact or a file like one may have changed.
    Artifact,
    /// Folders may have come or gone: list again.
    Folders,
    Lost,
}

#[derive(Clone, Debug)]
struct WatchedPaths {
    root: PathBuf,
    configuration: Configuration,
    choice: WatchChoice,
}

impl WatchedPaths {
    const fn new(root: PathBuf, configuration: Configuration, choice: WatchChoice) -> Self {
        Self { root, configuration, choice }
    }

    fn meaning(&self, event: &Event) -> Meaning {
        if event.need_rescan() {
            return Meaning::Lost;
        }
        // Our own reading opens files, too.
        let concerns_folders = match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Modify(ModifyKind::Data(_)) => false,
            EventKind::Access(_) => return Meaning::Nothing,
            EventKind::Create(CreateKind::File) => false,
            _ => true,
        };
        event.paths.iter().map(|path| self.of_path(path, concerns_folders)).max().unwrap_or(Meaning::Nothing)
    }

    fn of_path(&self, path: &Path, concerns_folders: bool) -> Meaning {
        if self.choice.beside.iter().any(|folder| path.starts_with(folder)) {
            return Meaning::Artifact;
        }
        let Ok(below) = path.strip_prefix(&self.root) else { return Meaning::Nothing };
        let Ok(path) = ProjectPath::new(below) else {
            // The root itself, or a name that no artifact has.
            return if below.as_os_str().is_empty() && concerns_folders {
                Meaning::Folders
            } else {
                Meaning::Nothing
            };
        };
        if self.choice.own.contains(&path) || self.configuration.skips_folder(&path) {
            Meaning::Nothing
        } else if self.configuration.is_artifact(&path) || self.choice.names.contains(&path.file_name()) {
            Meaning::Artifact
        } else if concerns_folders {
            Meaning::Folders
        } else {
            Meaning::Nothing
        }
    }
}

/// Waits this long for further changes: tools write a file in several steps.
const SETTLED: Duration = Duration::from_millis(15);

/// The interval of full looks without events: the system may not watch, or may lose events.
const REGULARLY: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct ArtifactWatch {
    workspace: Workspace,
    revision: Revision,
    again: SyncSender<()>,
    changed: Receiver<()>,
    _watch: ProjectWatch,
}

impl Workspace {
    /// Watches the artifacts of the project, from `since` on: what has changed since then is the first item.
    ///
    /// ```
    /// # use std::fs;
    /// use stepmark_store::workspace::{Revision, Workspace};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let project = folder.path();
    /// fs::write(project.join("prd.md"), "---\nstatus: draft\n---\n")?;
    /// let mut watch = Workspace::open(project)?.watch(Revision::default());
    /// let first = watch.next().expect("it is endless")?;
    /// assert_eq!(first.changes.len(), 1);
    /// fs::write(project.join("prd.md"), "---\nstatus: done\n---\n")?;
    /// let second = watch.next().expect("it is endless")?;
    /// assert_eq!(second.changes[0].path().as_str(), "prd.md");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn watch(&self, since: Revision) -> ArtifactWatch {
        let (again, changed) = mpsc::sync_channel(1);
        let tell = again.clone();
        let hear = move |event| {
            if event == WatchEvent::Changed {
                // One waiting change is enough.
                tell.try_send(()).ok();
            }
        };
        let watch = ProjectWatch::start(self, WatchChoice::default(), hear);
        // The first look needs no change.
        again.try_send(()).ok();
        ArtifactWatch { workspace: self.clone(), revision: since, again, changed, _watch: watch }
    }
}

impl Iterator for ArtifactWatch {
    type Item = Result<ArtifactChanges, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            // Changes without an event are found, too.
            let _told = self.changed.recv_timeout(REGULARLY);
            thread::sleep(SETTLED);
            self.changed.try_iter().for_each(drop);
            // Workflows may have changed, too.
            let found = match self.workspace.afresh().changes(&self.revision) {
                Ok(found) => found,
                Err(error) => {
                    self.again.try_send(()).ok();
                    return Some(Err(error));
                }
            };
            if !found.changes.is_empty() {
                self.revision.clone_from(&found.revision);
                return Some(Ok(found));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{DataChange, Flag, MetadataKind, RemoveKind, RenameMode};

    fn meaning(kind: EventKind, paths: &[&str]) -> Meaning {
        let choice = WatchChoice {
            own: vec![ProjectPath::new("docs/tickets.md").unwrap()],
            beside: vec![PathBuf::from("/p/.stepmark/journal")],
            names: vec!["sprint-status.yaml"],
        };
        let watched = WatchedPaths::new("/p".into(), Configuration::default(), choice);
        watched.meaning(&paths.iter().fold(Event::new(kind), |event, path| event.add_path(path.into())))
    }

    #[test]
    fn only_what_may_change_a_ticket_wakes() {
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let opened = EventKind::Access(AccessKind::Open(AccessMode::Any));
        let data = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let moved = EventKind::Modify(ModifyKind::Name(RenameMode::Both));
        for (kind, path, expected) in [
            (written, "/p/docs/a.md", Meaning::Artifact),
            (data, "/p/docs/a.md", Meaning::Artifact),
            (moved, "/p/docs/a.md", Meaning::Artifact),
            (EventKind::Create(CreateKind::File), "/p/docs/a.md", Meaning::Artifact),
            (EventKind::Remove(RemoveKind::File), "/p/docs/a.md", Meaning::Artifact),
            (EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)), "/p/docs/a.md", Meaning::Artifact),
            (opened, "/p/docs/a.md", Meaning::Nothing),
            (written, "/p/docs/tickets.md", Meaning::Nothing),
            (written, "/p/src/main.rs", Meaning::Nothing),
            (written, "/p/docs/sprint-status.yaml", Meaning::Artifact),
            (data, "/p/src/main.rs", Meaning::Nothing),
            (written, "/p/.git/index", Meaning::Nothing),
            (EventKind::Create(CreateKind::Folder), "/p/.git/objects/aa", Meaning::Nothing),
            (written, "/p/.stepmark/local/sync.db", Meaning::Nothing),
            (written, "/p/.stepmark/journal/main-x.jsonl", Meaning::Artifact),
            (opened, "/p/.stepmark/journal/main-x.jsonl", Meaning::Nothing),
            (EventKind::Remove(RemoveKind::File), "/p/.stepmark/local/sync.db-wal", Meaning::Nothing),
            (EventKind::Create(CreateKind::Folder), "/p/docs/new", Meaning::Folders),
            (moved, "/p/docs/new", Meaning::Folders),
            (EventKind::Remove(RemoveKind::Folder), "/p/docs", Meaning::Folders),
            (EventKind::Remove(RemoveKind::Folder), "/p", Meaning::Folders),
            (written, "/elsewhere/a.md", Meaning::Nothing),
        ] {
            assert_eq!(meaning(kind, &[path]), expected, "{kind:?} {path}");
        }
        assert_eq!(meaning(moved, &["/p/docs/a.md~", "/p/docs/a.md"]), Meaning::Folders);
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(
            WatchedPaths::new("/p".into(), Configuration::default(), WatchChoice::default()).meaning(&lost),
            Meaning::Lost
        );
    }
}
