//! The events, by session.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{Event, Kind},
};

use crate::wording::history;

/// A session, with its events that are among the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its name; `None` for what happened outside of sessions.
    pub name: Option<String>,
    /// Set where it has begun and not ended.
    pub is_open: bool,
    /// The time of the first of its events.
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    /// The actors, in the order of the names.
    pub actors: BTreeSet<String>,
    /// Its events, the last first.
    pub events: Vec<EventRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub id: String,
    pub at: Timestamp,
    pub actor: String,
    pub session: Option<String>,
    pub kind: String,
    pub path: Option<ProjectPath>,
    /// The changes, in words; the command where nothing in the frontmatter changed.
    pub what: String,
    pub reason: Option<String>,
}

impl EventRow {
    pub fn of(event: &Event) -> Self {
        let changes = Some(history::changes(&event.changes)).filter(|words| !words.is_empty());
        Self {
            id: history::short(event.id),
            at: event.at,
            actor: event.actor.to_string(),
            session: event.session.clone(),
            kind: event.kind.as_str().to_owned(),
            path: event.artifact.as_ref().map(|artifact| artifact.path.clone()),
            what: changes.or_else(|| event.command.clone()).unwrap_or_default(),
            reason: event.reason.clone(),
        }
    }
}

/// The sessions of `events` (the last first), the one that was last at work first.
pub(super) fn sessions(events: &[Event]) -> Vec<SessionRow> {
    let mut places: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut sessions: Vec<SessionRow> = Vec::new();
    for event in events {
        let name = event.session.as_deref();
        let place = *places.entry(name).or_insert_with(|| {
            sessions.push(SessionRow {
                name: name.map(str::to_owned),
                // The latest event that begins or ends it decides; the events come from the last to the
                // first.
                is_open: false,
                first_at: event.at,
                last_at: event.at,
                actors: BTreeSet::new(),
                events: Vec::new(),
            });
            sessions.len() - 1
        });
        let session = &mut sessions[place];
        session.first_at = session.first_at.min(event.at);
        session.last_at = session.last_at.max(event.at);
        session.actors.insert(event.actor.to_string());
        session.events.push(EventRow::of(event));
    }
    for session in &mut sessions {
        let mark = session.events.iter().find(|event| {
            [Kind::SESSION_START, Kind::SESSION_END].iter().any(|kind| kind.as_str() == event.kind)
        });
        session.is_open = mark.is_some_and(|event| event.kind == Kind::SESSION_START.as_str());
    }
    sessions
}
