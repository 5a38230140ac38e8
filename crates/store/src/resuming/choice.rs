//! Chooses an artifact to resume if none is named.

use crate::resuming::damage;
use crate::workspace::ProjectHistory;
use crate::{Error, disk::ResolveError};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    journal::{Event, SessionId},
};

/// The latest events to search for an unfinished artifact, in two attempts: mostly one of the first will do.
const EVENTS: [usize; 2] = [8, 500];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeChoice {
    /// The configured active artifact, else the unfinished one of the last event, else the only unfinished
    /// one.
    One(ProjectPath),
    /// Several unfinished ones, in natural order. Empty if all are finished, or none has a workflow or
    /// lifecycle.
    Unclear(Vec<ProjectPath>),
}

impl ProjectHistory<'_> {
    /// With a `session`, only its events count.
    pub fn artifact_to_resume(&self, session: Option<&SessionId>) -> Result<ResumeChoice, Error> {
        if let Some(active) = &self.workspace.configuration().active {
            return Ok(ResumeChoice::One(active.clone()));
        }
        for limit in EVENTS {
            if let Some(path) = self.last_unfinished(limit, session)? {
                return Ok(ResumeChoice::One(path));
            }
        }
        let all = self.workspace.artifacts()?;
        let unfinished = all.artifacts.iter().filter(|artifact| is_unfinished(artifact));
        let mut paths: Vec<ProjectPath> = unfinished.map(|artifact| artifact.path().clone()).collect();
        paths.sort_by(|one, other| natural_order(one.as_str(), other.as_str()));
        Ok(match <[ProjectPath; 1]>::try_from(paths) {
            Ok([only]) => ResumeChoice::One(only),
            Err(paths) => ResumeChoice::Unclear(paths),
        })
    }

    fn last_unfinished(
        &self,
        limit: usize,
        session: Option<&SessionId>,
    ) -> Result<Option<ProjectPath>, Error> {
        let is_own =
            |event: &Event| session.is_none_or(|session| event.session.as_deref() == Some(session.as_str()));
        let mut seen = Vec::new();
        for event in self.ask(|history| history.latest(limit))?.into_iter().filter(is_own) {
            let Some(path) = event.artifact.map(|artifact| artifact.path) else { continue };
            if seen.contains(&path) {
                continue;
            }
            match self.workspace.artifact(&path) {
                Ok(artifact) if is_unfinished(&artifact) && !artifact.waits_for_person() => {
                    return Ok(Some(path));
                }
                Err(error) if !error.is_missing() && error.detail::<ResolveError>().is_none() => {
                    return Err(error);
                }
                _ => seen.push(path),
            }
        }
        Ok(None)
    }
}

/// True for a story before its import, and for a damaged artifact, which may have open work.
fn is_unfinished(artifact: &TrackedArtifact) -> bool {
    let is_damaged = || damage(artifact.artifact()).is_some() && artifact.artifact().is_tracked();
    // Failed work may be retried, if its kind has a command for it.
    let has_failed = || {
        let (status, kind) = (artifact.state().status.as_ref()?.filled()?, artifact.state().kind?);
        status.eq_ignore_ascii_case("failed").then(|| kind.command(status, ""))?
    };
    let is_left = artifact.has_work_left() || has_failed().is_some();
    is_left || artifact.waits_for_import() || artifact.workflow().is_none() && is_damaged()
}
