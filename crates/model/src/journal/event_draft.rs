//! The caller's part of an event.

use super::{Event, EventId, Kind, Spelling};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{Change, KeyPath, Operation, Segment};

/// The caller's part of an event; the commit adds the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDraft {
    pub kind: Kind,
    /// As a person would type it.
    pub command: Option<String>,
    pub reason: Option<String>,
    pub data: Map<String, Json>,
    /// The reason to force the change against the lifecycle or open children; an [`Kind::OVERRIDE`] event
    /// before it keeps the reason.
    pub insistence: Option<String>,
    /// The caller has checked actor and dependencies, so nobody reads all artifacts again.
    pub is_decided: bool,
    /// Moves may change keys that an agent must not set.
    pub is_move: bool,
    /// Changes of the commit are undone together.
    pub is_in_one_decision: bool,
    /// The caller has checked open parts.
    pub knows_parts: bool,
    /// Restores recorded state that was changed outside of stepmark against the lifecycle.
    pub brings_back: bool,
    pub spelling: Option<Json>,
}

/// In the first event of a decision the number of artifacts, in the others the id of the first.
pub(super) const TOGETHER: &str = "together";

pub(super) const LOCAL: &str = "local";

impl EventDraft {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            command: None,
            reason: None,
            data: Map::new(),
            insistence: None,
            is_decided: false,
            is_move: false,
            is_in_one_decision: false,
            knows_parts: false,
            brings_back: false,
            spelling: None,
        }
    }

    #[must_use]
    pub fn with_command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    #[must_use]
    pub fn with_reason(mut self, reason: Option<String>) -> Self {
        self.reason = reason;
        self
    }

    #[must_use]
    pub fn insisting(mut self, reason: Option<String>) -> Self {
        self.insistence = reason;
        self
    }

    #[must_use]
    pub const fn decided(mut self) -> Self {
        self.is_decided = true;
        self.making_a_move()
    }

    #[must_use]
    pub const fn making_a_move(mut self) -> Self {
        self.is_move = true;
        self
    }

    #[must_use]
    pub const fn in_one_decision(mut self) -> Self {
        self.is_in_one_decision = true;
        self
    }

    #[must_use]
    pub const fn knowing_parts(mut self) -> Self {
        self.knows_parts = true;
        self
    }

    #[must_use]
    pub const fn bringing_back(mut self) -> Self {
        self.brings_back = true;
        self
    }

    /// `first` is `None` for the first event; it gets the `count` of artifacts.
    #[must_use]
    pub fn together(self, first: Option<EventId>, count: usize) -> Self {
        match first {
            _ if !self.is_in_one_decision || count < 2 => self,
            Some(first) => self.with(TOGETHER, first.to_string()),
            None => self.with(TOGETHER, count),
        }
    }

    /// Keeps the old spelling of changed frontmatter.
    #[must_use]
    pub fn keeping(mut self, spelling: Option<&Spelling>) -> Self {
        self.spelling = spelling.and_then(|spelling| serde_json::to_value(spelling).ok());
        self
    }

    /// Local events are in a segment that is never sealed.
    #[must_use]
    pub fn kept_local(self, is_local: bool) -> Self {
        if is_local { self.with(LOCAL, true) } else { self }
    }

    #[must_use]
    pub fn with(mut self, name: &str, fact: impl Into<Json>) -> Self {
        self.data.insert(name.to_owned(), fact.into());
        self
    }
}

const VALUE_LENGTH: usize = 48;
const CHANGES: usize = 8;

/// `stepsCompleted + step-03-success, status draft → done`, on one line.
pub fn changes_in_words(changes: &[Change]) -> String {
    let mut words: Vec<String> = changes.iter().take(CHANGES).map(change_in_words).collect();
    if changes.len() > CHANGES {
        words.push(format!("and {} more", changes.len() - CHANGES));
    }
    words.join(", ")
}

pub fn change_in_words(change: &Change) -> String {
    let (path, is_item) = match change.path.0.split_last() {
        Some((Segment::Index(_), list)) => (KeyPath(list.to_vec()), true),
        _ => (change.path.clone(), false),
    };
    let place = if path.0.is_empty() { "frontmatter".to_owned() } else { path.to_string() };
    match &change.op {
        Operation::Set { old, new } => {
            let place = if is_item { change.path.to_string() } else { place };
            format!("{place} {} → {}", value(old), value(new))
        }
        Operation::Insert { new } if is_item => format!("{place} + {}", value(new)),
        Operation::Remove { old } if is_item => format!("{place} − {}", value(old)),
        Operation::Insert { new } => format!("{place} = {}", value(new)),
        Operation::Remove { old } => format!("{place} removed ({})", value(old)),
    }
}

/// Without JSON's brackets and quotes around lists and keys.
pub fn value_in_words(value: &Json) -> String {
    match value {
        Json::String(text) if !text.is_empty() => text.clone(),
        Json::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Json::Array(items) => items.iter().map(value_in_words).collect::<Vec<_>>().join(", "),
        Json::Object(keys) if keys.is_empty() => "no keys".to_owned(),
        Json::Object(keys) => {
            let one = |(key, value): (&String, &Json)| format!("{key}: {}", value_in_words(value));
            format!("({})", keys.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn value(value: &Json) -> String {
    let text = value_in_words(value);
    if text.chars().count() <= VALUE_LENGTH {
        return text;
    }
    let kept: String = text.chars().take(VALUE_LENGTH - 1).collect();
    format!("{kept}…")
}

const KEY: &str = "correlation";

/// Ids of the surrounding work, in the event's data under `correlation`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkContext {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
}

impl EventDraft {
    #[must_use]
    pub fn within(self, context: &WorkContext) -> Self {
        if *context == WorkContext::default() {
            return self;
        }
        match serde_json::to_value(context) {
            Ok(written) => self.with(KEY, written),
            // Texts in memory can be serialised.
            Err(_) => self,
        }
    }
}

impl Event {
    pub fn context(&self) -> WorkContext {
        let written = self.data.get(KEY).cloned().unwrap_or_default();
        serde_json::from_value(written).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use stepmark_frontmatter::diff;

    #[test]
    fn changes_are_told_in_words() {
        for (old, new, wanted) in [
            (
                json!({"stepsCompleted": ["a"], "status": "draft"}),
                json!({"stepsCompleted": ["a", "step-03-success"], "status": "done"}),
                "stepsCompleted + step-03-success, status draft → done",
            ),
            (json!({"steps": [1, 2], "gone": null}), json!({"steps": [1]}), "steps − 2, gone removed (null)"),
            (json!({"a": {"b": [1]}}), json!({"a": {"b": [2]}, "c": ""}), "a.b[0] 1 → 2, c = \"\""),
            (json!({}), json!({"text": "x".repeat(60)}), &format!("text = {}…", "x".repeat(47))),
            (
                json!({}),
                json!({"list": ["a", 1], "delegation": {"id": "x", "deep": {"of": []}}}),
                "list = a, 1, delegation = (id: x, deep: (of: an empty list))",
            ),
            (json!({}), json!([]), "frontmatter no keys → an empty list"),
        ] {
            assert_eq!(changes_in_words(&diff(&old, &new)), wanted);
        }
        let many: Vec<usize> = (0..12).collect();
        assert!(
            changes_in_words(&diff(&json!({"a": []}), &json!({"a": many}))).ends_with("a + 7, and 4 more")
        );
    }
}

#[cfg(test)]
mod work_context_tests {
    use super::*;
    use crate::journal::{Actor, Kind};

    #[test]
    fn what_is_said_is_read_again() {
        let event = |draft: EventDraft| {
            let event = Event::new(draft, Actor::human("Ada"), "2026-11-25T10:00:00Z".parse().unwrap());
            serde_json::from_str::<Event>(&serde_json::to_string(&event.sealed()).unwrap()).unwrap()
        };
        let context =
            WorkContext { flow: Some("F".to_owned()), task: Some("T".to_owned()), ..WorkContext::default() };
        let told = event(EventDraft::new(Kind::CHANGE).within(&context));
        assert_eq!(told.data["correlation"], serde_json::json!({"flow": "F", "task": "T"}));
        assert_eq!((told.context(), told.is_genuine()), (context, true));
        let silent = event(EventDraft::new(Kind::CHANGE).within(&WorkContext::default()));
        assert!(silent.data.is_empty() && silent.context() == WorkContext::default());
        let other = event(EventDraft::new(Kind::CHANGE).with("correlation", "theirs"));
        assert_eq!(other.context(), WorkContext::default(), "another form");
    }
}
