//! `stepmark replay`

use std::{collections::HashSet, path::PathBuf, thread};

use clap::Args;
use stepmark_core::{
    artifact::{Artifact, ProjectPath, StateDigest},
    document::{Change, diff},
    journal::{
        ArtifactKey, Digests, EventId, Lineage, Standing,
        store::{History, HistoryError, VerifiedSegments, verify_segments},
    },
    workspace::ArtifactError,
};

use crate::{
    exit::{Exit, Failure, chain},
    output::{
        Output,
        replay::{Replayed, Summary, show, wire},
    },
    project::Project,
};

/// Replay history and compare what it leads to with the artifacts as they are
///
/// An artifact is `current` (in the state after its last event), `earlier` (in that of another known event, which git has
/// checked out or in its index), `unexplained` (changed by other means) or has `no-history` (as in a fresh clone).
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Compare (required: there is no other replay)
    #[arg(long, required = true)]
    verify: bool,
    /// Only these artifacts, and not the segments from end to end
    artifacts: Vec<PathBuf>,
    /// Let an artifact without history count as a finding
    #[arg(long)]
    strict: bool,
}

impl Replay {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let summary = if self.artifacts.is_empty() { all(project)? } else { self.named(project)? };
        if output.json {
            output.json("stepmark.replay/1", wire(&summary));
        } else {
            show(&summary, output);
        }
        Ok(summary.exit(self.strict))
    }

    fn named(&self, project: &Project) -> Result<Summary, Failure> {
        let history = History::open(project.root())?;
        let mut artifacts = Vec::new();
        for given in &self.artifacts {
            let path = project.path(given)?;
            let artifact = present(project, &path)?;
            let key = artifact.as_ref().map_or_else(|| ArtifactKey::of_path(&path), ArtifactKey::of);
            let lineage = history.lineage(&key, &path)?;
            artifacts.push(replay(project, &history, path, key, artifact.as_ref(), &lineage)?);
        }
        Ok(Summary { artifacts, segments: None, problems: history.problems()?, unreadable: Vec::new() })
    }
}

/// All artifacts, while another thread reads the segments from end to end.
fn all(project: &Project) -> Result<Summary, Failure> {
    let root = project.root();
    thread::scope(|scope| {
        let reading = scope.spawn(|| verify_segments(root));
        let artifacts = all_artifacts(project);
        let read: Result<VerifiedSegments, HistoryError> = reading
            .join()
            .map_err(|_| Failure::new(Exit::Io, "the thread that read the segments ended early"))?;
        let (artifacts, unreadable) = artifacts?;
        let VerifiedSegments { segments, events, distinct, problems } = read?;
        if History::open(root)?.renew_unless(distinct)? {
            return all(project);
        }
        Ok(Summary { artifacts, segments: Some((segments, events)), problems, unreadable })
    })
}

fn all_artifacts(project: &Project) -> Result<(Vec<Replayed>, Vec<String>), Failure> {
    let history = History::open(project.root())?;
    let found = project.workspace.artifacts()?;
    let mut replayed = Vec::new();
    let mut seen: HashSet<EventId> = HashSet::new();
    for tracked in &found.artifacts {
        let artifact = tracked.artifact();
        let (path, key) = (artifact.path().clone(), ArtifactKey::of(artifact));
        let lineage = history.lineage(&key, &path)?;
        seen.extend(lineage.heads().into_iter().map(|head| head.id));
        replayed.push(replay(project, &history, path, key, Some(artifact), &lineage)?);
    }
    // Files that are gone, or show no state of a workflow any more.
    for known in history.artifacts()? {
        if known.goes_on || known.heads.iter().all(|head| seen.contains(head)) {
            continue;
        }
        let artifact = present(project, &known.path)?;
        let lineage = history.lineage(&known.key, &known.path)?;
        replayed.push(replay(project, &history, known.path, known.key, artifact.as_ref(), &lineage)?);
    }
    replayed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok((replayed, crate::output::wording::unreadable(&found)))
}

/// The artifact as it is; `None` where there is no file.
fn present(project: &Project, path: &ProjectPath) -> Result<Option<Artifact>, Failure> {
    match project.workspace.artifact(path) {
        Ok(tracked) => Ok(Some(tracked.artifact().clone())),
        Err(ArtifactError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn replay(
    project: &Project,
    history: &History,
    path: ProjectPath,
    key: ArtifactKey,
    artifact: Option<&Artifact>,
    lineage: &Lineage,
) -> Result<Replayed, Failure> {
    let state = artifact.map(Artifact::state_value);
    let digests = artifact.map(|artifact| Digests {
        file: artifact.file_hash(),
        state: state.as_ref().and_then(|state| state.as_ref().ok()).map(StateDigest::of),
    });
    let standing = match lineage.standing(digests) {
        // The checked out commit does not have it either: this is the state before its first event.
        Standing::Unexplained { head }
            if digests.is_none() && project.workspace.is_in_checked_out_commit(&path) == Some(false) =>
        {
            first(lineage).map_or(Standing::Unexplained { head }, |event| Standing::Earlier { event })
        }
        // Only git brings an earlier state back; an editor that writes an older text over the work does not explain it.
        Standing::Earlier { event } if !project.workspace.checked_out().explains(&path, digests) => {
            Standing::Unexplained { head: lineage.heads().last().map_or(event, |head| head.id) }
        }
        standing => standing,
    };
    let damage: Vec<String> = lineage.verify().iter().map(|problem| chain(problem)).collect();
    let mut remarks = Vec::new();
    let mut changes: Vec<Change> = Vec::new();
    if let Standing::Unexplained { head } = standing {
        match (history.state_after(head), state) {
            (Ok(recorded), Some(Ok(now))) => changes = diff(&recorded, &now),
            (_, Some(Err(error))) => remarks.push(format!("it cannot be read now: {}", chain(&error))),
            (_, None) => remarks.push("there is no such file any more".to_owned()),
            (Err(error), _) => remarks.push(chain(&error)),
        }
    }
    Ok(Replayed { path, key, standing, events: lineage.events().len(), changes, remarks, damage })
}

/// The first event, where it is known.
fn first(lineage: &Lineage) -> Option<EventId> {
    lineage.events().first().filter(|event| event.parents.is_empty()).map(|event| event.id)
}
