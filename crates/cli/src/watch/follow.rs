//! Looking at a project again whenever it changes.

use std::{path::PathBuf, pin::pin, sync::Arc, time::Duration};

use stepmark_core::{
    artifact::{ProjectPath, SPRINT_STATUS_NAME},
    workspace::{CONFIGURATION_PATH, Workspace},
};
use stepmark_sync::{ledger::LEDGER_PATH, run::ChangeSignal};
use stepmark_view::observation::{FindingRow, Observation, ObservationError};
use tokio::{task::spawn_blocking, time::sleep};

use super::{ProjectWatch, WatchChoice, WatchTrouble, stamps::Stamps};
use crate::{
    exit::{Exit, Failure},
    project::Project,
};

/// The folders of the journal: what happens shows there even where no artifact changes.
const JOURNAL_FOLDERS: [&str; 2] = [".stepmark/local/journal", ".stepmark/journal"];

/// How often files are looked at that are not watched, because reading them leaves traces: the ledger of sync, and the configuration.
const STAMPS_AGAIN: Duration = Duration::from_secs(1);

/// What somebody who follows a project hears.
pub(crate) enum Seen {
    /// The project as it is now.
    Observation(Box<Observation>),
    /// It cannot be looked at, or its configuration cannot be used; what was seen before stands.
    Failure(Failure),
    /// Something is not watched.
    Trouble(WatchTrouble),
}

/// A project that is followed.
pub(crate) struct Following<'f> {
    /// Opens the project as it is now.
    pub(crate) open: &'f dyn Fn() -> Result<Project, Failure>,
    /// Wakes it for one more look, with the configuration read again.
    pub(crate) again: ChangeSignal,
}

/// Why a look at the project with one configuration ends.
enum Next {
    Configuration,
}

impl Following<'_> {
    /// Looks at the project, and again whenever it changes, for as long as it is polled. `seen` hears of everything in its order.
    pub(crate) async fn run(&self, seen: impl Fn(Seen)) {
        let mut told = None;
        loop {
            match (self.open)() {
                Ok(project) => {
                    told = None;
                    let Next::Configuration = self.with(Arc::new(project.workspace), &seen).await;
                }
                Err(failure) => {
                    // Once, however long it lasts.
                    if told.as_ref() != Some(&failure.message) {
                        told = Some(failure.message.clone());
                        seen(Seen::Failure(failure));
                    }
                    sleep(STAMPS_AGAIN).await;
                }
            }
        }
    }

    /// Follows the project until its configuration changes.
    async fn with(&self, workspace: Arc<Workspace>, seen: &impl Fn(Seen)) -> Next {
        let changes = ChangeSignal::default();
        let (mut changed, mut again) = (changes.listen(), self.again.listen());
        let beside = JOURNAL_FOLDERS.iter().filter_map(|folder| ProjectPath::new(folder).ok()).collect();
        let choice = WatchChoice { beside, own: Vec::new(), names: vec![SPRINT_STATUS_NAME] };
        let tell = Box::new(|trouble: &WatchTrouble| seen(Seen::Trouble(trouble.clone())));
        let mut watch = ProjectWatch::start(&workspace, choice, changes, tell);
        let mut watching = pin!(watch.keep_up());
        let (configuration, ledger) = (configuration_files(&workspace), ledger_files(&workspace));
        let configured = Stamps::of(&configuration);
        let mut findings: Option<Vec<FindingRow>> = None;
        loop {
            let fresh = Arc::new(workspace.afresh());
            let (looked, known) = (Arc::clone(&fresh), findings.clone());
            let mut begun = None;
            // What changed shows at once where it is known what was wrong before; what is wrong now follows.
            if let Some(known) = known {
                begun = blocking(move || Observation::begin(&looked, known))
                    .await
                    .map_err(|why| seen(Seen::Failure(why)))
                    .ok();
                if let Some(begun) = &begun {
                    seen(Seen::Observation(Box::new(begun.clone())));
                }
            }
            let whole = blocking(move || match begun {
                Some(begun) => begun.checked(&fresh),
                None => Observation::begin(&fresh, Vec::new()).and_then(|begun| begun.checked(&fresh)),
            });
            match whole.await {
                Ok(observation) => {
                    findings = Some(observation.findings.clone());
                    seen(Seen::Observation(Box::new(observation)));
                }
                Err(why) => seen(Seen::Failure(why)),
            }
            // After the look: reading the ledger touches its files, too.
            let sent = Stamps::of(&ledger);
            loop {
                tokio::select! {
                    () = changed.changed() => break,
                    () = again.changed() => return Next::Configuration,
                    () = &mut watching => {}
                    () = sleep(STAMPS_AGAIN) => {
                        if Stamps::of(&configuration) != configured {
                            return Next::Configuration;
                        }
                        if Stamps::of(&ledger) != sent {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Looks at a project beside everything else that this thread does.
async fn blocking(
    look: impl FnOnce() -> Result<Observation, ObservationError> + Send + 'static,
) -> Result<Observation, Failure> {
    match spawn_blocking(look).await {
        Ok(looked) => Ok(looked?),
        Err(error) => Err(Failure::new(Exit::Io, format!("cannot look at the project: {error}"))),
    }
}

/// The files that the configuration came from, and the one that may come.
fn configuration_files(workspace: &Workspace) -> Vec<PathBuf> {
    let mut files = workspace.configuration().files().to_vec();
    files.push(workspace.root().path().join(CONFIGURATION_PATH));
    files
}

fn ledger_files(workspace: &Workspace) -> Vec<PathBuf> {
    let ledger = workspace.root().path().join(LEDGER_PATH);
    let mut log = ledger.clone().into_os_string();
    log.push("-wal");
    vec![ledger, log.into()]
}
