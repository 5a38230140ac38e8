//! Keeping gates true.
#![expect(clippy::disallowed_methods, reason = "an edge module: gates are written and removed here")]

use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
    time::Duration,
};

use super::{
    GateError, GateFolder,
    sight::{self, Sight},
    steps_of,
};
use crate::{
    artifact::{Artifact, ProjectPath, StateDigest},
    commit::ArtifactLock,
    journal::{ArtifactKey, EventId},
    project::gates::{
        GATE_EXTENSION, GATES_FOLDER, Gate, GateChanges, GateFacts, GateStat, GateStep, StoredGate,
        superfluous,
    },
    workspace::{TrackedArtifact, Workspace},
};

/// How long to wait for another process that writes the same gates: it needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// How the names of gates start that are being written.
const TEMPORARY: &str = ".stepmark-gate-";

/// What rebuilding the gates did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateRebuild {
    /// Artifacts that have gates.
    pub artifacts: usize,
    /// Gates that were written.
    pub written: usize,
    /// Gates that were removed.
    pub removed: usize,
    /// Gates that were right.
    pub unchanged: usize,
}

/// An artifact that lists steps, with the stat that belongs to its bytes.
struct Listing {
    artifact: TrackedArtifact,
    steps: Vec<GateStep>,
    stat: GateStat,
    state: StateDigest,
}

impl Workspace {
    /// Removes the gates of the artifact at `path` whose steps it will not list any more once it holds `new` (`None`: once it is
    /// gone). To be called under the artifact's lock before `new` is published; with the error nothing may be published.
    /// Where the artifact has no gates, this costs one look.
    ///
    /// # Errors
    /// When a gate cannot be removed.
    pub fn close_gates(&self, path: &ProjectPath, new: Option<&[u8]>) -> Result<(), GateError> {
        let folder = GateFolder::of(self.root(), path)?;
        let Some(names) = folder.names()? else { return Ok(()) };
        let steps = match new {
            Some(new) => steps_of(&self.track(Artifact::read(path.clone(), new.to_vec()))?),
            None => Vec::new(),
        };
        let failed = |source| GateError::Write { artifact: path.clone(), source };
        let gone = superfluous(&steps, names.iter().map(String::as_str));
        gone.iter().try_for_each(|name| remove(&folder.place.join(name))).map_err(failed)
    }

    /// Makes the gates of the artifact at `path` those of the steps that it lists now, each with the file's stat of now. To
    /// be called after each commit; `event` is what completed the steps that have no gate yet. Only that artifact's folder
    /// is touched.
    ///
    /// # Errors
    /// When gates cannot be read or written. The artifact is as it was, and a gate that stayed behind is closed by its stat.
    pub fn open_gates(&self, path: &ProjectPath, event: Option<EventId>) -> Result<GateRebuild, GateError> {
        let folder = GateFolder::of(self.root(), path)?;
        let is_without = folder.names()?.is_none();
        if is_without && self.listing(path)?.is_none() {
            return Ok(GateRebuild::default());
        }
        // One writer at a time, who reads under the lock: the last to write has seen the last state.
        let _lock = ArtifactLock::acquire(self.root(), &folder.path, PATIENCE)?;
        let stored = folder.read()?.unwrap_or_default();
        let changes = match self.listing(path)? {
            Some(Listing { artifact, steps, stat, state }) => {
                let (key, file) = (ArtifactKey::of(artifact.artifact()), artifact.artifact().file_hash());
                let facts = GateFacts { key, path, stat, file, state };
                GateChanges::plan(&steps, &stored, &facts, event)
            }
            None => GateChanges {
                remove: superfluous(&[], stored.iter().map(|stored| stored.file_name.as_str())),
                ..GateChanges::default()
            },
        };
        self.carry_out_gates(&folder, &changes)
            .map_err(|source| GateError::Write { artifact: path.clone(), source })?;
        Ok(GateRebuild {
            artifacts: usize::from(changes.write.len() + changes.unchanged > 0),
            written: changes.write.len(),
            removed: changes.remove.len(),
            unchanged: changes.unchanged,
        })
    }

    /// Makes all gates of the project those of the steps that its artifacts list now, and removes those of artifacts that are
    /// gone.
    ///
    /// # Errors
    /// When artifacts cannot be listed, or gates cannot be written.
    pub fn rebuild_gates(&self) -> Result<GateRebuild, GateError> {
        let mut total = GateRebuild::default();
        let mut add = |done: GateRebuild| {
            total.artifacts += done.artifacts;
            total.written += done.written;
            total.removed += done.removed;
            total.unchanged += done.unchanged;
        };
        let found = self.artifacts()?;
        let mut kept = BTreeSet::new();
        for artifact in &found.artifacts {
            let steps = steps_of(artifact);
            if steps.is_empty() {
                continue;
            }
            kept.insert(artifact.path().clone());
            add(match self.current_gates(artifact.path(), &steps)? {
                Some(unchanged) => GateRebuild { artifacts: 1, unchanged, ..GateRebuild::default() },
                None => self.open_gates(artifact.path(), None)?,
            });
        }
        for path in self.gated_paths()? {
            if !kept.contains(&path) {
                add(self.open_gates(&path, None)?);
            }
        }
        Ok(total)
    }

    /// How many gates the artifact has, if they are those of `steps` and its stat proves each: then neither lock nor reading is
    /// needed, which is what makes rebuilding after a checkout cheap.
    fn current_gates(&self, path: &ProjectPath, steps: &[GateStep]) -> Result<Option<usize>, GateError> {
        let Some(stored) = GateFolder::of(self.root(), path)?.read()? else { return Ok(None) };
        let Some(now) = sight::stat(self.root(), path)? else { return Ok(None) };
        let is_current = |stored: &StoredGate| {
            let proves = |gate: &Gate| gate.stat.is_proof && gate.stat.is_same_file(&now);
            stored.gate.as_ref().is_some_and(proves)
        };
        let names = stored.iter().map(|stored| stored.file_name.as_str());
        let is_whole = stored.len() == steps.len() && superfluous(steps, names).is_empty();
        Ok((is_whole && stored.iter().all(is_current)).then_some(stored.len()))
    }

    /// The artifact as it is now; `None` where it lists no step, or none that can be trusted.
    fn listing(&self, path: &ProjectPath) -> Result<Option<Listing>, GateError> {
        let Some(seen) = Sight::of(self.root(), path)? else { return Ok(None) };
        let artifact = self.track(Artifact::read(path.clone(), seen.bytes))?;
        let Ok(state) = artifact.artifact().state_value() else { return Ok(None) };
        let steps = steps_of(&artifact);
        if steps.is_empty() {
            return Ok(None);
        }
        Ok(Some(Listing { stat: seen.stat, state: StateDigest::of(&state), artifact, steps }))
    }

    /// The artifacts, there or not, that have a folder with gates.
    fn gated_paths(&self) -> Result<Vec<ProjectPath>, GateError> {
        let failed = |path: &str| {
            let path = format!("{GATES_FOLDER}/{path}");
            move |source| GateError::Read { path, source }
        };
        let gates = self.root().path().join(GATES_FOLDER);
        let mut paths = Vec::new();
        let mut waiting = vec![String::new()];
        while let Some(folder) = waiting.pop() {
            let entries = match fs::read_dir(gates.join(&folder)) {
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

    fn carry_out_gates(&self, folder: &GateFolder, changes: &GateChanges) -> io::Result<()> {
        for name in &changes.remove {
            remove(&folder.place.join(name))?;
        }
        if changes.write.is_empty() {
            if changes.unchanged == 0 {
                remove_empty(&folder.place, &self.root().path().join(GATES_FOLDER));
            }
            return Ok(());
        }
        self.make_gates_folder(folder)?;
        changes.write.iter().try_for_each(|(name, bytes)| write_gate(&folder.place, name, bytes))
    }

    /// Makes the folder; what a killed writer left in it goes. Git is told to ignore gates even without `init`.
    fn make_gates_folder(&self, folder: &GateFolder) -> io::Result<()> {
        let ignore = self.root().path().join(GATES_FOLDER).join(".gitignore");
        fs::create_dir_all(&folder.place)?;
        if fs::metadata(&ignore).map_or(true, |found| found.len() == 0) {
            fs::write(&ignore, b"*\n")?;
        }
        for entry in fs::read_dir(&folder.place)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY)) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// Writes one gate. A new one comes to be as a whole. One that is there is overwritten where it stands: to put a file in its
/// place would make ext4 flush the new one (its `auto_da_alloc`), which takes longer than the commit. Who reads in that instant,
/// or after this process died in it, sees a gate that cannot be read, and that is a closed one.
fn write_gate(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let place = folder.join(name);
    if fs::symlink_metadata(&place).is_ok_and(|found| found.is_file()) {
        let mut file = OpenOptions::new().write(true).open(&place)?;
        file.write_all(bytes)?;
        return file.set_len(bytes.len() as u64);
    }
    let mut builder = tempfile::Builder::new();
    // Whoever may read the artifact may read its gates.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.prefix(TEMPORARY).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(place)?;
    Ok(())
}

fn remove(place: &Path) -> io::Result<()> {
    match fs::remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes `folder` and those above it up to `top`, as long as they are empty.
fn remove_empty(folder: &Path, top: &Path) {
    let folders = folder.ancestors().take_while(|folder| *folder != top && folder.starts_with(top));
    for folder in folders {
        // Not empty, or gone: both are as it should be.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
