//! Keeping gates correct, if configured.
//!
//! # Flow
//! Before a publication, gates of removed steps are deleted; after it, those of new steps are created. A
//! process that dies in between leaves a gate too few, never one too many. Not flushed.
#![expect(clippy::disallowed_methods, reason = "an edge module: gates are written and removed here")]

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write},
    ops::AddAssign,
    path::Path,
    sync::atomic::Ordering,
    time::Duration,
};

use super::{GateFolder, Gates, steps_of};
use crate::disk::{file_lock::uninterrupted, in_parts::par_map, own_file::remove_if_there};
use crate::{Error, ErrorKind, commit::ArtifactLock};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    projection::gates::{GATE_EXTENSION, GATES_FOLDER, GateStep, superfluous},
    tracked_artifact::TrackedArtifact,
};

/// The longest wait for another process that writes these gates, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

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

fn not_changed(artifact: &ProjectPath, source: io::Error) -> Error {
    Error::io(format!("cannot change the gates of `{artifact}` in `{GATES_FOLDER}`"), source)
}

impl Gates<'_> {
    /// Deletes gates of steps that `new` (`None`: removed) does not list. Call it under the artifact's lock
    /// before publishing `new`; after an error nothing may be published.
    pub(crate) fn close(&self, path: &ProjectPath, new: Option<&Artifact>) -> Result<(), Error> {
        if !self.are_on() {
            return Ok(());
        }
        let folder = GateFolder::of(self.workspace.root(), path)?;
        let steps = match new {
            Some(new) => steps_of(&self.workspace.track(new.clone())?),
            None => Vec::new(),
        };
        remove(&folder, &superfluous(&steps, &folder.names()?)).map_err(|source| not_changed(path, source))
    }

    pub(crate) fn follow(&self, path: &ProjectPath) -> Result<(), Error> {
        if self.are_on() { self.renew(path).map(drop) } else { Ok(()) }
    }

    /// Sets the gates from the steps of the artifact, which need not exist; none if they are switched off.
    pub fn renew(&self, path: &ProjectPath) -> Result<GateRebuild, Error> {
        let folder = GateFolder::of(self.workspace.root(), path)?;
        // One writer at a time, who reads under the lock: the last has seen the last state.
        let _lock = ArtifactLock::acquire(self.workspace.root(), &folder.path, PATIENCE)
            .map_err(|error| Error::told(ErrorKind::Io, error))?;
        let steps = match self.workspace.artifact(path) {
            Ok(artifact) if self.are_on() => steps_of(&artifact),
            Ok(_) => Vec::new(),
            Err(error) if error.is_missing() => Vec::new(),
            Err(error) => return Err(error),
        };
        self.change(path, &folder, &steps)
    }

    /// Renews the gates of all `artifacts`, and deletes those of other paths.
    pub fn rebuild(&self, artifacts: &[TrackedArtifact]) -> Result<GateRebuild, Error> {
        let mut total = GateRebuild::default();
        let rebuilt = par_map(artifacts, |artifact| {
            self.workspace.files_looked_at().fetch_add(1, Ordering::Relaxed);
            let (path, steps) = (artifact.path(), steps_of(artifact));
            let stored = GateFolder::of(self.workspace.root(), path)?.names()?;
            let is_current = stored.len() == steps.len() && superfluous(&steps, &stored).is_empty();
            match is_current && self.are_on() {
                true => Ok(GateRebuild {
                    artifacts: usize::from(!steps.is_empty()),
                    unchanged: steps.len(),
                    ..GateRebuild::default()
                }),
                false => self.renew(path),
            }
        });
        for rebuilt in rebuilt {
            total += rebuilt?;
        }
        let known: BTreeSet<&ProjectPath> = artifacts.iter().map(TrackedArtifact::path).collect();
        for path in self.gated_paths()?.iter().filter(|path| !known.contains(path)) {
            let folder = GateFolder::of(self.workspace.root(), path)?;
            let _lock = ArtifactLock::acquire(self.workspace.root(), &folder.path, PATIENCE)
                .map_err(|error| Error::told(ErrorKind::Io, error))?;
            total += self.change(path, &folder, &[])?;
        }
        Ok(total)
    }

    fn change(
        &self,
        path: &ProjectPath,
        folder: &GateFolder,
        steps: &[GateStep],
    ) -> Result<GateRebuild, Error> {
        let stored = folder.names()?;
        let gone = superfluous(steps, &stored);
        let new: Vec<&GateStep> = steps.iter().filter(|step| !stored.contains(&step.file_name())).collect();
        let write = || {
            remove(folder, &gone)?;
            if steps.is_empty() {
                remove_empty(&folder.place, &self.workspace.root().path().join(GATES_FOLDER));
            } else if !new.is_empty() {
                self.ignore()?;
                fs::create_dir_all(&folder.place)?;
            }
            new.iter().try_for_each(|step| {
                File::create_new(folder.place.join(step.file_name()))?.write_all(&step.file(path))
            })
        };
        write().map_err(|source| not_changed(path, source))?;
        Ok(GateRebuild {
            artifacts: usize::from(!steps.is_empty()),
            written: new.len(),
            removed: gone.len(),
            unchanged: stored.len() - gone.len(),
        })
    }

    /// Needed without `init`, too.
    fn ignore(&self) -> io::Result<()> {
        let gates = self.workspace.root().path().join(GATES_FOLDER);
        let ignore = gates.join(".gitignore");
        match fs::symlink_metadata(&ignore) {
            // Other content is not ours.
            Ok(found) if !found.is_file() || found.len() > 0 => return Ok(()),
            // Left empty by a process on a full disk.
            Ok(_) => fs::remove_file(&ignore)?,
            Err(_) => fs::create_dir_all(&gates)?,
        }
        File::create_new(&ignore)?.write_all(b"*\n")
    }

    fn gated_paths(&self) -> Result<Vec<ProjectPath>, Error> {
        let failed = |path: &str| {
            let path = format!("{GATES_FOLDER}/{path}");
            move |source| Error::io(format!("cannot read `{path}`"), source)
        };
        let gates = self.workspace.root().path().join(GATES_FOLDER);
        let mut paths = BTreeSet::new();
        let mut waiting = vec![String::new()];
        while let Some(folder) = waiting.pop() {
            let entries = match uninterrupted(|| fs::read_dir(gates.join(&folder))) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(&folder)(error)),
            };
            for entry in entries {
                let entry = entry.map_err(failed(&folder))?;
                let kind = entry.file_type().map_err(failed(&folder))?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                if kind.is_dir() {
                    waiting.push(if folder.is_empty() { name } else { format!("{folder}/{name}") });
                } else if name.ends_with(GATE_EXTENSION) {
                    paths.extend(ProjectPath::new(&folder));
                }
            }
        }
        Ok(paths.into_iter().collect())
    }
}

fn remove(folder: &GateFolder, names: &[String]) -> io::Result<()> {
    names.iter().try_for_each(|name| remove_if_there(&folder.place.join(name)))
}

/// Stops at the first that is not empty.
fn remove_empty(folder: &Path, top: &Path) {
    let folders = folder.ancestors().take_while(|folder| *folder != top && folder.starts_with(top));
    for folder in folders {
        // Not empty, or gone: both are fine.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
