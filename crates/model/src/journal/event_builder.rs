//! Events of a change, preceded by one for changes outside of stepmark.

use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use super::{Actor, ArtifactKey, ArtifactRef, Attribution, Digests, Event, EventDraft, EventId, Kind};
use crate::artifact::{Artifact, ProjectPath, StateDigest};
use stepmark_frontmatter::diff;

#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactState {
    pub key: ArtifactKey,
    pub digests: Option<Digests>,
    pub state: Option<Json>,
}

/// As recorded, before an event.
#[derive(Clone, Debug, PartialEq)]
pub enum PriorState {
    Unknown,
    /// Exactly the state of this event, times included.
    Known {
        event: Ancestor,
        /// `None`: the chain of events is incomplete.
        state: Option<Json>,
    },
    /// No known event led to it.
    Unexplained {
        heads: Vec<Event>,
        state: Option<Json>,
        /// An earlier event with the same state: an older text was written back.
        earlier: Option<EventId>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ancestor {
    pub id: EventId,
    pub n: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalAuthor {
    pub actor: Actor,
    pub commit: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct EventBuilder<'a> {
    pub attribution: &'a Attribution,
    pub now: Timestamp,
    pub path: &'a ProjectPath,
}

impl ArtifactState {
    pub fn of(path: &ProjectPath, bytes: Option<&[u8]>) -> Self {
        let Some(bytes) = bytes else {
            return Self { key: ArtifactKey::of_path(path), digests: None, state: None };
        };
        Self::of_artifact(&Artifact::read(path.clone(), bytes.to_vec()))
    }

    pub fn of_artifact(artifact: &Artifact) -> Self {
        let state = artifact.state_value().ok();
        let digests = Digests { file: artifact.file_hash(), state: state.as_ref().map(StateDigest::of) };
        Self { key: ArtifactKey::of(artifact), digests: Some(digests), state }
    }
}

impl EventBuilder<'_> {
    /// In order; the last event is the change itself. `author` made external changes, if there are any.
    pub fn events(
        &self,
        prior: PriorState,
        (old, new): (&ArtifactState, &ArtifactState),
        draft: EventDraft,
        author: ExternalAuthor,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        let by_others = |draft, heads: &[Event], state| {
            let (event, state) = self.by_external_author(draft, author, heads, state, old);
            let ancestor = Ancestor::of(&event);
            events.push(event);
            (vec![ancestor], state)
        };
        let (parents, state) = match prior {
            PriorState::Known { event, state } => (vec![event], state),
            PriorState::Unknown if old.digests.is_none() => (Vec::new(), Some(empty())),
            PriorState::Unknown => by_others(EventDraft::new(Kind::FIRST_SEEN), &[], Some(empty())),
            PriorState::Unexplained { heads, state, earlier } => {
                let mut draft = EventDraft::new(Kind::EXTERNAL_EDIT);
                if let Some(earlier) = earlier {
                    draft = draft.with("earlier", earlier.to_string());
                }
                by_others(draft, &heads, state)
            }
        };
        let mut event = Event::new(draft, self.attribution.actor.clone(), self.now);
        event.before = old.digests;
        if old.digests.is_some() && new.digests.is_some() && old.key != new.key {
            event.artifact = Some(self.reference(new, Some(old.key.clone())));
        }
        let key_after = if new.digests.is_some() { new } else { old };
        let event = self.filled(event, &parents, state, key_after, new).0;
        events.push(event);
        events
    }

    fn by_external_author(
        &self,
        mut draft: EventDraft,
        author: ExternalAuthor,
        heads: &[Event],
        state: Option<Json>,
        version: &ArtifactState,
    ) -> (Event, Option<Json>) {
        if let Some(commit) = author.commit {
            draft = draft.with("commit", commit);
        }
        let mut event = Event::new(draft, author.actor, self.now);
        event.before = heads.last().and_then(|head| head.after);
        // The latest head comes first: changes are relative to it.
        let parents: Vec<Ancestor> = heads.iter().rev().map(Ancestor::of).collect();
        self.filled(event, &parents, state, version, version)
    }

    fn filled(
        &self,
        mut event: Event,
        parents: &[Ancestor],
        state: Option<Json>,
        key: &ArtifactState,
        after: &ArtifactState,
    ) -> (Event, Option<Json>) {
        let next = match (&after.state, after.digests) {
            (Some(state), _) => Some(state.clone()),
            (None, None) => Some(empty()),
            // Unreadable frontmatter does not change the known state.
            (None, Some(_)) => state.clone(),
        };
        event.session = self.attribution.session.clone().map(String::from);
        event.correlation.clone_from(&self.attribution.correlation);
        event.parents = parents.iter().map(|parent| parent.id).collect();
        let longest = parents.iter().map(|parent| parent.n).max().unwrap_or(0);
        event.n = longest + 1;
        event.after = after.digests;
        event.artifact.get_or_insert_with(|| self.reference(key, None));
        let is_cut = state.is_none();
        if let (Some(state), Some(next)) = (&state, &next) {
            event.changes = diff(state, next);
        }
        let passes_snapshot = parents
            .first()
            .is_none_or(|parent| parent.n / Event::SNAPSHOT_EVERY != event.n / Event::SNAPSHOT_EVERY);
        if passes_snapshot || is_cut || parents.len() > 1 {
            event.snapshot.clone_from(&next);
        }
        (event.sealed(), next)
    }

    fn reference(&self, version: &ArtifactState, was: Option<ArtifactKey>) -> ArtifactRef {
        ArtifactRef { key: version.key.clone(), path: self.path.clone(), was }
    }
}

impl Ancestor {
    pub const fn of(event: &Event) -> Self {
        Self { id: event.id, n: event.n }
    }
}

impl PriorState {
    pub fn heads(&self) -> Vec<EventId> {
        match self {
            Self::Unknown => Vec::new(),
            Self::Known { event, .. } => vec![event.id],
            Self::Unexplained { heads, .. } => heads.iter().map(|head| head.id).collect(),
        }
    }
}

impl ExternalAuthor {
    pub fn unknown() -> Self {
        Self { actor: Actor::unknown(), commit: None }
    }
}

fn empty() -> Json {
    Json::Object(Map::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Lineage;

    fn path() -> ProjectPath {
        ProjectPath::new("docs/prd.md").unwrap()
    }

    fn version(file: &str) -> ArtifactState {
        ArtifactState::of(&path(), Some(file.as_bytes()))
    }

    fn file(frontmatter: &str) -> String {
        format!("---\n{frontmatter}\n---\n")
    }

    /// A history that is told of files one after the other, as a project would.
    #[derive(Default)]
    struct Project {
        events: Vec<Event>,
    }

    impl Project {
        fn prior(&self, now: &ArtifactState) -> PriorState {
            let lineage = Lineage::new(self.events.clone());
            let alike = |event: &&Event| Digests::are_same_state(event.after, now.digests);
            let heads: Vec<Event> = lineage.heads().into_iter().cloned().collect();
            let state = |id| lineage.state_after(id).ok();
            let known = heads.iter().rev().find(alike).or_else(|| lineage.events().iter().rev().find(alike));
            match (known, heads.last()) {
                (Some(event), _) => PriorState::Known { state: state(event.id), event: Ancestor::of(event) },
                (None, Some(head)) => PriorState::Unexplained { state: state(head.id), heads, earlier: None },
                (None, None) => PriorState::Unknown,
            }
        }

        fn change(&mut self, old: Option<&str>, new: Option<&str>) -> Vec<Kind> {
            let (path, attribution) = (path(), Attribution::of(Actor::human("Ada")));
            let builder = EventBuilder {
                attribution: &attribution,
                now: "2026-11-22T10:00:00Z".parse().unwrap(),
                path: &path,
            };
            let versions = [old, new].map(|file| ArtifactState::of(&path, file.map(str::as_bytes)));
            let prior = self.prior(&versions[0]);
            let draft = EventDraft::new(Kind::CHANGE);
            let events =
                builder.events(prior, (&versions[0], &versions[1]), draft, ExternalAuthor::unknown());
            let kinds = events.iter().map(|event| event.kind.clone()).collect();
            self.events.extend(events);
            let lineage = Lineage::new(self.events.clone());
            assert_eq!(lineage.verify(), []);
            assert!(self.events.iter().all(Event::is_genuine));
            kinds
        }
    }

    #[test]
    fn what_was_there_before_is_told_first() {
        let mut project = Project::default();
        let (one, two) = (file("stepsCompleted: [1]"), file("stepsCompleted: [1, 2]"));
        assert_eq!(project.change(Some(&one), Some(&two)), [Kind::FIRST_SEEN, Kind::CHANGE]);
        assert_eq!(project.events[0].changes.len(), 1);
        assert_eq!(project.events[1].parents, [project.events[0].id]);
        let (edited, three) = (file("stepsCompleted: [1, 9]"), file("stepsCompleted: [1, 9, 3]"));
        assert_eq!(project.change(Some(&edited), Some(&three)), [Kind::EXTERNAL_EDIT, Kind::CHANGE]);
        // Times, comments and bodies are no state.
        let touched = file("stepsCompleted: [1, 9, 3] # three\nupdated: 2026-11-22") + "# Body\n";
        let four = file("stepsCompleted: [1, 9, 3, 4]\nupdated: 2026-11-22");
        assert_eq!(project.change(Some(&touched), Some(&four)), [Kind::CHANGE]);
        assert_eq!(Lineage::new(project.events).heads().len(), 1);
    }

    #[test]
    fn after_a_checkout_the_earlier_event_is_the_parent() {
        let mut project = Project::default();
        let [one, two, other] = ["a: 1", "a: 2", "a: 3"].map(file);
        project.change(None, Some(&one));
        project.change(Some(&one), Some(&two));
        assert_eq!(project.change(Some(&one), Some(&other)), [Kind::CHANGE]);
        assert_eq!(project.events[2].parents, [project.events[0].id]);
        assert_eq!(Lineage::new(project.events).heads().len(), 2);
    }

    #[test]
    fn a_damaged_file_has_no_state_but_a_history() {
        let mut project = Project::default();
        let (good, broken, fixed) = (file("a: 1"), "---\na: [1\n---\n".to_owned(), file("a: 2"));
        project.change(None, Some(&good));
        assert_eq!(project.change(Some(&broken), Some(&fixed)), [Kind::EXTERNAL_EDIT, Kind::CHANGE]);
        assert_eq!(project.events[1].after.unwrap().state, None);
        assert!(project.events[1].changes.is_empty());
        let again = project.change(Some(&broken), Some(&good));
        assert_eq!(again, [Kind::CHANGE], "the same damage is known");
    }

    #[test]
    fn creation_removal_and_new_identity() {
        let mut project = Project::default();
        let (plain, tracked) = (file("a: 1"), file("a: 1\nstepmark_id: x"));
        assert_eq!(project.change(None, Some(&plain)), [Kind::CHANGE]);
        project.change(Some(&plain), Some(&tracked));
        let artifact = project.events[1].artifact.clone().unwrap();
        assert_eq!((artifact.key.as_str(), artifact.was.unwrap().as_str()), ("id:x", "path:docs/prd.md"));
        project.change(Some(&tracked), None);
        let gone = &project.events[2];
        assert_eq!((gone.after, gone.artifact.as_ref().unwrap().key.as_str()), (None, "id:x"));
        assert_eq!(Lineage::new(project.events.clone()).state_after(gone.id).unwrap(), empty());
    }

    #[test]
    fn a_snapshot_is_never_far() {
        let mut project = Project::default();
        let files: Vec<String> = (0..130).map(|count| file(&format!("a: {count}"))).collect();
        project.change(None, Some(&files[0]));
        for pair in files.windows(2) {
            project.change(Some(&pair[0]), Some(&pair[1]));
        }
        let with: Vec<u64> =
            project.events.iter().filter(|event| event.snapshot.is_some()).map(|event| event.n).collect();
        assert_eq!(with, [1, 50, 100]);
    }

    #[test]
    fn where_the_way_is_cut_a_snapshot_starts_anew() {
        let (path, attribution) = (path(), Attribution::of(Actor::human("Ada")));
        let now = "2026-11-22T10:00:00Z".parse().unwrap();
        let builder = EventBuilder { attribution: &attribution, now, path: &path };
        let mut project = Project::default();
        let [one, two] = ["a: 1", "a: 2"].map(file);
        project.change(None, Some(&one));
        let event = Box::new(project.events[0].clone());
        let prior = PriorState::Known { event: Ancestor::of(&event), state: None };
        let events = builder.events(
            prior,
            (&version(&one), &version(&two)),
            EventDraft::new(Kind::CHANGE),
            ExternalAuthor::unknown(),
        );
        assert_eq!((events[0].changes.len(), events[0].snapshot.as_ref()), (0, version(&two).state.as_ref()));
        assert_eq!(Lineage::new(events).verify(), []);
    }
}
