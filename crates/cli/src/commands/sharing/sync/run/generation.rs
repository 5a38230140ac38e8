//! The parts that a process runs with until its configuration is read again.

use std::time::Duration;

use stepmark_store::workspace::Workspace;
use stepmark_sync::{
    configuration::TrackerSettings,
    credential::{Credential, CredentialBindings, CredentialSource},
    ledger::SqliteLedger,
    retry::Jitter,
    run::{self, ChangeReporter, ChangeSignal, RunContext, RunEvent},
    tracker::Tracker,
    worker::{StopSignal, WallClock},
};
use tokio::time::sleep;

use super::super::{SyncContext, context};
use super::log;
use crate::{
    environment::{self, Environment},
    exit::Failure,
    project::Project,
};

/// A project that was opened, with everything that can fail at the beginning done.
pub(super) struct Generation {
    project: Project,
    project_id: String,
    runtimes: Vec<TrackerRuntime>,
    clock: WallClock,
    /// The files that credentials were read from, each with the digest of what it held.
    pub(super) credential_files: Vec<(CredentialSource, Option<String>)>,
}

struct TrackerRuntime {
    settings: TrackerSettings,
    tracker: Box<dyn Tracker>,
    ledger: SqliteLedger,
    /// The lease is kept through a connection of its own, while a pass uses the other.
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

/// Ends when one of `files` holds another credential than it did: a token was renewed.
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
