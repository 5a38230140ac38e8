//! The label and the property by which an issue is known. Pure.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::ticket::{Marker, Stamp};

pub(super) const PROPERTY: &str = "stepmark";

#[derive(Deserialize)]
struct Value {
    version: u32,
    marker: Marker,
    #[serde(default)]
    from: String,
}

/// The property of an issue of `marker`, as a request gives it (OpenAPI, schema `EntityProperty`).
pub(super) fn property(marker: &Marker, stamp: &Stamp) -> Json {
    json!({ "key": PROPERTY, "value": { "version": 1, "marker": marker, "from": stamp.to_string() } })
}

/// The marker among the properties of an issue. One that stepmark would not have written is none.
pub(super) fn marker_in(properties: &Map<String, Json>) -> Option<(Marker, Stamp)> {
    let value = Value::deserialize(properties.get(PROPERTY)?).ok()?;
    (value.version == 1).then(|| (value.marker, Stamp::read(&value.from)))
}

/// `label` without blanks, which Jira refuses ("The label … contains spaces which is invalid").
pub(super) fn spelled(label: &str) -> String {
    label.chars().map(|letter| if letter.is_whitespace() { '_' } else { letter }).collect()
}

pub(super) fn all_spelled(labels: &BTreeSet<String>) -> BTreeSet<String> {
    labels.iter().map(|label| spelled(label)).collect()
}

/// The JQL that finds the issues of a Jira project with a label, the oldest first: what is made meanwhile
/// comes last.
pub(super) fn jql(project: &str, label: Option<&str>) -> String {
    let labelled = label.map(|label| format!(" AND labels = {}", quoted(label))).unwrap_or_default();
    format!("project = {}{labelled} ORDER BY created ASC, key ASC", quoted(project))
}

/// A text of JQL (Atlassian's "JQL fields": quotes and backslashes are escaped by a backslash).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::sample::marker;

    #[test]
    fn is_read_as_it_is_written() {
        let written = property(&marker("a b"), &Stamp::read("commit=0a"))["value"].clone();
        let of = |value: Json| marker_in(&Map::from_iter([(PROPERTY.to_owned(), value)]));
        assert_eq!(of(written), Some((marker("a b"), Stamp::read("commit=0a"))));
        for strange in [
            json!(null),
            json!("p/id:a"),
            json!({ "version": 2, "marker": "p/id:a" }),
            json!({ "version": 1, "marker": "p/id:a b" }),
            json!({ "version": 1 }),
        ] {
            assert_eq!(of(strange.clone()), None, "{strange}");
        }
        assert_eq!(marker_in(&Map::new()), None);
    }

    #[test]
    fn labels_have_no_blanks_and_searches_no_surprise() {
        assert_eq!(spelled("status:in review\u{a0}now"), "status:in_review_now");
        assert_eq!(
            jql("ABC", Some("stepmark:a\" OR \\")),
            r#"project = "ABC" AND labels = "stepmark:a\" OR \\" ORDER BY created ASC, key ASC"#
        );
    }
}
