//! The third tier of resumption: the journal, git, delegations and other sessions.

use std::thread;

use serde_json::Value as Json;

use crate::disk::WalkError;
use crate::history::{History, HistoryError};
use crate::repository::git_history;
use crate::resuming::{
    damage, said_by, subject::Subject, subject::body, subject::heads_of, subject::ids_of, subject::known,
};
use crate::workspace::{ArtifactError, Artifacts, Workspace, artifact_files};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Artifact, file_with_state},
    journal::{ArtifactKey, Event, Kind, SessionId},
    resume::{InterruptedSession, OpenDelegation, ResumeReport, SourceReport, SourceResult, StateSource},
};

/// The number of events that are searched back for a state after which the file could be read.
const UNREADABLE_EVENTS: usize = 50;

struct LastState {
    event: Event,
    state: Json,
    /// The number of other heads that have another state: branches that were not merged.
    other_heads: usize,
}

impl Workspace {
    pub(crate) fn look_at_everything(
        &self,
        subject: &mut Subject,
        report: &mut ResumeReport,
    ) -> Result<(), ArtifactError> {
        let (artifacts, git) = thread::scope(|scope| {
            // Reading all artifacts and asking git take the longest: at the same time.
            let artifacts = scope.spawn(|| {
                // Most artifacts are no children: they need not even be parsed.
                let names_a_parent = |bytes: &[u8]| memchr::memmem::find(bytes, b"parent_id").is_some();
                artifact_files::read_where(self, &names_a_parent)
            });
            let git = self.hear_git(&subject.artifact, &mut report.cautions);
            let artifacts = artifacts.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked));
            (artifacts, git)
        });
        self.hear_journal(subject, report)?;
        report.sources.push(git?);
        self.hear_sessions(report);
        hear_children(artifacts, subject, report);
        Ok(())
    }

    fn hear_journal(&self, subject: &mut Subject, report: &mut ResumeReport) -> Result<(), ArtifactError> {
        let path_key = ArtifactKey::of_path(subject.artifact.path());
        let first = subject.keys.first().cloned().unwrap_or(path_key);
        let (source, result) = match self.history().ask(|history| last_state(history, subject, &first)) {
            Ok(Some(LastState { event, state, other_heads })) => {
                subject.ids.extend(ids_of(&state));
                if other_heads > 0 {
                    report.cautions.push(format!(
                        "the journal has {other_heads} more ends with other states: branches that were not merged"
                    ));
                }
                // JSON is YAML in flow style.
                let path = subject.artifact.path();
                let bytes = file_with_state(path, &state.to_string(), body(&subject.artifact));
                let tracked = self.track(Artifact::read(path.clone(), bytes))?;
                (StateSource::Journal(Some(event.id)), said_by(&tracked, Some(event.at)))
            }
            Ok(None) => {
                let reason = "no event tells a state of this artifact".to_owned();
                (StateSource::Journal(None), SourceResult::Nothing { reason })
            }
            Err(error) => {
                (StateSource::Journal(None), SourceResult::Distrusted { reason: error.to_string() })
            }
        };
        report.sources.push(SourceReport { source, result });
        if let Ok(problems) = self.history().ask(History::problems)
            && !problems.is_empty()
        {
            report.cautions.push(format!(
                "{} lines of the journal cannot be used, so events may be missing: `stepmark doctor` shows them",
                problems.len()
            ));
        }
        Ok(())
    }

    /// The report of git's newest readable version.
    fn hear_git(
        &self,
        artifact: &Artifact,
        cautions: &mut Vec<String>,
    ) -> Result<SourceReport, ArtifactError> {
        let nothing = |reason: String| {
            Ok(SourceReport {
                source: StateSource::GitHistory(None),
                result: SourceResult::Nothing { reason },
            })
        };
        let limit = self.configuration().git_history.limit_ms;
        if limit.is_zero() {
            return nothing("the configuration turns it off (`git_history.limit_ms: 0`)".to_owned());
        }
        if !git_history::is_repository(self.root()) {
            return nothing("the project is in no repository".to_owned());
        }
        let path = artifact.path();
        let is_readable = |bytes: &[u8]| damage(&Artifact::read(path.clone(), bytes.to_vec())).is_none();
        let search = match git_history::newest_version(self.root(), path, limit, is_readable) {
            Ok(search) => search,
            Err(error) => {
                let result = SourceResult::Distrusted { reason: format!("git cannot be started: {error}") };
                return Ok(SourceReport { source: StateSource::GitHistory(None), result });
            }
        };
        if search.is_cut_off {
            cautions.push(format!(
                "git was asked for {} ms and cut off after {} versions of the file: older ones were not looked at \
                 (`git_history.limit_ms`)",
                limit.as_millis(),
                search.looked_at
            ));
        }
        let Some(version) = search.found else {
            return nothing(match (search.is_cut_off, search.looked_at) {
                (true, _) => "it was cut off before a readable version was found".to_owned(),
                (false, 0) => "the file was never committed".to_owned(),
                (false, count) => format!("none of {count} committed versions can be read"),
            });
        };
        let tracked = self.track(Artifact::read(path.clone(), version.bytes))?;
        let result = said_by(&tracked, Some(version.at));
        Ok(SourceReport { source: StateSource::GitHistory(Some(version.commit)), result })
    }

    /// Other sessions that began and never ended.
    fn hear_sessions(&self, report: &mut ResumeReport) {
        let own = self.attribution().session.as_ref().map(SessionId::as_str);
        match self.history().ask(History::sessions) {
            Ok(sessions) => {
                let open = sessions
                    .into_iter()
                    .filter(|session| session.end.is_none() && Some(session.id.as_str()) != own);
                report.sessions.extend(open.map(|session| InterruptedSession {
                    id: session.id,
                    event: session.last.id,
                    kind: session.last.kind.as_str().to_owned(),
                    at: session.last.at,
                    artifact: session.last.artifact.map(|artifact| artifact.path),
                }));
            }
            Err(error) => report.cautions.push(format!("other sessions are not known: {error}")),
        }
    }
}

impl Workspace {
    /// The artifact as history saw it last, without its body: it may be gone. `None` where nothing is known.
    pub fn last_known(&self, key: &ArtifactKey) -> Result<Option<TrackedArtifact>, HistoryError> {
        let last = self.history().ask(|history| {
            let Some(path) = history.places(key)?.pop() else { return Ok(None) };
            let heads = history.heads(key, &path)?;
            let ends = heads.iter().rev().map(|head| readable_state(history, head));
            Ok(ends
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .flatten()
                .next()
                .map(|(_, state)| (path, state)))
        })?;
        // JSON is YAML in flow style.
        let read = |(path, state): (_, Json)| {
            let bytes = file_with_state(&path, &state.to_string(), b"");
            self.track(Artifact::read(path, bytes)).ok()
        };
        Ok(last.and_then(read))
    }
}

/// The state after the latest head that has one.
fn last_state(
    history: &History,
    subject: &Subject,
    first: &ArtifactKey,
) -> Result<Option<LastState>, HistoryError> {
    let heads = heads_of(history, subject, first)?;
    let mut ends = Vec::new();
    for head in heads.iter().rev() {
        ends.extend(readable_state(history, head)?);
    }
    let Some((event, state)) = ends.first().cloned() else { return Ok(None) };
    let digest = |event: &Event| event.after.and_then(|after| after.state);
    let other_heads = ends.iter().filter(|(other, _)| digest(other) != digest(&event)).count();
    Ok(Some(LastState { event, state, other_heads }))
}

/// The state after `head`, or after the nearest event before it after which the file could be read.
fn readable_state(history: &History, head: &Event) -> Result<Option<(Event, Json)>, HistoryError> {
    let mut event = head.clone();
    for _ in 0..UNREADABLE_EVENTS {
        if event.kind != Kind::DELETE && event.after.is_some_and(|after| after.state.is_some()) {
            match history.state_after(event.id) {
                Ok(state) => return Ok(Some((event, state))),
                Err(HistoryError::Replay { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let Some(parent) = event.parents.first().copied() else { return Ok(None) };
        match known(history, parent)? {
            Some(parent) => event = parent,
            None => return Ok(None),
        }
    }
    Ok(None)
}

fn hear_children(artifacts: Result<Artifacts, WalkError>, subject: &Subject, report: &mut ResumeReport) {
    let artifacts = match artifacts {
        Ok(artifacts) => artifacts,
        Err(error) => {
            report.cautions.push(format!("delegations are not known: {error}"));
            return;
        }
    };
    if !artifacts.is_whole() {
        report.cautions.push("some artifacts cannot be read: delegations in them are not known".to_owned());
    }
    report
        .delegations
        .extend(artifacts.artifacts.iter().filter_map(|child| open_delegation(child, &subject.ids)));
}

fn open_delegation(child: &TrackedArtifact, parents: &[String]) -> Option<OpenDelegation> {
    let member = child.member();
    let is_child = member.parent_id().is_some_and(|parent| parents.iter().any(|own| own == parent));
    if !is_child || member.completion.is_finished() {
        return None;
    }
    let next = match said_by(child, None) {
        SourceResult::State { point, .. } => point.next,
        SourceResult::Unclear { .. } | SourceResult::Nothing { .. } | SourceResult::Distrusted { .. } => {
            Vec::new()
        }
    };
    Some(OpenDelegation { path: member.path, status: member.status, next })
}
