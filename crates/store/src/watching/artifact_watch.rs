//! The changes of a project's artifacts, as they come.

use std::{
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
    time::Duration,
};

use crate::disk::WalkError;
use crate::watching::{ProjectWatch, WatchChoice, WatchEvent};
use crate::workspace::{ArtifactChanges, Revision, Workspace};

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
