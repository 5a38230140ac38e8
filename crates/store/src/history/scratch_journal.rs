//! Journals for tests: a project folder, its segments written by hand, and events that lead from state to
//! state.

use std::{fs, path::PathBuf};

use serde_json::{Value as Json, json};

use crate::disk::root::Root;
use crate::history::{History, SegmentPlace};
use stepmark_frontmatter::diff;
use stepmark_model::artifact::{FileHash, ProjectPath, StateDigest};
use stepmark_model::journal::{
    Actor, ArtifactKey, ArtifactRef, Digests, Event, EventDraft, HashChain, Header, Kind, SegmentName,
};

pub(super) struct ScratchJournal {
    folder: tempfile::TempDir,
    pub(super) root: Root,
}

pub(super) struct Segment {
    file: PathBuf,
    chain: HashChain,
}

impl ScratchJournal {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        Self { folder, root }
    }

    pub(super) fn history(&self) -> History {
        History::open(&self.root).unwrap()
    }

    pub(super) fn place(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(super) fn file(&self, name: &str, place: SegmentPlace) -> PathBuf {
        self.place(&place.file_of(&self.root, &SegmentName::new(name).unwrap()))
    }

    pub(super) fn segment(&self, name: &str) -> Segment {
        let file = self.file(name, SegmentPlace::Live);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let (header, chain) = Header::new(&SegmentName::new(name).unwrap(), None).line();
        fs::write(&file, header).unwrap();
        Segment { file, chain }
    }

    pub(super) fn segment_of(&self, name: &str, events: &[Event]) -> Segment {
        let mut segment = self.segment(name);
        events.iter().for_each(|event| segment.append(event));
        segment
    }

    /// Moves a live segment to where it is written no more.
    pub(super) fn seal(&self, name: &str) {
        let target = self.file(name, SegmentPlace::Sealed);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::rename(self.file(name, SegmentPlace::Live), target).unwrap();
    }

    pub(super) fn compact(&self) {
        crate::commit::compact_segments(&self.root, crate::commit::FsyncPolicy::Never).unwrap();
    }
}

impl Segment {
    pub(super) fn append(&mut self, event: &Event) {
        let line = self.chain.add(event);
        self.append_bytes(&line);
    }

    pub(super) fn append_bytes(&self, bytes: &[u8]) {
        let mut file = fs::File::options().append(true).open(&self.file).unwrap();
        std::io::Write::write_all(&mut file, bytes).unwrap();
    }
}

pub(super) fn path(text: &str) -> ProjectPath {
    ProjectPath::new(text).unwrap()
}

pub(super) fn key(text: &str) -> ArtifactKey {
    serde_json::from_value(text.into()).unwrap()
}

pub(super) fn digests(state: &Json) -> Digests {
    Digests { file: FileHash::of(state.to_string().as_bytes()), state: Some(StateDigest::of(state)) }
}

pub(super) fn steps(count: usize) -> Json {
    json!({ "stepsCompleted": (1..=count).collect::<Vec<_>>() })
}

pub(super) fn event(
    (key_text, path_text): (&str, &str),
    parents: &[(&Event, &Json)],
    state: &Json,
    second: u64,
) -> Event {
    let start: jiff::Timestamp = "2026-11-22T10:00:00Z".parse().unwrap();
    let at = start + std::time::Duration::from_secs(second);
    let mut event = Event::new(EventDraft::new(Kind::CHANGE), Actor::human("Ada"), at);
    let before = parents.first().map_or_else(|| json!({}), |(_, state)| (*state).clone());
    event.changes = diff(&before, state);
    event.parents = parents.iter().map(|(parent, _)| parent.id).collect();
    event.n = parents.iter().map(|(parent, _)| parent.n).max().unwrap_or(0) + 1;
    event.after = Some(digests(state));
    let was = parents.first().and_then(|(parent, _)| parent.artifact.as_ref());
    let was = was.map(|artifact| artifact.key.clone()).filter(|was| was.as_str() != key_text);
    event.artifact = Some(ArtifactRef { key: key(key_text), path: path(path_text), was });
    if event.n.is_multiple_of(Event::SNAPSHOT_EVERY) || parents.is_empty() {
        event.snapshot = Some(state.clone());
    }
    event.sealed()
}

pub(super) fn chain(artifact: (&str, &str), count: usize) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for place in 0..count {
        let before = steps(place);
        let parents: Vec<_> = events.last().map(|last| (last, &before)).into_iter().collect();
        let next = event(artifact, &parents, &steps(place + 1), place as u64);
        events.push(next);
    }
    events
}

pub(super) fn in_session(mut event: Event, session: &str) -> Event {
    event.session = Some(session.to_owned());
    event.sealed()
}
