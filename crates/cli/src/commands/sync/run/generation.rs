//! What a process runs with until its configuration is read again.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use stepmark_store::workspace::Workspace;
use stepmark_sync::{
    configuration::TrackerSettings,
    ledger::SqliteLedger,
    retry::Draw,
    run::{self, ChangeSignal, Crew, Narrator, RunEvent, RunMetrics},
    tracker::Tracker,
    worker::{StopSignal, WallClock},
};

use super::super::{Scene, scene};
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
    posts: Vec<Post>,
    pub(super) ledger_path: PathBuf,
    clock: WallClock,
}

/// One tracker.
struct Post {
    settings: TrackerSettings,
    tracker: Box<dyn Tracker>,
    ledger: SqliteLedger,
    /// The lease is kept through a connection of its own, while a pass uses the other.
    duty_ledger: SqliteLedger,
}

impl Generation {
    pub(super) fn open(
        project: Project,
        environment: &Environment,
        tracker: Option<&str>,
    ) -> Result<Self, Failure> {
        let scenes = Scene::open_all(&project, environment, tracker)?;
        let mut posts = Vec::new();
        let (mut ledger_path, mut project_id) = (PathBuf::new(), String::new());
        for scene in scenes {
            let (tracker, ledger, duty_ledger) = (scene.tracker(None)?, scene.ledger()?, scene.ledger()?);
            ledger_path = scene.ledger_path()?;
            project_id = scene.project_id;
            posts.push(Post { settings: scene.settings, tracker, ledger, duty_ledger });
        }
        Ok(Self { project, project_id, posts, ledger_path, clock: WallClock(environment.clock.clone()) })
    }

    /// The project, for whoever watches it.
    pub(super) fn workspace(&self) -> &Workspace {
        &self.project.workspace
    }

    /// What the configuration says about each tracker.
    pub(super) fn settings(&self) -> impl Iterator<Item = &TrackerSettings> {
        self.posts.iter().map(|post| &post.settings)
    }

    /// How long requests in flight may take at the end.
    pub(super) fn drain(&self) -> Duration {
        self.settings().map(|settings| settings.run.drain()).max().unwrap_or_default()
    }

    /// The run for each tracker.
    pub(super) fn runs<'g>(
        &'g mut self,
        holder: &'g str,
        changes: &'g ChangeSignal,
        stop: &'g StopSignal,
        metrics: &'g Arc<Mutex<RunMetrics>>,
    ) -> Vec<impl Future<Output = ()> + 'g> {
        let (workspace, project, clock) = (&self.project.workspace, self.project_id.as_str(), &self.clock);
        let runs = self.posts.iter_mut().map(move |post| async move {
            let name = &post.settings.name;
            let mut draw = || Draw(environment::random());
            let settings = &post.settings;
            // With the workflows as they are now.
            let mut snapshot = || Ok(scene::snapshot(&workspace.afresh(), project, settings)?);
            let mut narrator = Narrator::default();
            let mut observe = |event: &RunEvent<'_>| {
                narrator.hear(event).iter().for_each(|notice| log::notice(name, notice));
                metrics.lock().unwrap_or_else(PoisonError::into_inner).count(name, event);
            };
            let crew = Crew {
                ledger: &mut post.ledger,
                tracker: &*post.tracker,
                settings: &post.settings,
                clock,
                project,
                holder,
                draw: &mut draw,
                snapshot: &mut snapshot,
                stop: stop.clone(),
            };
            run::run(crew, &mut post.duty_ledger, changes.listen(), &mut observe).await;
        });
        runs.collect()
    }
}
