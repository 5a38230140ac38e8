//! Words for what changed.

use serde_json::Value as Json;

use stepmark_frontmatter::{Change, KeyPath, Operation, Segment};

const VALUE_LENGTH: usize = 48;
const CHANGES: usize = 8;

/// Shows changes on one line: `stepsCompleted + step-03-success, status draft → done`.
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

/// A value on one line as people write it, without the signs of JSON around lists and keys.
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

/// A value on one line, cut where it is long.
fn value(value: &Json) -> String {
    let text = value_in_words(value);
    if text.chars().count() <= VALUE_LENGTH {
        return text;
    }
    let kept: String = text.chars().take(VALUE_LENGTH - 1).collect();
    format!("{kept}…")
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
