//! Leases on the disk: `leases/HASH-OF-KEY.json` in the local state, shared by all work trees (semantics:
//! [`stepmark_model::lease`]). A lease changes durably, under the locks of its artifact and of all leases.

use std::io;

#[cfg(feature = "write")]
use crate::commit::{self, ArtifactLock, CommitError};
use crate::disk::{local_state::StateFolder, own_file};
#[cfg(feature = "write")]
use crate::git::process::WithoutGit;
use crate::workspace::Workspace;
use crate::{Error, ErrorKind};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::ArtifactKey,
    lease::Lease,
};
#[cfg(feature = "write")]
use stepmark_model::{
    journal::{Attribution, EventDraft, Kind},
    lease::{self, AcquiredLease, Claim, LeaseRefusal},
};

/// In bytes.
pub(crate) const LIMIT: u64 = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseState {
    pub artifact: ArtifactKey,
    pub path: ProjectPath,
    /// `None` if it was never leased.
    pub lease: Option<Lease>,
}

#[cfg(feature = "write")]
fn held(path: &ProjectPath, refusal: LeaseRefusal) -> Error {
    let help = refusal.remedy();
    Error::new(ErrorKind::Held, format!("`{path}` is left as it is")).because(refusal).help(help)
}

#[derive(Clone, Copy, Debug)]
pub struct Leases<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn leases(&self) -> Leases<'_> {
        Leases { workspace: self }
    }
}

impl Leases<'_> {
    pub fn get(&self, path: &ProjectPath) -> Result<LeaseState, Error> {
        let key = ArtifactKey::of(&Artifact::read(path.clone(), self.workspace.read_file(path)?));
        let lease = self.read(path, &key)?;
        Ok(LeaseState { artifact: key, path: path.clone(), lease })
    }

    fn read(&self, path: &ProjectPath, key: &ArtifactKey) -> Result<Option<Lease>, Error> {
        let (state, name) = (self.workspace.root().state(), Lease::file_name(key));
        let file = state.path(StateFolder::Leases).join(&name);
        let folder = state.folder(StateFolder::Leases).map_err(io::Error::from);
        let bytes = match folder.and_then(|folder| own_file::read(&folder, name.as_ref(), LIMIT)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                let message = format!("cannot read `{}`, the lease of `{path}`", file.display());
                return Err(Error::io(message, source));
            }
        };
        let lease = Lease::read(&bytes).filter(|lease| lease.artifact == *key);
        let damaged = || {
            let file = file.display();
            let message = format!(
                "`{file}` is no lease of `{path}` that this version can read: remove it when nobody works on the \
                 artifact"
            );
            Error::new(ErrorKind::Io, message)
        };
        lease.ok_or_else(damaged).map(Some)
    }
}

#[cfg(feature = "write")]
impl Leases<'_> {
    /// For the current actor. Appends an event if it is taken over from a holder that did not release it.
    pub fn take(
        &self,
        path: &ProjectPath,
        duration: std::time::Duration,
        claim: Claim,
    ) -> Result<AcquiredLease, Error> {
        let taken = self.change(path, |current, key| {
            let when = (self.workspace.now(), duration);
            let taken = lease::take(current, (key, path), self.workspace.attribution(), when, claim)?;
            Ok((taken.lease.clone(), taken))
        })?;
        if let Some((tenure, fence)) = &taken.taken_over {
            let draft = EventDraft::new(Kind::LEASE_TAKEN_OVER)
                .with_command(format!("lease take {path}"))
                .with("artifact", taken.lease.artifact.as_str())
                .with("path", path.as_str())
                .with("from", tenure.holder.to_string())
                .with("from_session", tenure.session.clone())
                .with("expired_at", tenure.expires_at.to_string())
                .with("old_fence", *fence)
                .with("fence", taken.lease.fence);
            self.workspace.history().append_event(draft).map_err(|source| {
                let message =
                    format!("the lease of `{path}` was taken over, but the journal could not be told");
                Error::io(message, source)
            })?;
        }
        Ok(taken)
    }

    /// Fails unless held here.
    pub fn renew(&self, path: &ProjectPath, duration: std::time::Duration) -> Result<Lease, Error> {
        self.change(path, |current, _| {
            let lease = lease::renew(current, self.workspace.attribution(), self.workspace.now(), duration)?;
            Ok((lease.clone(), lease))
        })
    }

    pub fn release(&self, path: &ProjectPath) -> Result<Lease, Error> {
        self.release_as(path, self.workspace.attribution())
    }

    pub fn release_of_session(&self) -> Result<Vec<ProjectPath>, Error> {
        let Some(session) = self.workspace.attribution().session.as_ref() else { return Ok(Vec::new()) };
        let state = self.workspace.root().state();
        let listed = |source: io::Error| {
            let folder = state.path(StateFolder::Leases);
            Error::io(format!("the leases in `{}` cannot be listed", folder.display()), source)
        };
        let folder = state.folder(StateFolder::Leases).map_err(|error| listed(io::Error::from(error)))?;
        let mut released = Vec::new();
        for name in commit::names_in(&folder).map_err(listed)? {
            // Whoever wants that lease gets the error.
            let lease =
                own_file::read(&folder, name.as_ref(), LIMIT).ok().and_then(|bytes| Lease::read(&bytes));
            let Some(lease) = lease else { continue };
            let holder = lease.tenure.as_ref().and_then(|tenure| tenure.session.as_deref());
            if holder == Some(session.as_str()) {
                match self.release(&lease.path) {
                    // Its artifact is gone; the lease expires.
                    Err(error) if error.path() == Some(&lease.path) => {}
                    other => drop(other?),
                }
                released.push(lease.path);
            }
        }
        Ok(released)
    }

    /// Identifies the lease by its fencing number, with or without a session.
    pub(crate) fn release_taken(&self, path: &ProjectPath, taken: &Lease) -> Result<Lease, Error> {
        self.release_as(
            path,
            &Attribution { fence: Some(taken.fence), ..self.workspace.attribution().clone() },
        )
    }

    pub(crate) fn release_after_step(&self, artifact: &Artifact) -> Result<(), Error> {
        let path = artifact.path();
        let tenure = self.read(path, &ArtifactKey::of(artifact))?.and_then(|lease| lease.tenure);
        if tenure.is_some_and(|tenure| tenure.ends_with_step(self.workspace.attribution())) {
            self.release(path)?;
        }
        Ok(())
    }

    fn release_as(&self, path: &ProjectPath, who: &Attribution) -> Result<Lease, Error> {
        self.change(path, |current, _| {
            let lease = lease::release(current, who)?;
            Ok((lease.clone(), lease))
        })
    }

    /// Refuses a change that a lease forbids. Call it under the change's locks, before publication.
    pub(crate) fn admit(&self, path: &ProjectPath, old: Option<&Artifact>) -> Result<(), Error> {
        let own = old.map(ArtifactKey::of);
        // A lease from before the artifact had an id is still valid.
        let keys = own.into_iter().filter(|key| !key.is_path()).chain([ArtifactKey::of_path(path)]);
        for key in keys {
            let lease = self.read(path, &key)?;
            lease::admits(lease.as_ref(), self.workspace.attribution(), self.workspace.now())
                .map_err(|refusal| held(path, refusal))?;
        }
        Ok(())
    }

    fn change<T>(
        &self,
        path: &ProjectPath,
        decide: impl FnOnce(Option<&Lease>, &ArtifactKey) -> Result<(Lease, T), LeaseRefusal>,
    ) -> Result<T, Error> {
        let options = self.workspace.commit_options();
        // A mistyped path leaves no trace.
        self.workspace.read_file(path)?;
        let lock = ArtifactLock::acquire(self.workspace.root(), path, options.lock_timeout)
            .map_err(CommitError::from)?;
        let _held_with_the_lock = WithoutGit::begin();
        let bytes = lock.read().map_err(CommitError::from)?;
        let bytes = bytes.ok_or_else(|| Error::missing(path.clone()))?;
        let key = ArtifactKey::of(&Artifact::read(path.clone(), bytes));
        let leases = commit::LeaseFiles::lock(self.workspace.root(), path)?;
        let current = self.read(path, &key)?;
        let (lease, answer) = decide(current.as_ref(), &key).map_err(|refusal| held(path, refusal))?;
        leases.write(&Lease::file_name(&key), &lease.to_bytes(), options.fsync)?;
        Ok(answer)
    }
}
