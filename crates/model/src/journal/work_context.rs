//! The work that an event is a part of.

use serde::{Deserialize, Serialize};

use super::{Event, EventDraft};

const KEY: &str = "correlation";

/// The work that an event is a part of, by ids; each may be unsaid. It stands in the data of the event,
/// under `correlation`.
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
            // Texts in memory can be written.
            Err(_) => self,
        }
    }
}

impl Event {
    /// The work that it is a part of; nothing where it does not say, or not in a form that is known here.
    pub fn context(&self) -> WorkContext {
        let written = self.data.get(KEY).cloned().unwrap_or_default();
        serde_json::from_value(written).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
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
