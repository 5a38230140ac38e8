//! The life of the process: generations of configuration, signals, and the service manager.

use std::{
    future::{Future, pending, poll_fn},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use tokio::time::{Instant, sleep, sleep_until};
use tracing::{info, warn};

use super::{
    super::{SyncContext, context},
    log::{self, Phase, Reaction, ServiceState},
    memory_delivery,
};
use crate::{
    environment::{self, Environment},
    exit::{Exit, Failure},
    project::Project,
    watch::Signals,
};
use stepmark_model::artifact::ProjectPath;
use stepmark_store::{
    watching::{ProjectWatch, WatchChoice, WatchEvent},
    workspace::Workspace,
};
use stepmark_sync::{
    configuration::{Target, TrackerSettings},
    credential::{Credential, CredentialBindings, CredentialSource},
    ledger::SqliteLedger,
    retry::Jitter,
    run::{self, ChangeReporter, ChangeSignal, RunContext, RunEvent},
    tracker::Tracker,
    worker::{StopSignal, WallClock},
};

pub(super) struct Supervisor<'s> {
    pub(super) open: &'s dyn Fn() -> Result<Generation, Failure>,
}

enum Next {
    End,
    Generation(Box<Generation>),
}

impl Supervisor<'_> {
    /// Returns when the process is told to end.
    pub(super) fn run(&self) -> Result<(), Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| Failure::new(Exit::Io, format!("cannot wait for a tracker: {error}")))?;
        let lived = runtime.block_on(self.live());
        // A store that is being asked is not waited for: what it has taken is seen in the next round.
        runtime.shutdown_background();
        lived
    }

    async fn live(&self) -> Result<(), Failure> {
        let mut signals = Signals::listen()
            .map_err(|error| Failure::new(Exit::Io, format!("cannot hear signals of the system: {error}")))?;
        let mut generation = (self.open)()?;
        // No other process has the same, even where ids are fixed for a test.
        let holder = format!("stepmark sync run {} {}", std::process::id(), environment::new_id());
        loop {
            match self.work(generation, &holder, &mut signals).await {
                Next::Generation(next) => generation = *next,
                Next::End => return Ok(()),
            }
        }
    }

    async fn work(&self, mut generation: Generation, holder: &str, signals: &mut Signals) -> Next {
        let (changes, stop, drain) = (ChangeSignal::default(), StopSignal::default(), generation.drain());
        let workspace = generation.workspace().afresh();
        let own = generation.settings().filter_map(own_file).collect();
        let choice = WatchChoice { own, ..WatchChoice::default() };
        let told = changes.clone();
        let _watch = ProjectWatch::start(&workspace, choice, move |event| match event {
            WatchEvent::Changed => told.tell(),
            WatchEvent::Trouble(trouble) => log::not_watched(&trouble),
        });
        let mut alive = pin!(tell_alive());
        let mut monitor = pin!(memory_delivery::keep_looking(&workspace));
        let mut deliveries = pin!(memory_delivery::keep_delivering(&workspace));
        let mut credentials = std::mem::take(&mut generation.credential_files);
        let runs: Vec<_> = generation.runs(holder, &changes, &stop).into_iter().map(Box::pin).collect();
        let mut runs = pin!(async {
            // Without a tracker there is memory to deliver.
            if runs.is_empty() { stop.asked().await } else { join_all(runs).await }
        });
        let (mut phase, mut next, mut limit) = (Phase::Working, Next::End, None);
        log::tell(ServiceState::Ready);
        loop {
            let out_of_time = async {
                match limit {
                    Some(limit) => sleep_until(limit).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                () = &mut runs => return next,
                () = out_of_time => {
                    warn!("a request was still in flight when time was up; it is looked up before anything else is done");
                    return next;
                }
                signal = signals.next() => match phase.react(signal) {
                    Reaction::Nothing => {}
                    Reaction::EndNow => return Next::End,
                    Reaction::BeginToEnd => {
                        info!("told to end: the request in flight is finished");
                        log::tell(ServiceState::Stopping);
                        (phase, next) = (Phase::Ending, Next::End);
                    }
                    Reaction::ReadConfiguration => if let Some(read) = self.read_again() {
                        (phase, next) = (Phase::Changing, Next::Generation(Box::new(read)));
                    },
                },
                () = credential_renewed(&mut credentials), if phase == Phase::Working => {
                    if let Some(read) = self.read_again() {
                        (phase, next) = (Phase::Changing, Next::Generation(Box::new(read)));
                    }
                }
                () = &mut alive => {}
                never = &mut monitor => match never {},
                never = &mut deliveries => match never {},
            }
            if phase != Phase::Working && limit.is_none() {
                stop.ask();
                limit = Some(Instant::now() + drain);
            }
        }
    }

    /// `None`, and a line in the log, if it is invalid.
    fn read_again(&self) -> Option<Generation> {
        log::tell(ServiceState::Reloading);
        match (self.open)() {
            Ok(generation) => {
                info!("the configuration was read again");
                Some(generation)
            }
            Err(failure) => {
                log::failure(&failure, "the configuration cannot be used; the old one stays");
                log::tell(ServiceState::Ready);
                None
            }
        }
    }
}

fn own_file(settings: &TrackerSettings) -> Option<ProjectPath> {
    match &settings.target {
        Target::File { path } => Some(path.clone()),
        _ => None,
    }
}

/// Only if the system wants to know.
async fn tell_alive() {
    let Some(interval) = log::alive_interval() else { return pending().await };
    loop {
        log::tell(ServiceState::Alive);
        sleep(interval.max(Duration::from_millis(10))).await;
    }
}

async fn join_all<F: Future<Output = ()>>(mut futures: Vec<Pin<Box<F>>>) {
    poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// All that can fail at the begin is done.
pub(super) struct Generation {
    project: Project,
    project_id: String,
    runtimes: Vec<TrackerRuntime>,
    clock: WallClock,
    /// With the digest of the content.
    pub(super) credential_files: Vec<(CredentialSource, Option<String>)>,
}

struct TrackerRuntime {
    settings: TrackerSettings,
    tracker: Box<dyn Tracker>,
    ledger: SqliteLedger,
    /// A connection of its own: the lease is renewed while a pass uses the other.
    lead_ledger: SqliteLedger,
}

impl Generation {
    pub(super) fn open(
        project: Project,
        environment: &Environment,
        tracker: Option<&str>,
    ) -> Result<Self, Failure> {
        let contexts = SyncContext::open_all(&project, environment, tracker, true)?;
        let bindings = CredentialBindings::of(project.workspace.configuration())?;
        let (mut runtimes, mut credential_files) = (Vec::new(), Vec::new());
        let mut project_id = String::new();
        for context in contexts {
            let (tracker, ledger, lead_ledger) =
                (context.tracker(None)?, context.ledger()?, context.ledger()?);
            let sources = CredentialSource::of(&context.settings.target, &bindings).into_iter().flatten();
            let files = sources.filter(|source| matches!(source, CredentialSource::File { .. }));
            credential_files.extend(files.map(|file| (file, tracker.credential_digest().map(str::to_owned))));
            project_id = context.project_id;
            runtimes.push(TrackerRuntime { settings: context.settings, tracker, ledger, lead_ledger });
        }
        let clock = WallClock(environment.clock.clone());
        Ok(Self { project, project_id, runtimes, clock, credential_files })
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.project.workspace
    }

    pub(super) fn settings(&self) -> impl Iterator<Item = &TrackerSettings> {
        self.runtimes.iter().map(|runtime| &runtime.settings)
    }

    pub(super) fn drain(&self) -> Duration {
        self.settings().map(|settings| settings.run.drain()).max().unwrap_or_default()
    }

    pub(super) fn runs<'g>(
        &'g mut self,
        holder: &'g str,
        changes: &'g ChangeSignal,
        stop: &'g StopSignal,
    ) -> Vec<impl Future<Output = ()> + 'g> {
        let (workspace, project, clock) = (&self.project.workspace, self.project_id.as_str(), &self.clock);
        let runs = self.runtimes.iter_mut().map(move |runtime| async move {
            let name = &runtime.settings.name;
            let mut draw = || Jitter(environment::random());
            let settings = &runtime.settings;
            // With the workflows as they are now.
            let mut snapshot = || Ok(context::snapshot(&workspace.afresh(), project, settings)?);
            let mut reporter = ChangeReporter::default();
            let mut observe = |event: &RunEvent<'_>| {
                reporter.observe(event).iter().for_each(|notice| log::notice(name, notice));
            };
            let context = RunContext {
                ledger: &mut runtime.ledger,
                tracker: &*runtime.tracker,
                settings: &runtime.settings,
                clock,
                project,
                holder,
                draw: &mut draw,
                snapshot: &mut snapshot,
                stop: stop.clone(),
            };
            run::run(context, &mut runtime.lead_ledger, changes.listen(), &mut observe).await;
        });
        runs.collect()
    }
}

const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Ends when a file holds another credential.
pub(super) async fn credential_renewed(files: &mut [(CredentialSource, Option<String>)]) {
    loop {
        sleep(LOOK_EVERY).await;
        let mut is_renewed = false;
        for (file, digest) in &mut *files {
            // While it cannot be read, what it held is used.
            let Ok(now) = Credential::load(std::slice::from_ref(file)) else { continue };
            is_renewed |= digest.replace(now.digest()).as_ref() != digest.as_ref();
        }
        if is_renewed {
            return;
        }
    }
}
