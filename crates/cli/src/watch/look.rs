//! Reads a project after changes: artifacts first, findings later.

use std::{cell::RefCell, io, path::PathBuf, sync::Arc, time::Duration};

use crate::{
    exit::{Exit, Failure},
    project::Project,
};
use stepmark_model::bmad::sprint::SPRINT_STATUS_NAME;
use stepmark_store::{
    disk::{CONFIGURATION_PATH, KnownStat, StateFolder},
    history::SEALED_FOLDER,
    watching::{ProjectWatch, WatchChoice, WatchEvent, WatchTrouble},
    workspace::Workspace,
};
use stepmark_sync::{
    ledger::LEDGER_FILE,
    run::{ChangeListener, ChangeSignal},
};
use stepmark_view::observation::{FindingRow, Observation};
use tokio::{
    sync::mpsc::unbounded_channel,
    task::spawn_blocking,
    time::{Instant, sleep, sleep_until, timeout_at},
};

/// Consecutive interruptions of a check by changes.
const INTERRUPTED: usize = 3;

/// Quiet time before a check: rendering goes first.
const REST: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(super) struct Look {
    findings: Option<Vec<FindingRow>>,
    interrupted: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    Whole,
    Interrupted,
    Failed,
}

impl Look {
    /// Reports artifacts at once if earlier findings are known; current findings follow, unless `changed`
    /// interrupts.
    pub(super) async fn at(
        &mut self,
        workspace: &Workspace,
        changed: &mut ChangeListener,
        seen: &impl Fn(Seen),
    ) -> Looked {
        let fresh = Arc::new(workspace.afresh());
        let mut begun = None;
        if let Some(known) = self.findings.clone() {
            let looked = Arc::clone(&fresh);
            match blocking(move || Observation::begin(&looked, known)).await {
                Ok(observation) => {
                    seen(Seen::Observation(Box::new(observation.clone())));
                    begun = Some(observation);
                }
                Err(failure) => return failed(failure, seen),
            }
        }
        let whole = async {
            let Some(begun) = begun else { return blocking(move || Observation::whole(&fresh)).await };
            sleep(REST).await;
            blocking(move || begun.checked(&fresh)).await
        };
        tokio::select! {
            // Polled first: after a change nothing new starts. Running work ends by itself, unused.
            biased;
            () = changed.changed(), if self.interrupted < INTERRUPTED => {
                self.interrupted += 1;
                Looked::Interrupted
            }
            whole = whole => match whole {
                Ok(whole) => {
                    (self.interrupted, self.findings) = (0, Some(whole.findings.clone()));
                    seen(Seen::Observation(Box::new(whole)));
                    Looked::Whole
                }
                Err(failure) => failed(failure, seen),
            }
        }
    }
}

fn failed(failure: Failure, seen: &impl Fn(Seen)) -> Looked {
    seen(Seen::Failure(failure));
    Looked::Failed
}

async fn blocking(
    look: impl FnOnce() -> Result<Observation, stepmark_store::Error> + Send + 'static,
) -> Result<Observation, Failure> {
    match spawn_blocking(look).await {
        Ok(looked) => Ok(looked?),
        Err(error) => Err(Failure::new(Exit::Io, format!("cannot look at the project: {error}"))),
    }
}

/// For files that are not watched (sync database, configuration), since reading changes them.
const STATS_AGAIN: Duration = Duration::from_secs(1);

/// For changes in quick succession: a commit writes an artifact, then the journal.
const SETTLED: Duration = Duration::from_millis(15);

/// For folders without notification, such as remote ones.
const REGULARLY: Duration = Duration::from_secs(30);

/// Before reopening a project that failed.
const FAILED_AGAIN: Duration = Duration::from_secs(2);

pub(crate) enum Seen {
    Observation(Box<Observation>),
    Failure(Failure),
    Trouble(WatchTrouble),
}

pub(crate) struct Following<'f> {
    pub(crate) open: &'f dyn Fn() -> Result<Project, Failure>,
    /// Requests another look, with the configuration read again.
    pub(crate) again: ChangeSignal,
}

impl Following<'_> {
    /// Runs as long as it is polled. `seen` gets everything in order; repeated failures only once.
    pub(crate) async fn run(&self, seen: impl Fn(Seen)) {
        let (last_failure, last_trouble) = (RefCell::new(None), RefCell::new(None));
        let seen = |one: Seen| {
            let is_new = match &one {
                Seen::Observation(_) => {
                    last_failure.replace(None);
                    true
                }
                Seen::Failure(failure) => {
                    let told = Some(failure.in_one_line());
                    last_failure.replace(told.clone()) != told
                }
                Seen::Trouble(trouble) => {
                    let told = Some(trouble.clone());
                    last_trouble.replace(told.clone()) != told
                }
            };
            if is_new {
                seen(one);
            }
        };
        loop {
            match (self.open)() {
                Ok(project) => self.follow(Arc::new(project.workspace), &seen).await,
                Err(failure) => {
                    seen(Seen::Failure(failure));
                    sleep(STATS_AGAIN).await;
                }
            }
        }
    }

    /// Until its configuration changes, or it cannot be read.
    async fn follow(&self, workspace: Arc<Workspace>, seen: &impl Fn(Seen)) {
        let changes = ChangeSignal::default();
        let (mut changed, mut again) = (changes.listen(), self.again.listen());
        let beside = journal_folders(&workspace).to_vec();
        let choice = WatchChoice { beside, own: Vec::new(), names: vec![SPRINT_STATUS_NAME] };
        let (trouble, mut troubles) = unbounded_channel();
        let _watch = ProjectWatch::start(&workspace, choice, move |event| match event {
            WatchEvent::Changed => changes.tell(),
            // The receiver may be gone.
            WatchEvent::Trouble(told) => drop(trouble.send(told)),
        });
        let (configuration, ledger) = (configuration_files(&workspace), ledger_files(&workspace));
        let configured = known(&configuration);
        let mut look = Look::default();
        loop {
            let again_after = match look.at(&workspace, &mut changed, seen).await {
                Looked::Whole => REGULARLY,
                Looked::Failed => FAILED_AGAIN,
                Looked::Interrupted => continue,
            };
            // After reading, since that touches the files of the sync database.
            let sent = known(&ledger);
            let until = Instant::now() + again_after;
            loop {
                tokio::select! {
                    () = changed.changed() => {
                        let settled = Instant::now() + SETTLED;
                        while timeout_at(settled, changed.changed()).await.is_ok() {}
                        break;
                    }
                    () = again.changed() => return,
                    Some(trouble) = troubles.recv() => seen(Seen::Trouble(trouble)),
                    () = sleep_until(until) => if again_after == FAILED_AGAIN { return } else { break },
                    () = sleep(STATS_AGAIN) => {
                        if may_have_changed(&configured) {
                            return;
                        }
                        if may_have_changed(&sent) {
                            break;
                        }
                    }
                }
            }
        }
    }
}

type KnownFile<'f> = (&'f PathBuf, KnownStat);

fn known(files: &[PathBuf]) -> Vec<KnownFile<'_>> {
    files.iter().map(|file| (file, KnownStat::of_content(file))).collect()
}

fn may_have_changed(files: &[KnownFile<'_>]) -> bool {
    files.iter().any(|(file, known)| !known.is_still(file))
}

/// They change with every event, even if no artifact does.
pub(crate) fn journal_folders(workspace: &Workspace) -> [PathBuf; 2] {
    let root = workspace.root();
    [root.state().path(StateFolder::Journal), root.path().join(SEALED_FOLDER)]
}

fn configuration_files(workspace: &Workspace) -> Vec<PathBuf> {
    let mut files = workspace.configuration().sources().map(|(path, _)| path.to_owned()).collect::<Vec<_>>();
    files.push(workspace.root().path().join(CONFIGURATION_PATH));
    files
}

fn ledger_files(workspace: &Workspace) -> Vec<PathBuf> {
    let ledger = workspace.root().state().path(StateFolder::Sync).join(LEDGER_FILE);
    let mut log = ledger.clone().into_os_string();
    log.push("-wal");
    vec![ledger, log.into()]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Terminate,
    Reload,
}

#[cfg(unix)]
pub(crate) struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Signals no longer end the process.
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.interrupt.recv() => Signal::Terminate,
            _ = self.hang_up.recv() => Signal::Reload,
        }
    }
}

/// On systems without signals, Ctrl-C ends the process.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Terminate,
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use stepmark_sync::run::ChangeSignal;

    use super::*;

    #[tokio::test]
    async fn changes_come_first_but_what_is_wrong_is_told_at_last() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let (changes, seen) = (ChangeSignal::default(), RefCell::new(0));
        let (mut changed, mut look) = (changes.listen(), Look::default());
        let hear = |one: Seen| match one {
            Seen::Observation(_) => *seen.borrow_mut() += 1,
            Seen::Failure(failure) => panic!("{}", failure.message),
            Seen::Trouble(_) => panic!("nothing is watched"),
        };
        assert_eq!(look.at(&workspace, &mut changed, &hear).await, Looked::Whole);
        assert_eq!(seen.take(), 1, "what is wrong is not known before");
        for wanted in [Looked::Interrupted, Looked::Interrupted, Looked::Interrupted, Looked::Whole] {
            changes.tell();
            assert_eq!(look.at(&workspace, &mut changed, &hear).await, wanted);
            assert_eq!(seen.take(), if wanted == Looked::Whole { 2 } else { 1 });
        }
        assert_eq!(
            look.at(&workspace, &mut changed, &hear).await,
            Looked::Interrupted,
            "the last one is still there"
        );
    }
}
