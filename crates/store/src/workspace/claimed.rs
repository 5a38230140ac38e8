//! Rules between artifacts claimed by packs.

use std::{collections::BTreeSet, ops::Range};

use crate::{
    Error,
    commit::{self, LiveSegments, Seal},
    disk::{folder::Folder, walk::Visitor},
    workspace::{
        ProjectHistory, Workspace,
        artifact_files::{Reader, gathered, walk_artifacts},
    },
};
use serde_json::Value as Json;
use stepmark_model::{
    artifact::{Artifact, Kind, ProjectPath},
    journal::{Event, EventDraft, MOST_HEADS, SegmentName, SessionId},
    lifecycle::LifecycleSource,
    packs::{Peer, PeerFault, faults_between},
    spelling::{argument, with_causes},
    tracked_artifact::TrackedArtifact,
    transition::TransitionRefusal,
};

pub(crate) fn kind_of(artifact: &TrackedArtifact) -> Option<&Kind> {
    let choice = artifact.lifecycle().filter(|choice| choice.source == LifecycleSource::Declared)?;
    choice.kind.as_deref()
}

/// Each with its artifact's index.
pub(crate) fn between(all: &[TrackedArtifact]) -> Vec<(usize, PeerFault)> {
    let states: Vec<_> = all.iter().map(|own| own.artifact().state_value().unwrap_or_default()).collect();
    let members: Vec<_> = all.iter().map(TrackedArtifact::member).collect();
    let mut peers = Vec::new();
    for (place, own) in all.iter().enumerate() {
        let Some(kind) = kind_of(own) else { continue };
        peers.push((
            place,
            Peer {
                path: own.path().as_str(),
                id: members[place].id(),
                kind: (&kind.system, &kind.name),
                keys: &kind.keys,
                rules: &kind.rules,
                state: &states[place],
            },
        ));
    }
    let (places, peers): (Vec<usize>, Vec<Peer<'_>>) = peers.into_iter().unzip();
    faults_between(&peers).into_iter().map(|fault| (places[fault.place], fault)).collect()
}

struct Claimed<'w, F>(Reader<'w>, F);

impl<F: Fn(&ProjectPath) -> bool + Send> Visitor for Claimed<'_, F> {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        for place in places {
            if let Some(path) = self.0.candidate(folder, place).filter(&self.1) {
                self.0.look(folder, place, path);
            }
        }
    }
}

impl Workspace {
    pub(crate) fn may_be_claimed(&self, path: &ProjectPath) -> bool {
        let declared = self.configuration().lifecycles().declared();
        declared.iter().any(|own| own.kind.is_some() && own.may_apply_at(path))
    }

    /// Only kinds that are `is_asked`: other files are not read.
    pub(crate) fn claimed(&self, is_asked: impl Fn(&Kind) -> bool) -> Result<Vec<TrackedArtifact>, Error> {
        let declared = self.configuration().lifecycles().declared();
        if !declared.iter().any(|own| own.kind.as_deref().is_some_and(&is_asked)) {
            return Ok(Vec::new());
        }
        let walked = walk_artifacts(self, &|| {
            Claimed(Reader::new(self, &|_| true), |path: &ProjectPath| self.may_be_claimed(path))
        })?;
        let readers = walked.visitors.into_iter().map(|own| own.0).collect();
        let mut found = gathered(self, readers, walked.problems).artifacts;
        found.retain(|own| kind_of(own).is_some());
        Ok(found)
    }

    /// Refuses `new` if it contradicts other artifacts of its pack, and `old` did not.
    pub(crate) fn judge_peers(&self, old: Option<&Artifact>, new: &Artifact) -> Option<TransitionRefusal> {
        // Few packs have such rules.
        let declared = self.configuration().lifecycles().declared();
        if !declared.iter().any(|own| own.kind.as_deref().is_some_and(Kind::has_peers)) {
            return None;
        }
        let new = self.track(new.clone()).ok()?;
        let kind = kind_of(&new).filter(|kind| kind.has_peers())?;
        let [before, after] =
            [old, Some(new.artifact())].map(|own| own.and_then(|own| own.state_value().ok()));
        let value = |own: &Option<Json>, key: &str| own.as_ref().and_then(|own| own.get(key).cloned());
        let keys = kind.keys.iter().map(|(key, _)| &**key).chain(kind.rules.iter().map(|rule| &*rule.key.0));
        let changed: BTreeSet<&str> = keys.filter(|key| value(&before, key) != value(&after, key)).collect();
        if changed.is_empty() {
            return None;
        }
        let path = new.path().clone();
        let help = format!(
            "`stepmark check {}` says more; `--force --reason TEXT` writes it all the same",
            argument(path.as_str())
        );
        let mut all = match self.claimed(Kind::has_peers) {
            Ok(all) => all,
            Err(error) => return Some(TransitionRefusal::Record { reason: with_causes(&error), help }),
        };
        all.retain(|own| *own.path() != path);
        all.push(new.clone());
        let last = all.len() - 1;
        let (_, fault) = between(&all)
            .into_iter()
            .find(|(place, fault)| *place == last && changed.contains(&*fault.key))?;
        Some(TransitionRefusal::Record { reason: fault.to_string(), help })
    }
}

impl ProjectHistory<'_> {
    /// An event without artifact, as a session's start; flushed on return.
    pub fn append_event(&self, draft: EventDraft) -> Result<Event, Error> {
        let attribution = self.workspace.attribution();
        let mut event = Event::new(draft, attribution.actor.clone(), self.workspace.now());
        event.session = attribution.session.clone().map(String::from);
        event.correlation.clone_from(&attribution.correlation);
        let event = event.sealed();
        self.append(std::slice::from_ref(&event))?;
        Ok(event)
    }

    /// After finishing interrupted commits.
    pub fn append(&self, events: &[Event]) -> Result<(), Error> {
        commit::finish_interrupted(self.workspace.root(), self.workspace.commit_options())?;
        Ok(commit::append_events(self.workspace.root(), events, self.workspace.commit_options().fsync)?)
    }

    /// `None`: commands outside sessions.
    pub fn seal(&self, session: Option<&SessionId>) -> Result<Vec<SegmentName>, Error> {
        self.seal_live(LiveSegments::OfSession(session.map(SessionId::as_str)))
    }

    pub(crate) fn seal_live(&self, live: LiveSegments<'_>) -> Result<Vec<SegmentName>, Error> {
        let (root, options) = (self.workspace.root(), self.workspace.commit_options());
        commit::finish_interrupted(root, options)?;
        let seal = Seal { heads: self.ask(|history| history.tips(MOST_HEADS))?, at: self.workspace.now() };
        Ok(commit::seal_segments(root, live, seal, options.fsync)?)
    }
}
