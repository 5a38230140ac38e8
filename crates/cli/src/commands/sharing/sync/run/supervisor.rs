//! The life of the process: generations of configuration, signals, and what the system wants to know.

use std::{
    future::{Future, pending, poll_fn},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use stepmark_model::artifact::ProjectPath;
use stepmark_store::watching::{ProjectWatch, WatchChoice, WatchEvent};
use stepmark_sync::{
    configuration::{Target, TrackerSettings},
    run::ChangeSignal,
    worker::StopSignal,
};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::{info, warn};

use super::{
    asdd_monitor,
    generation::{Generation, credential_renewed},
    log, memory_delivery,
    service_manager::{self, Phase, Reaction, ServiceState},
};
use crate::{
    environment,
    exit::{Exit, Failure},
    watch::Signals,
};

pub(super) struct Supervisor<'s> {
    pub(super) open: &'s dyn Fn() -> Result<Generation, Failure>,
}

enum Next {
    End,
    Generation(Box<Generation>),
}

impl Supervisor<'_> {
    /// Runs until the process is told to end.
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
        let mut monitor = pin!(asdd_monitor::keep_looking(&workspace));
        let mut deliveries = pin!(memory_delivery::keep_delivering(&workspace));
        let mut credentials = std::mem::take(&mut generation.credential_files);
        let runs: Vec<_> = generation.runs(holder, &changes, &stop).into_iter().map(Box::pin).collect();
        let mut runs = pin!(async {
            // Without a tracker there is memory to deliver.
            if runs.is_empty() { stop.asked().await } else { join_all(runs).await }
        });
        let (mut phase, mut next, mut limit) = (Phase::Working, Next::End, None);
        service_manager::tell(ServiceState::Ready);
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
                        service_manager::tell(ServiceState::Stopping);
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

    /// Reads the configuration again; `None`, and a line in the log, where it cannot be used.
    fn read_again(&self) -> Option<Generation> {
        service_manager::tell(ServiceState::Reloading);
        match (self.open)() {
            Ok(generation) => {
                info!("the configuration was read again");
                Some(generation)
            }
            Err(failure) => {
                log::failure(&failure, "the configuration cannot be used; the old one stays");
                service_manager::tell(ServiceState::Ready);
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

/// Tells the system from time to time that the process lives, where it wants to know.
async fn tell_alive() {
    let Some(interval) = service_manager::alive_interval() else { return pending().await };
    loop {
        service_manager::tell(ServiceState::Alive);
        sleep(interval.max(Duration::from_millis(10))).await;
    }
}

/// Ends when all have ended.
async fn join_all<F: Future<Output = ()>>(mut futures: Vec<Pin<Box<F>>>) {
    poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
