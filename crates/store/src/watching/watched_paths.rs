//! The meaning of an event of the file system.

use crate::watching::{ProjectWatch, WatchChoice, WatchEvent};
use crate::workspace::{ArtifactChanges, Revision, Workspace};
use crate::{configuration::Configuration, disk::WalkError};
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind};
use notify::{Event, EventKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::{thread, time::Duration};
use stepmark_model::artifact::ProjectPath;

/// The meaning of an event, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Meaning {
    /// Nothing: somebody read, or it is about a file that is no artifact.
    Nothing,
    /// An artifact, or a file that counts like one, may have changed.
    Artifact,
    /// Folders may have come or gone: they are listed anew.
    Folders,
    Lost,
}

#[derive(Clone, Debug)]
pub(super) struct WatchedPaths {
    root: PathBuf,
    configuration: Configuration,
    choice: WatchChoice,
}

impl WatchedPaths {
    pub(super) const fn new(root: PathBuf, configuration: Configuration, choice: WatchChoice) -> Self {
        Self { root, configuration, choice }
    }

    pub(super) fn meaning(&self, event: &Event) -> Meaning {
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

/// The time for which further changes are waited for after a change: tools write a file in several steps.
const SETTLED: Duration = Duration::from_millis(15);

/// The interval at which everything is looked at though nothing told of a change: the system may watch
/// nothing, or lose events.
const REGULARLY: Duration = Duration::from_secs(30);

/// An endless iterator over what changes in the artifacts of a project. [`Iterator::next`] waits for the next
/// change.
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
                // One change that waits is enough.
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
    type Item = Result<ArtifactChanges, WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            // What the system did not tell of is found all the same.
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
