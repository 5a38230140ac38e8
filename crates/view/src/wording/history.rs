//! Words for what history tells.

use serde_json::Value as Json;
use stepmark_core::{
    document::{Change, KeyPath, Operation, Segment},
    journal::{Event, EventId},
};

/// How many characters of a value are shown.
const VALUE_LENGTH: usize = 48;
/// How many changes are shown on one line.
const CHANGES: usize = 8;
/// How many digits of an id are shown: of a million events, two in some thousand journals begin alike.
const ID_DIGITS: usize = 12;

/// The beginning of an event's id.
pub fn short(id: EventId) -> String {
    id.to_string().chars().take(ID_DIGITS).collect()
}

/// What changed, on one line: `stepsCompleted + step-03-success, status draft → done`.
pub fn changes(changes: &[Change]) -> String {
    let mut words: Vec<String> = changes.iter().take(CHANGES).map(change).collect();
    if changes.len() > CHANGES {
        words.push(format!("and {} more", changes.len() - CHANGES));
    }
    words.join(", ")
}

/// One change in words.
pub fn change(change: &Change) -> String {
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

/// A value on one line, cut where it is long.
fn value(value: &Json) -> String {
    let text = match value {
        Json::String(text) if !text.is_empty() => text.clone(),
        other => other.to_string(),
    };
    if text.chars().count() <= VALUE_LENGTH {
        return text;
    }
    let kept: String = text.chars().take(VALUE_LENGTH - 1).collect();
    format!("{kept}…")
}

/// When, who, and in which session.
pub fn origin(event: &Event) -> String {
    let session = event.session.as_ref().map(|session| format!("  [{session}]")).unwrap_or_default();
    format!("{}  {}{session}", event.at, event.actor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use stepmark_core::document::diff;

    use super::*;

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
            (json!({}), json!([]), "frontmatter {} → []"),
        ] {
            assert_eq!(changes(&diff(&old, &new)), wanted);
        }
        let many: Vec<usize> = (0..12).collect();
        assert!(changes(&diff(&json!({"a": []}), &json!({"a": many}))).ends_with("a + 7, and 4 more"));
    }
}
