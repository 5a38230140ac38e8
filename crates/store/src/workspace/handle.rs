//! The handle of a project.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, LazyLock, Mutex, OnceLock, atomic::AtomicUsize},
};

use crate::Error;
use crate::configuration::{Configuration, ConfigurationSources, ProjectPack, packs::PackFiles};
use crate::disk::{
    Root, WalkProblem, WalkProblemKind, file_reading::open_file, file_reading::read_within_limit,
};
use crate::workspace::snapshot::{Snapshot, UnusableRecord};
use crate::workspace::{Clock, Workflows, artifact_files};
use jiff::Timestamp;
use stepmark_model::tracked_artifact::{Membership, TrackedArtifact};

#[cfg(feature = "write")]
use crate::commit::CommitOptions;
#[cfg(feature = "history")]
use crate::history::History;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    bmad::steps::DEFAULT_ROOTS,
    coordination::Record,
    journal::Attribution,
    workflow::Binding,
};

/// A project: root, configuration, workflows and artifacts. Reading writes nothing. See the crate's page for
/// an example. Clones share what was found and opened.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: Root,
    configuration: Configuration,
    workflows: Arc<OnceLock<Workflows>>,
    attribution: Arc<LazyAttribution>,
    clock: Clock,
    looked_at: Arc<AtomicUsize>,
    #[cfg(feature = "write")]
    commit_options: CommitOptions,
    /// An idle one, kept for the next query.
    #[cfg(feature = "history")]
    pub(super) history: Arc<Mutex<Option<History>>>,
    pub(crate) tasks: Arc<Mutex<Snapshot<Record>>>,
    pub(crate) unusable: Arc<Mutex<BTreeMap<ProjectPath, UnusableRecord>>>,
}

type LazyAttribution = LazyLock<Attribution, Box<dyn FnOnce() -> Attribution + Send>>;

#[derive(Debug, Default)]
pub struct Artifacts {
    /// In path order.
    pub artifacts: Vec<TrackedArtifact>,
    /// Files read that have no workflow state.
    pub stateless: Vec<ProjectPath>,
    pub files: usize,
    pub problems: Vec<WalkProblem>,
    pub unreadable: Vec<Error>,
}

impl Artifacts {
    /// True if only links without a target in the project were left out.
    pub fn is_whole(&self) -> bool {
        let is_link = |problem: &WalkProblem| matches!(problem.kind, WalkProblemKind::BrokenLink { .. });
        self.unreadable.is_empty() && self.problems.iter().all(is_link)
    }
}

impl Workspace {
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(Root::open(folder)?, &ConfigurationSources::default())
    }

    /// `root` may come from [`Root::discover`].
    pub fn open_with(root: Root, sources: &ConfigurationSources) -> Result<Self, Error> {
        let configuration = Configuration::load_with(&root, sources)?;
        Ok(Self::with_configuration(root, configuration))
    }

    pub(crate) fn with_configuration(root: Root, configuration: Configuration) -> Self {
        Self {
            root,
            configuration,
            workflows: Arc::default(),
            attribution: Arc::new(LazyLock::new(Box::new(Attribution::default))),
            clock: Clock::System,
            looked_at: Arc::default(),
            #[cfg(feature = "write")]
            commit_options: CommitOptions::default(),
            #[cfg(feature = "history")]
            history: Arc::default(),
            tasks: Arc::new(Mutex::new(Snapshot::new("coordination.stat"))),
            unusable: Arc::default(),
        }
    }

    /// As if opened now: workflows are found again.
    #[must_use]
    pub fn afresh(&self) -> Self {
        let fresh = Self::with_configuration(self.root().clone(), self.configuration().clone())
            .with_attribution(self.attribution().clone())
            .with_clock(self.clock());
        #[cfg(feature = "write")]
        let fresh = fresh.with_commit_options(*self.commit_options());
        fresh
    }

    #[must_use]
    pub fn with_attribution(self, attribution: Attribution) -> Self {
        self.with_attribution_of(move || attribution)
    }

    /// Acts as the actor that `find` returns; it is called once, on first use, perhaps under locks.
    #[must_use]
    pub fn with_attribution_of(mut self, find: impl FnOnce() -> Attribution + Send + 'static) -> Self {
        self.attribution = Arc::new(LazyLock::new(Box::new(find)));
        self
    }

    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    pub fn attribution(&self) -> &Attribution {
        &self.attribution
    }

    #[cfg(feature = "write")]
    #[must_use]
    pub const fn with_commit_options(mut self, options: CommitOptions) -> Self {
        self.commit_options = options;
        self
    }

    #[cfg(feature = "write")]
    pub const fn commit_options(&self) -> &CommitOptions {
        &self.commit_options
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// In the user's time zone.
    #[cfg(feature = "write")]
    pub(crate) fn local_time(&self) -> jiff::Zoned {
        self.now().to_zoned(jiff::tz::TimeZone::system())
    }

    /// Files passed so far when reading all artifacts, here and in clones: for progress.
    pub fn files_looked_at(&self) -> &AtomicUsize {
        &self.looked_at
    }

    pub const fn root(&self) -> &Root {
        &self.root
    }

    pub const fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    pub(crate) const fn configuration_mut(&mut self) -> &mut Configuration {
        &mut self.configuration
    }

    pub fn with_pack(&self, name: &str, bytes: Vec<u8>) -> Result<Self, Error> {
        let file = format!("{name}.yaml");
        let mut files: PackFiles = self.configuration().packs().iter().map(ProjectPack::source).collect();
        match files.iter_mut().find(|(own, _)| *own == file) {
            Some((_, own)) => *own = bytes,
            None => files.push((file, bytes)),
        }
        let configuration = self.configuration().with_pack_files(self.root().path(), &files)?;
        Ok(Self::with_configuration(self.root().clone(), configuration))
    }

    pub fn workflows(&self) -> &Workflows {
        self.workflows.get_or_init(|| Workflows::find(&self.root, &self.configuration))
    }

    /// Configured as an artifact or not.
    pub fn artifact(&self, path: &ProjectPath) -> Result<TrackedArtifact, Error> {
        let artifact = match self.read_file(path) {
            // The plan of a ticket without a status.
            Err(error) if error.is_missing() => self.unwritten_plan(path).ok_or(error)?,
            bytes => Artifact::read(path.clone(), bytes?),
        };
        self.track(artifact)
    }

    /// The installed skill's file on how to continue `artifact`.
    pub fn guide(&self, artifact: &TrackedArtifact) -> Option<ProjectPath> {
        let (choice, state) = artifact.lifecycle().zip(artifact.lifecycle_state())?;
        let file = choice.guide(state, artifact.artifact())?;
        let mut places =
            DEFAULT_ROOTS.iter().filter_map(|root| ProjectPath::new(format!("{root}/{file}")).ok());
        let is_there =
            |place: &ProjectPath| self.root.resolve(place).is_ok_and(|place| open_file(&place).is_ok());
        places.find(is_there)
    }

    pub(crate) fn read_file(&self, path: &ProjectPath) -> Result<Vec<u8>, Error> {
        let place = self.root.resolve(path)?;
        let mut bytes = Vec::new();
        let read = open_file(&place).and_then(|file| read_within_limit(file, &mut bytes));
        read.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::missing(path.clone()),
            _ => Error::unreadable(path, source),
        })?;
        Ok(bytes)
    }

    pub(crate) fn track(&self, artifact: Artifact) -> Result<TrackedArtifact, Error> {
        if let Some(membership) = self.autodev_membership(&artifact) {
            return Ok(TrackedArtifact::new(
                artifact,
                membership,
                Arc::clone(self.configuration.lifecycles()),
            ));
        }
        let membership = match self.workflows().bind(&artifact) {
            Binding::Bound { workflow, track, evidence } => {
                match self.workflows().definition(workflow, track)? {
                    Some(workflow) => Membership::Member { workflow, evidence },
                    None => Membership::None,
                }
            }
            Binding::Ambiguous { workflows, .. } => Membership::Ambiguous {
                candidates: workflows.iter().filter_map(|index| self.workflows().name(*index)).collect(),
            },
            Binding::NoSuchWorkflow { name } => Membership::Missing { name },
            Binding::Unbound => Membership::None,
        };
        let lifecycles = Arc::clone(self.configuration.lifecycles());
        Ok(TrackedArtifact::new(artifact, membership, lifecycles))
    }

    /// Those with workflow state, read in parallel.
    pub fn artifacts(&self) -> Result<Artifacts, Error> {
        artifact_files::read_all(self)
    }
}
