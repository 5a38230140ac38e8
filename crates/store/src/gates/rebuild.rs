//! All gates of a project at once.
#![expect(clippy::disallowed_methods, reason = "an edge module: the folders of gates are listed here")]

use std::{
    collections::{BTreeSet, HashSet},
    fs, io,
    ops::AddAssign,
    sync::atomic::Ordering,
    time::Duration,
};

use crate::disk::in_parts::par_map;
use crate::disk::local_state::StateFolder;
use crate::disk::own_file;
use crate::disk::uninterrupted::uninterrupted;
use crate::gates::{GateError, GateFolder, Gates, folder, steps_of};
use crate::history::Selection;
use crate::leases::LIMIT;
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::ProjectPath,
    delegation::Chains,
    lease::Lease,
    projection::gates::{GATE_EXTENSION, GATES_FOLDER, Gate, GateStep, GateUse, StoredGate, superfluous},
    tracked_artifact::TrackedArtifact,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateRebuild {
    pub artifacts: usize,
    pub written: usize,
    pub removed: usize,
    pub unchanged: usize,
}

impl AddAssign for GateRebuild {
    fn add_assign(&mut self, other: Self) {
        self.artifacts += other.artifacts;
        self.written += other.written;
        self.removed += other.removed;
        self.unchanged += other.unchanged;
    }
}

impl Gates<'_> {
    /// Makes the gates of every artifact that somebody works on (see [`GateUse`]) those of the steps that it
    /// lists now, and removes all others: they are made when somebody asks. `artifacts` are all that the
    /// project has, as they were read a moment ago: what has changed since is read again.
    pub fn rebuild(&self, artifacts: &[TrackedArtifact]) -> Result<GateRebuild, GateError> {
        let mut total = GateRebuild::default();
        let mut kept = BTreeSet::new();
        let in_use = self.workspace.artifacts_in_use(artifacts)?;
        let rebuilt = par_map(artifacts, |artifact| {
            self.workspace.files_looked_at().fetch_add(1, Ordering::Relaxed);
            self.rebuild_of_one(artifact, in_use.contains(artifact.path()))
        });
        for (artifact, rebuilt) in artifacts.iter().zip(rebuilt) {
            if let Some(rebuilt) = rebuilt? {
                kept.insert(artifact.path());
                total += rebuilt;
            }
        }
        for path in self.gated_paths()? {
            if !kept.contains(&path) {
                total += self.clear(&path)?;
            }
        }
        Ok(total)
    }

    /// `None` where it lists no step, or nobody works on it.
    fn rebuild_of_one(
        &self,
        artifact: &TrackedArtifact,
        is_in_use: bool,
    ) -> Result<Option<GateRebuild>, GateError> {
        let is_finished = artifact.completion().is_finished();
        if is_finished && !is_in_use {
            return Ok(None);
        }
        let steps = steps_of(artifact);
        if steps.is_empty() {
            return Ok(None);
        }
        let Some(stat) = folder::stat(self.workspace.root(), artifact.path())? else {
            return Ok(None);
        };
        let changed = stat.modified / 1_000_000_000;
        let age = Duration::from_secs(
            self.workspace.now().as_second().saturating_sub(changed).try_into().unwrap_or(0),
        );
        let facts = GateUse { is_finished, age, is_in_use };
        if !facts.keeps_gates(self.workspace.configuration().gate_window()) {
            return Ok(None);
        }
        let folder = GateFolder::of(self.workspace.root(), artifact.path())?;
        Ok(Some(match self.current(artifact.path(), &folder, &steps)? {
            Some(unchanged) => GateRebuild { artifacts: 1, unchanged, ..GateRebuild::default() },
            None => self.renew(artifact.path(), &folder, None, Some(artifact))?,
        }))
    }

    /// The number of gates of the artifact, if they are those of `steps` and its stat proves each: then
    /// neither lock nor reading is needed, which is what makes rebuilding after a checkout cheap.
    fn current(
        &self,
        path: &ProjectPath,
        folder: &GateFolder,
        steps: &[GateStep],
    ) -> Result<Option<usize>, GateError> {
        let Some(stored) = folder.read()? else { return Ok(None) };
        let Some(now) = folder::stat(self.workspace.root(), path)? else { return Ok(None) };
        let is_current = |stored: &StoredGate| {
            let proves = |gate: &Gate| gate.stat.is_proof && gate.stat.is_same_file(&now);
            stored.gate.as_ref().is_some_and(proves)
        };
        let names = stored.iter().map(|stored| stored.file_name.as_str());
        let is_whole = stored.len() == steps.len() && superfluous(steps, names).is_empty();
        Ok((is_whole && stored.iter().all(is_current)).then_some(stored.len()))
    }

    /// The artifacts, there or not, that have a folder with gates.
    fn gated_paths(&self) -> Result<Vec<ProjectPath>, GateError> {
        let failed = |path: &str| {
            let path = format!("{GATES_FOLDER}/{path}");
            move |source| GateError::Read { path, source }
        };
        let gates = self.workspace.root().path().join(GATES_FOLDER);
        let mut paths = Vec::new();
        let mut waiting = vec![String::new()];
        while let Some(folder) = waiting.pop() {
            let entries = match uninterrupted(|| fs::read_dir(gates.join(&folder))) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(&folder)(error)),
            };
            let mut has_gates = false;
            for entry in entries {
                let entry = entry.map_err(failed(&folder))?;
                let kind = entry.file_type().map_err(failed(&folder))?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                if kind.is_dir() {
                    let inner = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                    waiting.push(inner);
                } else {
                    has_gates |= name.ends_with(GATE_EXTENSION);
                }
            }
            if has_gates && let Ok(path) = ProjectPath::new(&folder) {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }
}

impl Workspace {
    /// The paths among `artifacts` with a live lease, an event of a session that goes on, or an open child.
    ///
    /// # Errors
    /// When history cannot be read. A lease that cannot be read counts for nothing: its artifact's gates are
    /// made when asked for.
    pub(super) fn artifacts_in_use(
        &self,
        artifacts: &[TrackedArtifact],
    ) -> Result<HashSet<ProjectPath>, GateError> {
        let mut paths: HashSet<ProjectPath> = self.leased_paths().collect();
        paths.extend(self.session_paths()?);
        let chains = Chains::of(artifacts.iter().map(TrackedArtifact::member));
        for artifact in artifacts {
            let member = artifact.member();
            if member.id().is_some_and(|id| chains.open_children(id).next().is_some()) {
                paths.insert(artifact.path().clone());
            }
        }
        Ok(paths)
    }

    fn leased_paths(&self) -> impl Iterator<Item = ProjectPath> {
        let now = self.now();
        let folder = self.root().state().folder(StateFolder::Leases).ok();
        let listed = folder.as_deref().map(|folder| uninterrupted(|| fs::read_dir(folder)));
        let entries = listed.and_then(Result::ok).into_iter().flatten().flatten();
        let leases = entries.filter_map(move |entry| {
            let bytes = own_file::read(folder.as_deref()?, entry.file_name().as_ref(), LIMIT).ok()?;
            Lease::read(&bytes).filter(|lease| lease.live(now).is_some()).map(|lease| lease.path)
        });
        leases.collect::<Vec<_>>().into_iter()
    }

    /// Sessions that have not ended and did something within the window of gates.
    fn session_paths(&self) -> Result<Vec<ProjectPath>, GateError> {
        let window = i64::try_from(self.configuration().gate_window().as_secs()).unwrap_or(i64::MAX);
        let now = self.now().as_second();
        let paths = self.history().ask(|history| {
            let mut paths = Vec::new();
            for session in history.sessions()?.iter().filter(|session| {
                session.end.is_none() && now.saturating_sub(session.last.at.as_second()) <= window
            }) {
                let events =
                    history.select(Selection { session: Some(&session.id), ..Selection::default() })?;
                paths.extend(events.into_iter().filter_map(|event| Some(event.artifact?.path)));
            }
            Ok(paths)
        })?;
        Ok(paths)
    }
}
