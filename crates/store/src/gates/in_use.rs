//! The artifacts that somebody works on now.
#![expect(clippy::disallowed_methods, reason = "an edge module: the folder of leases is listed here")]

use std::{collections::HashSet, fs};

use crate::disk::{local_state::StateFolder, own_file, uninterrupted::uninterrupted};
use crate::gates::GateError;
use crate::history::Selection;
use crate::leases::LIMIT;
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::ProjectPath, delegation::Chains, lease::Lease, tracked_artifact::TrackedArtifact,
};

impl Workspace {
    /// The paths among `artifacts` with a live lease, an event of a session that goes on, or an open child.
    ///
    /// # Errors
    /// When history cannot be read. A lease that cannot be read counts for nothing: its artifact's gates are made when asked for.
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
