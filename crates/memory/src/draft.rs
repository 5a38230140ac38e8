//! A memory before it is an event.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use stepmark_model::journal::{EventDraft, Kind};

use crate::{Decision, MemoryKind, MemoryType};
use stepmark_sync::{Error, ErrorKind, Result, secret::secret_in};

pub const TOLD: &str = "memory";
pub(crate) const SUPERSEDED: &str = "memory-superseded";
const LIMIT: usize = 16 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// Else a decision if there is one, else a learning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<MemoryKind>,
    /// Unless it is the default of the kind.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    pub content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The finder, unless that is the actor of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Draft {
    pub fn of_decision(decision: Decision, rationale: Option<String>) -> Self {
        let content = format!("{} {}", decision.question.trim(), decision.chosen.trim());
        Self { content, rationale, decision: Some(decision), ..Self::default() }
    }

    /// `is_local` keeps it in this clone.
    pub fn event(&self, is_local: bool) -> Result<EventDraft> {
        let refused = |message: String| Error::new(ErrorKind::Refused, message);
        if self.content.trim().is_empty() {
            return Err(refused("there is nothing to remember: the text is empty".to_owned()));
        }
        let is_share = |number: f64| (0.0..=1.0).contains(&number);
        for (name, number) in [("importance", self.importance), ("confidence", self.confidence)] {
            if number.is_some_and(|number| !is_share(number)) {
                return Err(refused(format!("`{name}` is a number from 0 to 1")));
            }
        }
        let told = serde_json::to_value(self).unwrap_or_default();
        let size = told.to_string().len();
        if size > LIMIT {
            let message = format!(
                "{size} bytes are too much to remember, {LIMIT} is the most: long text belongs in a document"
            );
            return Err(refused(message));
        }
        if let Some(rule) = texts(&told).into_iter().find_map(secret_in) {
            let message =
                format!("the text holds a secret ({rule}): it is not remembered, and stands nowhere");
            return Err(refused(message).with_help("say where the secret is kept instead"));
        }
        Ok(EventDraft::new(Kind::of(TOLD)).with("memory", told).kept_local(is_local))
    }
}

pub fn supersession(id: &str, by: &str, is_local: bool) -> EventDraft {
    EventDraft::new(Kind::of(SUPERSEDED)).with("superseded", id).with("by", by).kept_local(is_local)
}

fn texts(value: &Json) -> Vec<&str> {
    match value {
        Json::String(text) => vec![text],
        Json::Array(items) => items.iter().flat_map(texts).collect(),
        Json::Object(entries) => entries.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_remembered() {
        let draft = |content: &str| Draft { content: content.to_owned(), ..Draft::default() };
        let refusal = |draft: Draft| draft.event(true).unwrap_err().message;
        assert!(refusal(draft(" \n")).contains("the text is empty"));
        assert!(refusal(draft(&"x".repeat(17_000))).contains("too much to remember"));
        let key = format!("AWS: {}{}", "AKIA", "IOSFODNN7EXAMPLE");
        let decision = Decision { question: "Which key?".to_owned(), chosen: key, alternatives: Vec::new() };
        let refused = refusal(Draft::of_decision(decision, None));
        assert!(refused.contains("holds a secret"), "{refused}");
        assert!(draft("fine").event(false).is_ok());
    }
}
