//! The context of all sync commands: tracker, artifacts, ledger, and a runtime for requests.

use std::{
    collections::BTreeSet,
    future::Future,
    path::Path,
    pin::pin,
    sync::{Arc, OnceLock, atomic::AtomicUsize},
};

use stepmark_model::artifact::ProjectPath;
use stepmark_store::disk::StateFolder;
use stepmark_store::history::History;
use stepmark_store::workspace::{Clock, Workspace};
use stepmark_sync::{
    Error, ErrorKind,
    configuration::{Prune, SyncConfiguration, TrackerSettings},
    credential::{AllowedDestinations, CredentialBindings},
    ledger::{LEDGER_FILE, Ledger, SqliteLedger},
    plan::{Plan, PlanInputs, Survey},
    retry::{Chance, Jitter},
    ticket::{Commit, Observed, Snapshot, Ticket},
    tracker::Tracker,
    worker::{CredentialAccess, Notice, StopSignal, WallClock, Worker, open_tracker},
};

use super::allow;
use crate::{
    environment::{self, Environment},
    exit::{Exit, Failure},
    output::{self, Output},
    project::Project,
    watch::Signals,
};

pub(crate) struct SyncContext<'s> {
    pub(super) project: &'s Project,
    pub(crate) settings: TrackerSettings,
    pub(super) project_id: String,
    pub(super) clock: Clock,
    pub(super) stop: StopSignal,
    pub(super) done: AtomicUsize,
}

impl<'s> SyncContext<'s> {
    pub(super) fn open(
        project: &'s Project,
        environment: &Environment,
        tracker: Option<&str>,
    ) -> Result<Self, Failure> {
        let configuration = SyncConfiguration::of(project.workspace.configuration())?;
        let settings = choose(configuration.trackers, tracker)?;
        Ok(Self::of(project, environment, settings))
    }

    /// At least one, unless the project has stores of memory.
    pub(crate) fn open_all(
        project: &'s Project,
        environment: &Environment,
        tracker: Option<&str>,
        allows_none: bool,
    ) -> Result<Vec<Self>, Failure> {
        let mut trackers = SyncConfiguration::of(project.workspace.configuration())?.trackers;
        // Whoever delivers memory alone has no tracker.
        let has_stores = !project.workspace.configuration().memory.stores.is_empty();
        if tracker.is_some() || trackers.is_empty() && !(has_stores && allows_none) {
            trackers = vec![choose(trackers, tracker)?];
        }
        Ok(trackers.into_iter().map(|settings| Self::of(project, environment, settings)).collect())
    }

    fn of(project: &'s Project, environment: &Environment, settings: TrackerSettings) -> Self {
        let project_id =
            project.workspace.configuration().project_id.as_deref().unwrap_or_default().to_owned();
        let done = AtomicUsize::new(0);
        Self {
            done,
            project,
            settings,
            project_id,
            clock: environment.clock.clone(),
            stop: StopSignal::default(),
        }
    }

    pub(super) fn ledger(&self) -> Result<SqliteLedger, Failure> {
        open_ledger(&self.project.workspace, LEDGER_FILE)
    }

    pub(crate) fn ledger_to_read(&self) -> Result<Box<dyn Ledger>, Failure> {
        ledger_to_read(&self.project.workspace, LEDGER_FILE)
    }

    pub(crate) fn snapshot(&self) -> Result<Snapshot, Failure> {
        Ok(snapshot(&self.project.workspace, &self.project_id, &self.settings)?)
    }

    /// Asks before a credential goes to a new destination; without a terminal it is refused.
    pub(super) fn tracker(&self, asking: Option<&Output>) -> Result<Box<dyn Tracker>, Failure> {
        let mut access = CredentialAccess {
            bindings: CredentialBindings::of(self.project.workspace.configuration())?,
            allowed: AllowedDestinations::default(),
        };
        if self.settings.target.destination().is_some() {
            access.allowed = allow::read()?;
        }
        let open = |access: &CredentialAccess| {
            open_tracker(&self.settings, self.project.root(), access, self.clock.clone())
        };
        match (open(&access), asking, self.settings.target.destination()) {
            (
                Err(Error { kind: ErrorKind::NotAllowed { credential }, .. }),
                Some(output),
                Some(destination),
            ) if allow::ask(&credential, &destination, output)? => {
                allow::allow(destination.clone())?;
                access.allowed.allow(destination);
                Ok(open(&access)?)
            }
            (opened, ..) => Ok(opened?),
        }
    }

    pub(super) fn plan(&self, ledger: &mut dyn Ledger) -> Result<Plan, Failure> {
        self.plan_with(ledger, None)
    }

    /// If the tracker has these tickets.
    pub(super) fn plan_with(
        &self,
        ledger: &mut dyn Ledger,
        survey: Option<(&dyn Tracker, &[Observed])>,
    ) -> Result<Plan, Failure> {
        self.plan_over(&self.snapshot()?, ledger, survey)
    }

    pub(crate) fn plan_over(
        &self,
        snapshot: &Snapshot,
        ledger: &mut dyn Ledger,
        survey: Option<(&dyn Tracker, &[Observed])>,
    ) -> Result<Plan, Failure> {
        let compare = |desired: &Ticket, before: Option<&Ticket>, observed: &Observed| {
            let compared = survey.map(|(tracker, _)| tracker.compare(desired, before, observed));
            // No room for the managed section: the request reports it.
            compared.and_then(Result::ok).unwrap_or_else(|| desired.differences(before))
        };
        let survey = survey.map(|(_, tickets)| Survey { tickets, compare: &compare });
        let ledger = ledger.read()?;
        let settings = &self.settings;
        Ok(Plan::make(&PlanInputs { snapshot, settings, ledger: &*ledger, survey })?)
    }

    pub(super) fn work<R>(
        &self,
        ledger: &mut SqliteLedger,
        tracker: &dyn Tracker,
        work: impl AsyncFnOnce(&mut Worker<'_>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let (clock, holder) = (WallClock(self.clock.clone()), holder());
        let mut draw = || Jitter(environment::random());
        let who = (holder.as_str(), &mut draw as &mut Chance<'_>);
        let worker = Worker::new(ledger, (tracker, &self.settings), &clock, &self.project_id, who);
        let name = self.settings.name.clone();
        let tell = Arc::new(move |notice: &Notice| match notice {
            Notice::Waits(until) => output::warning(format_args!(
                "waits until {until:.0}: the limits of `{name}` want that, or a creation that its list may not show yet"
            )),
            Notice::Held(held) => output::warning(format_args!("{held}")),
            Notice::Obstacle(obstacle) => {
                output::warning(format_args!("`{name}` will not take all of it: {obstacle}"))
            }
        });
        let worker = worker.heeding(self.stop.clone()).counting(&self.done);
        let mut worker = worker.telling(tell);
        run(interruptible(&self.stop, work(&mut worker)))?
    }

    pub(super) fn survey(
        &self,
        ledger: &mut SqliteLedger,
        tracker: &dyn Tracker,
    ) -> Result<Vec<Observed>, Failure> {
        let found = self.work(ledger, tracker, async |worker| Ok(worker.survey().await?))?;
        found.map_err(|held| {
            Failure::new(Exit::Remote, format!("`{}` cannot be looked through: {held}", self.settings.name))
        })
    }
}

pub(super) fn snapshot(
    workspace: &Workspace,
    project: &str,
    settings: &TrackerSettings,
) -> Result<Snapshot, stepmark_store::Error> {
    let mut summaries = workspace.checks().summaries()?;
    summaries.keep();
    let elsewhere = match settings.prune {
        Prune::Close => workspace.repository().kept_by_default_branch()?,
        Prune::Keep => Some(BTreeSet::new()),
    };
    let (own, branches) = (workspace.clone(), settings.branches.clone());
    let find = move || {
        let committed = own.repository().committed_files()?;
        let follows = |name: &str| {
            branches.zip(ProjectPath::new(name).ok()).is_some_and(|(branches, name)| branches.matches(&name))
        };
        let aside = own.repository().aside().filter(|(branch, _)| !follows(branch));
        let (clone, contained) = (own.clone(), OnceLock::new());
        let contains = move |commit: &str| {
            let contained = contained.get_or_init(|| clone.repository().contained_commits());
            contained.contains(commit) || clone.repository().was_given_up(commit)
        };
        let (id, folder, remotes) =
            (committed.commit.clone(), committed.folder.clone(), committed.remotes.clone());
        let holds = move |path: &ProjectPath| {
            own.artifact(path).is_ok_and(|own| committed.holds(path, own.artifact().bytes()))
        };
        Some(Commit { id, folder, remotes, holds: Arc::new(holds), contains: Arc::new(contains), aside })
    };
    let snapshot = Snapshot::of(project, &summaries).at(find);
    let snapshot = match settings.prune {
        Prune::Close => {
            let own = workspace.clone();
            let known = snapshot.knowing(workspace.history().ask(History::known_keys)?);
            known.remembering(move |key| own.last_known(key).ok().flatten())
        }
        Prune::Keep => snapshot,
    };
    // With an unknown default branch nothing is taken for gone.
    Ok(match elsewhere {
        Some(elsewhere) => snapshot.keeping(elsewhere),
        None => snapshot.partial(),
    })
}

/// Names this process in leases; unique.
pub(crate) fn holder() -> String {
    format!("stepmark, process {} ({})", std::process::id(), environment::new_id())
}

fn run<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::new(Exit::Io, format!("cannot wait for a tracker: {error}")))?;
    Ok(runtime.block_on(work))
}

/// The first interrupt asks `work` to stop, so that it can report; the second kills it.
async fn interruptible<R>(
    stop: &StopSignal,
    work: impl Future<Output = Result<R, Failure>>,
) -> Result<R, Failure> {
    let Ok(mut signals) = Signals::listen() else { return work.await };
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = signals.next() => if stop.is_asked() {
                let failure = Failure::new(Exit::Remote, "interrupted: nobody knows how the request in flight ended");
                return Err(failure.with_help("the next `stepmark sync apply` looks that up before anything else"));
            } else {
                stop.ask();
            },
        }
    }
}

pub(crate) fn open_ledger(workspace: &Workspace, file: &str) -> Result<SqliteLedger, Failure> {
    let path = workspace.root().state().make(StateFolder::Sync)?.join(file);
    SqliteLedger::open(&path).map_err(|error| unusable(error, &path))
}

pub(crate) fn ledger_to_read(workspace: &Workspace, file: &str) -> Result<Box<dyn Ledger>, Failure> {
    let path = workspace.root().state().folder(StateFolder::Sync)?.join(file);
    Ok(Box::new(SqliteLedger::open_to_look(&path).map_err(|error| unusable(error, &path))?))
}

fn unusable(error: Error, path: &Path) -> Failure {
    let is_damaged = error.kind == ErrorKind::Corrupt;
    let failure = Failure::from(error);
    if is_damaged { failure.with_help(format!("the file is `{}`", path.display())) } else { failure }
}

fn choose(mut trackers: Vec<TrackerSettings>, name: Option<&str>) -> Result<TrackerSettings, Failure> {
    let names: Vec<String> = trackers.iter().map(|tracker| format!("`{}`", tracker.name)).collect();
    let names = names.join(", ");
    match name {
        Some(name) => trackers.into_iter().find(|tracker| tracker.name.as_str() == name).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("there is no tracker `{name}`; there are: {names}"))
        }),
        None if trackers.len() == 1 => Ok(trackers.remove(0)),
        None if trackers.is_empty() => {
            let failure = Failure::new(Exit::Usage, "the configuration names no tracker");
            Err(failure.with_help(
                "for example: `trackers: {file: {path: out/tickets.jsonl}}` in `.stepmark/config.yaml`",
            ))
        }
        None => Err(Failure::new(Exit::Usage, format!("there are several trackers: {names}"))
            .with_help("name one with `--tracker NAME`")),
    }
}
