//! Tiers after the frontmatter: checkpoints; then journal, git, delegations and other sessions.

use std::thread;
use stepmark_model::journal::ReplayError;

use serde_json::Value as Json;

use crate::repository::git_history::{self, Ancestry};
use crate::resuming::damage;
use crate::workspace::{Artifacts, Workspace, artifact_files};
use crate::{Error, ErrorKind, history::History};
use jiff::Timestamp;
use stepmark_frontmatter::Frontmatter;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, StateDigest, file_with_state},
    journal::{ArtifactKey, Event, EventId, Kind, SessionId},
    projection::checkpoint::{Checkpoint, surviving_keys},
    resume::{
        InterruptedSession, OpenDelegation, ResumeReport, SourceReport, SourceResult, StateSource, Tier,
    },
    spelling::with_causes,
};

/// Events searched back for a readable state.
const UNREADABLE_EVENTS: usize = 50;

pub(super) struct Look<'w> {
    workspace: &'w Workspace,
    artifact: Artifact,
    keys: Vec<ArtifactKey>,
    /// Ids in any state found: children name one as their parent.
    ids: Vec<String>,
    report: ResumeReport,
}

impl<'w> Look<'w> {
    pub(super) fn new(workspace: &'w Workspace, artifact: Artifact, report: ResumeReport) -> Self {
        let keys = surviving_keys(&artifact);
        let ids = artifact.state_value().map(|state| ids_of(&state)).unwrap_or_default();
        Self { workspace, artifact, keys, ids, report }
    }

    /// Looks at `least` at least, and no further than needed.
    pub(super) fn further(mut self, least: Tier) -> ResumeReport {
        while let Some(tier) = self.report.wanted(least) {
            match tier {
                Tier::Frontmatter => {}
                Tier::Checkpoint => self.look_at_checkpoints(),
                Tier::Everything => self.look_at_everything(),
            }
            self.report.tier = tier;
        }
        self.report
    }

    /// The newest, and all others if it is not trusted.
    fn look_at_checkpoints(&mut self) {
        let places = match self.workspace.checkpoints().of(&self.keys) {
            Ok(places) => places,
            Err(error) => {
                let result = SourceResult::distrusted(with_causes(&error));
                return self.report.add(StateSource::Checkpoint, None, result);
            }
        };
        if places.is_empty() {
            self.report.add(StateSource::Checkpoint, None, SourceResult::nothing("there is none"));
        }
        for place in places {
            let result = self.checkpoint(&place).unwrap_or_else(SourceResult::distrusted);
            let is_believed = matches!(result, SourceResult::State { .. });
            self.report.add(StateSource::Checkpoint, Some(place.to_string()), result);
            if is_believed {
                break;
            }
        }
    }

    fn checkpoint(&mut self, place: &ProjectPath) -> Result<SourceResult, String> {
        let checkpoint = self.workspace.checkpoints().at(place).map_err(|error| with_causes(&error))?;
        if checkpoint.path != *self.artifact.path() && !self.keys.contains(&checkpoint.key) {
            return Err(format!("it is one of `{}`", checkpoint.path));
        }
        if let Some(commit) = &checkpoint.git_commit {
            let short = commit.get(..12).unwrap_or(commit);
            match git_history::ancestry(self.workspace.root(), commit) {
                Ancestry::Ancestor => {}
                Ancestry::Stranger => {
                    return Err(format!(
                        "it was made at commit {short}, which is not in the history of what is checked out"
                    ));
                }
                Ancestry::Unknown(reason) => {
                    return Err(format!("its commit {short} cannot be looked up: {reason}"));
                }
            }
        }
        let read = Artifact::read(self.artifact.path().clone(), checkpoint.with_body(self.body()));
        self.ids.extend(read.state_value().map(|state| ids_of(&state)).unwrap_or_default());
        match self.workspace.history().ask(|history| self.gone_beyond(history, &checkpoint)) {
            Ok(Some(event)) => Err(format!(
                "it is outdated: the journal knows a later state, after event {} of {}",
                event.id, event.at
            )),
            Ok(None) => Ok(self.state_of(read, checkpoint.at)),
            Err(error) => Err(format!("it cannot be told whether it is outdated: {error}")),
        }
    }

    fn state_of(&self, read: Artifact, at: Timestamp) -> SourceResult {
        match self.workspace.track(read) {
            Ok(tracked) => SourceResult::of(&tracked, Some(at)),
            Err(error) => SourceResult::distrusted(with_causes(&error)),
        }
    }

    /// A later event with another state than the checkpoint's. Unreadable states do not count. Later in the
    /// journal's order; by the clock if the journal does not know the checkpoint.
    fn gone_beyond(&self, history: &History, checkpoint: &Checkpoint) -> Result<Option<Event>, Error> {
        let told = known(history, checkpoint.event)?;
        let is_beyond = |head: &Event| {
            let state = head.after.and_then(|after| after.state);
            let is_later = told.as_ref().map_or(head.at >= checkpoint.at, |told| head.n > told.n);
            is_later && state.is_some_and(|state: StateDigest| state != checkpoint.state_digest)
        };
        Ok(self.heads(history, Some(&checkpoint.key))?.into_iter().rev().find(is_beyond))
    }

    /// Under the first key that history knows.
    fn heads(&self, history: &History, first: Option<&ArtifactKey>) -> Result<Vec<Event>, Error> {
        for key in first.into_iter().chain(&self.keys) {
            let heads = history.heads(key, self.artifact.path())?;
            if !heads.is_empty() {
                return Ok(heads);
            }
        }
        Ok(Vec::new())
    }

    fn body(&self) -> &[u8] {
        let document = self.artifact.document();
        match document.frontmatter() {
            Frontmatter::Unclosed { opening } => &self.artifact.bytes()[opening.end..],
            Frontmatter::Present { .. } | Frontmatter::Absent => {
                &self.artifact.bytes()[document.body().range()]
            }
        }
    }

    fn look_at_everything(&mut self) {
        let (artifacts, (git, caution)) = thread::scope(|scope| {
            // Reading all artifacts and asking git are slowest, so they run in parallel.
            let artifacts = scope.spawn(|| {
                // Most artifacts are not children, and need not be parsed.
                let names_a_parent = |bytes: &[u8]| memchr::memmem::find(bytes, b"parent_id").is_some();
                artifact_files::read_where(self.workspace, &names_a_parent)
            });
            let git = self.git();
            (artifacts.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked)), git)
        });
        self.report.cautions.extend(caution);
        self.look_at_journal();
        self.report.sources.push(git);
        self.look_at_sessions();
        self.look_at_children(artifacts);
    }

    fn look_at_journal(&mut self) {
        let (event, result) = match self.workspace.history().ask(|history| self.last_states(history)) {
            Ok(states) => match states.first() {
                Some((event, state)) => {
                    let digest = |event: &Event| event.after.and_then(|after| after.state);
                    let others = states.iter().filter(|(other, _)| digest(other) != digest(event)).count();
                    if others > 0 {
                        self.report.cautions.push(format!(
                            "the journal has {others} more ends with other states: branches that were not merged"
                        ));
                    }
                    self.ids.extend(ids_of(state));
                    // JSON is YAML in flow style.
                    let path = self.artifact.path();
                    let bytes = file_with_state(path, &state.to_string(), self.body());
                    let read = Artifact::read(path.clone(), bytes);
                    (Some(event.id.to_string()), self.state_of(read, event.at))
                }
                None => (None, SourceResult::nothing("no event tells a state of this artifact")),
            },
            Err(error) => (None, SourceResult::distrusted(error.to_string())),
        };
        self.report.add(StateSource::Journal, event, result);
        if let Ok(problems) = self.workspace.history().ask(History::problems)
            && !problems.is_empty()
        {
            self.report.cautions.push(format!(
                "{} lines of the journal cannot be used, so events may be missing: `stepmark doctor` shows them",
                problems.len()
            ));
        }
    }

    /// The latest first; heads without a state are left out.
    fn last_states(&self, history: &History) -> Result<Vec<(Event, Json)>, Error> {
        let heads = self.heads(history, None)?;
        let states = heads.into_iter().rev().map(|head| readable_state(history, head));
        states.filter_map(Result::transpose).collect()
    }

    fn git(&self) -> (SourceReport, Option<String>) {
        let report = |name, result| SourceReport { source: StateSource::Git, name, result };
        let nothing = |reason: String| report(None, SourceResult::nothing(reason));
        let limit = self.workspace.configuration().git_history.limit_ms;
        if limit.is_zero() {
            let reason = "the configuration turns it off (`git_history.limit_ms: 0`)";
            return (nothing(reason.to_owned()), None);
        }
        if !git_history::is_repository(self.workspace.root()) {
            return (nothing("the project is in no repository".to_owned()), None);
        }
        let path = self.artifact.path();
        let is_readable = |bytes: &[u8]| damage(&Artifact::read(path.clone(), bytes.to_vec())).is_none();
        let search = match git_history::newest_version(self.workspace.root(), path, limit, is_readable) {
            Ok(search) => search,
            Err(error) => {
                let reason = format!("git cannot be started: {error}");
                return (report(None, SourceResult::distrusted(reason)), None);
            }
        };
        let caution = search.is_cut_off.then(|| {
            format!(
                "git was asked for {} ms and cut off after {} versions of the file: older ones were not looked at \
                 (`git_history.limit_ms`)",
                limit.as_millis(),
                search.looked_at
            )
        });
        let found = match (search.found, search.is_cut_off, search.looked_at) {
            (Some(version), ..) => {
                let read = Artifact::read(path.clone(), version.bytes);
                report(Some(version.commit), self.state_of(read, version.at))
            }
            (None, true, _) => nothing("it was cut off before a readable version was found".to_owned()),
            (None, false, 0) => nothing("the file was never committed".to_owned()),
            (None, false, count) => nothing(format!("none of {count} committed versions can be read")),
        };
        (found, caution)
    }

    fn look_at_sessions(&mut self) {
        let own = self.workspace.attribution().session.as_ref().map(SessionId::as_str);
        match self.workspace.history().ask(History::sessions) {
            Ok(mut sessions) => {
                sessions.retain(|session| session.end.is_none() && Some(session.id.as_str()) != own);
                self.report.sessions.extend(sessions.into_iter().map(|session| InterruptedSession {
                    id: session.id,
                    event: session.last.id,
                    kind: session.last.kind.as_str().to_owned(),
                    at: session.last.at,
                    artifact: session.last.artifact.map(|artifact| artifact.path),
                }));
            }
            Err(error) => self.report.cautions.push(format!("other sessions are not known: {error}")),
        }
    }

    fn look_at_children(&mut self, artifacts: Result<Artifacts, Error>) {
        let artifacts = match artifacts {
            Ok(artifacts) => artifacts,
            Err(error) => {
                return self.report.cautions.push(format!("delegations are not known: {error}"));
            }
        };
        if !artifacts.is_whole() {
            let caution = "some artifacts cannot be read: delegations in them are not known";
            self.report.cautions.push(caution.to_owned());
        }
        let children = artifacts.artifacts.iter().filter_map(|child| open_delegation(child, &self.ids));
        self.report.delegations.extend(children);
    }
}

impl Workspace {
    /// Without a body, since the file may be gone. `None` without history.
    pub fn last_known(&self, key: &ArtifactKey) -> Result<Option<TrackedArtifact>, Error> {
        let last = self.history().ask(|history| {
            let Some(path) = history.places(key)?.pop() else { return Ok(None) };
            for head in history.heads(key, &path)?.into_iter().rev() {
                if let Some((_, state)) = readable_state(history, head)? {
                    return Ok(Some((path, state)));
                }
            }
            Ok(None)
        })?;
        // JSON is YAML in flow style.
        let read = |(path, state): (_, Json)| {
            let bytes = file_with_state(&path, &state.to_string(), b"");
            self.track(Artifact::read(path, bytes)).ok()
        };
        Ok(last.and_then(read))
    }
}

/// After `event` or its nearest readable ancestor.
fn readable_state(history: &History, mut event: Event) -> Result<Option<(Event, Json)>, Error> {
    for _ in 0..UNREADABLE_EVENTS {
        if event.kind != Kind::DELETE && event.after.is_some_and(|after| after.state.is_some()) {
            match history.state_after(event.id) {
                Ok(state) => return Ok(Some((event, state))),
                Err(error) if error.detail::<ReplayError>().is_some() => {}
                Err(error) => return Err(error),
            }
        }
        let Some(parent) = event.parents.first() else { return Ok(None) };
        let Some(parent) = known(history, *parent)? else { return Ok(None) };
        event = parent;
    }
    Ok(None)
}

/// `None` if its segment is missing.
fn known(history: &History, id: EventId) -> Result<Option<Event>, Error> {
    match history.event(&id.to_string()) {
        Ok(event) => Ok(Some(event)),
        Err(error) if error.kind() == ErrorKind::Unknown => Ok(None),
        Err(error) => Err(error),
    }
}

fn open_delegation(child: &TrackedArtifact, parents: &[String]) -> Option<OpenDelegation> {
    let member = child.member();
    let is_child = member.parent_id().is_some_and(|parent| parents.iter().any(|own| own == parent));
    if !is_child || member.completion.is_finished() {
        return None;
    }
    let next = match SourceResult::of(child, None) {
        SourceResult::State { point, .. } => point.next,
        _ => Vec::new(),
    };
    Some(OpenDelegation { path: member.path, status: member.status, next })
}

fn ids_of(state: &Json) -> Vec<String> {
    let places = ["/delegation/id", "/id", "/stepmark_id"];
    let values = places.iter().filter_map(|place| state.pointer(place));
    let texts = values.filter_map(|value| match value {
        Json::String(text) if !text.is_empty() => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    });
    texts.collect()
}
