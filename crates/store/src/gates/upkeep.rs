//! Keeping gates true.
#![expect(clippy::disallowed_methods, reason = "an edge module: gates are written and removed here")]

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    time::Duration,
};

use crate::commit::ArtifactLock;
use crate::disk::{own_file, own_file::Access, own_file::remove_if_there, uninterrupted::uninterrupted};
use crate::gates::Gates;
use crate::gates::folder::ConsistentRead;
use crate::gates::rebuild::GateRebuild;
use crate::gates::{GateError, GateFolder, steps_of};
use stepmark_model::{
    artifact::{Artifact, ProjectPath, StateDigest},
    journal::{ArtifactKey, EventId},
    projection::gates::{
        GATES_FOLDER, GateChanges, GateFacts, GateStat, GateStep, listed_steps, superfluous,
    },
    tracked_artifact::TrackedArtifact,
};

/// The time to wait for another process that writes the same gates: it needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

const TEMPORARY: &str = ".stepmark-gate-";

/// An artifact that lists steps, with the stat that belongs to its bytes.
struct Listing {
    artifact: TrackedArtifact,
    steps: Vec<GateStep>,
    stat: GateStat,
    state: StateDigest,
}

impl Gates<'_> {
    /// Removes the gates of the artifact at `path` whose steps it will not list any more once it holds `new`
    /// (`None`: once it is gone). To be called under the artifact's lock before `new` is published; with the
    /// error nothing may be published. Where the artifact has no gates, this costs one look.
    pub(crate) fn close(&self, path: &ProjectPath, new: Option<&Artifact>) -> Result<(), GateError> {
        let folder = GateFolder::of(self.workspace.root(), path)?;
        let Some(names) = folder.names()? else { return Ok(()) };
        let steps = match new {
            Some(new) => steps_of(&self.workspace.track(new.clone())?),
            None => Vec::new(),
        };
        let failed = |source| GateError::Write { artifact: path.clone(), source };
        let gone = superfluous(&steps, names.iter().map(String::as_str));
        gone.iter().try_for_each(|name| remove_if_there(&folder.place.join(name))).map_err(failed)
    }

    /// Makes the gates of the artifact at `path` those of the steps that it lists now, each with the file's
    /// stat of now. To be called after each commit; `event` is what completed the steps that have no gate
    /// yet. Only that artifact's folder is touched.
    ///
    /// # Errors
    /// When gates cannot be read or written. The artifact is as it was, and a gate that stayed behind is
    /// closed by its stat.
    pub fn open(&self, path: &ProjectPath, event: Option<EventId>) -> Result<GateRebuild, GateError> {
        let folder = GateFolder::of(self.workspace.root(), path)?;
        if folder.names()?.is_none() && self.listing(path, None)?.is_none() {
            return Ok(GateRebuild::default());
        }
        self.renew(path, &folder, event, None)
    }

    /// The same after a commit that left the artifact as `committed`, where that is known: a finished
    /// artifact without gates gets none, since nobody is about to ask for them.
    ///
    /// # Errors
    /// Those of [`Gates::open`].
    pub(crate) fn follow(
        &self,
        path: &ProjectPath,
        event: Option<EventId>,
        committed: Option<&TrackedArtifact>,
    ) -> Result<(), GateError> {
        let folder = GateFolder::of(self.workspace.root(), path)?;
        if folder.names()?.is_none() {
            let is_open = |artifact: &TrackedArtifact| !artifact.completion().is_finished();
            let gets_gates = match committed {
                Some(artifact) => is_open(artifact) && !steps_of(artifact).is_empty(),
                None => self.listing(path, None)?.is_some_and(|listing| is_open(&listing.artifact)),
            };
            if !gets_gates {
                return Ok(());
            }
        }
        self.renew(path, &folder, event, committed).map(drop)
    }

    /// Removes the gates of the artifact at `path`, which need not exist.
    pub(super) fn clear(&self, path: &ProjectPath) -> Result<GateRebuild, GateError> {
        let folder = GateFolder::of(self.workspace.root(), path)?;
        let _lock = ArtifactLock::acquire(self.workspace.root(), &folder.path, PATIENCE)?;
        let remove = folder.names()?.unwrap_or_default();
        let changes = GateChanges { remove, ..GateChanges::default() };
        self.change(&folder, &changes)
            .map_err(|source| GateError::Write { artifact: path.clone(), source })?;
        Ok(GateRebuild { removed: changes.remove.len(), ..GateRebuild::default() })
    }

    /// The same, of an artifact that has gates or lists steps.
    pub(super) fn renew(
        &self,
        path: &ProjectPath,
        folder: &GateFolder,
        event: Option<EventId>,
        committed: Option<&TrackedArtifact>,
    ) -> Result<GateRebuild, GateError> {
        // One writer at a time, who reads under the lock: the last to write has seen the last state.
        let _lock = ArtifactLock::acquire(self.workspace.root(), &folder.path, PATIENCE)?;
        let stored = folder.read()?;
        let is_new = stored.is_none();
        let stored = stored.unwrap_or_default();
        let changes = match self.listing(path, committed)? {
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
        let carried_out = match is_new {
            true => self.make(folder, &changes.write),
            false => self.change(folder, &changes),
        };
        carried_out.map_err(|source| GateError::Write { artifact: path.clone(), source })?;
        Ok(GateRebuild {
            artifacts: usize::from(changes.write.len() + changes.unchanged > 0),
            written: changes.write.len(),
            removed: changes.remove.len(),
            unchanged: changes.unchanged,
        })
    }

    /// The artifact as it is now, which is mostly as it was `committed`; `None` where it lists no step, or
    /// none that can be trusted.
    fn listing(
        &self,
        path: &ProjectPath,
        committed: Option<&TrackedArtifact>,
    ) -> Result<Option<Listing>, GateError> {
        let Some(seen) = ConsistentRead::of(self.workspace.root(), path)? else { return Ok(None) };
        let artifact = match committed.filter(|artifact| artifact.artifact().bytes() == seen.bytes) {
            Some(artifact) => artifact.clone(),
            None => self.workspace.track(Artifact::read_with_value(path.clone(), &seen.bytes, None))?,
        };
        let steps = listed_steps(artifact.workflow(), artifact.steps().completed());
        if steps.is_empty() {
            return Ok(None);
        }
        let Ok(state) = artifact.artifact().state_value() else { return Ok(None) };
        Ok(Some(Listing { stat: seen.stat, state: StateDigest::of(&state), artifact, steps }))
    }

    /// Makes the folder with all its gates at once: they are written into another one, which then gets its
    /// name.
    fn make(&self, folder: &GateFolder, gates: &[(String, Vec<u8>)]) -> io::Result<()> {
        let (Some(above), Some(name)) = (folder.place.parent(), folder.place.file_name()) else {
            return Ok(());
        };
        if gates.is_empty() {
            return Ok(());
        }
        self.ignore()?;
        fs::create_dir_all(above)?;
        let mut temporary = OsString::from(TEMPORARY);
        temporary.push(name);
        let temporary = above.join(temporary);
        match fs::create_dir(&temporary) {
            // Whoever holds the lock is the only one to use this name: it was left by one who was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_dir_all(&temporary)?;
                fs::create_dir(&temporary)?;
            }
            made => made?,
        }
        for (name, bytes) in gates {
            File::create_new(temporary.join(name))?.write_all(bytes)?;
        }
        fs::rename(&temporary, &folder.place)
    }

    fn change(&self, folder: &GateFolder, changes: &GateChanges) -> io::Result<()> {
        for name in &changes.remove {
            remove_if_there(&folder.place.join(name))?;
        }
        if changes.write.is_empty() {
            if changes.unchanged == 0 {
                remove_empty(&folder.place, &self.workspace.root().path().join(GATES_FOLDER));
            }
            return Ok(());
        }
        self.ignore()?;
        remove_temporary(&folder.place)?;
        changes.write.iter().try_for_each(|(name, bytes)| write_gate(&folder.place, name, bytes))
    }

    /// Tells git to ignore gates, even without `init`.
    fn ignore(&self) -> io::Result<()> {
        let gates = self.workspace.root().path().join(GATES_FOLDER);
        let ignore = gates.join(".gitignore");
        match fs::symlink_metadata(&ignore) {
            // What is no file of ours stays as it is.
            Ok(found) if !found.is_file() || found.len() > 0 => return Ok(()),
            // A process on a full disk left it empty.
            Ok(_) => fs::remove_file(&ignore)?,
            Err(_) => fs::create_dir_all(&gates)?,
        }
        File::create_new(&ignore)?.write_all(b"*\n")
    }
}

fn remove_temporary(folder: &Path) -> io::Result<()> {
    for entry in uninterrupted(|| fs::read_dir(folder))? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY)) {
            remove_if_there(&entry.path())?;
        }
    }
    Ok(())
}

/// Writes one gate. A new one comes to be as a whole. One that is there is overwritten where it stands: to
/// put a file in its place would make ext4 flush the new one (its `auto_da_alloc`), which takes longer than
/// the commit. Who reads in that instant, or after this process died in it, sees a gate that cannot be read,
/// and that is a closed one.
fn write_gate(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let place = folder.join(name);
    if fs::symlink_metadata(&place).is_ok_and(|found| found.is_file()) {
        let mut file = own_file::open(folder, name.as_ref(), Access::Change)?;
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
