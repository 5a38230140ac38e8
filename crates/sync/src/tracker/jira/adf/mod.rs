//! Bodies in Atlassian's document format (ADF), in which Jira keeps descriptions. Pure.
//!
//! What is ours stands in one panel at the top of the description, whose last line names the marker: a person
//! sees where stepmark writes, and writes elsewhere. All other nodes are kept as they are, of whatever kind.

mod render;
mod section;

use serde_json::{Map, Value as Json};

use crate::tracker::jira::issue::length;

pub(super) use section::{Description, Section};

pub(super) fn paragraph_document(text: &str) -> serde_json::Value {
    section::document(vec![section::paragraph(&[crate::ticket::Inline::Text(text.to_owned())])])
}

/// Without what editors change: ids of nodes, attributes of links but the target, empty lists of marks, split
/// texts, and the order of marks.
fn normal_form(node: &Json) -> Json {
    let Some(object) = node.as_object() else { return node.clone() };
    let mut normal = Map::new();
    for (name, value) in object {
        match (name.as_str(), value) {
            ("content", Json::Array(nodes)) if !nodes.is_empty() => {
                normal.insert(name.clone(), Json::from(joined(nodes)));
            }
            ("marks", Json::Array(marks)) if !marks.is_empty() => {
                let mut marks: Vec<Json> = marks.iter().map(mark).collect();
                marks.sort_by_key(|mark| mark["type"].as_str().map(str::to_owned));
                normal.insert(name.clone(), Json::from(marks));
            }
            ("content" | "marks", _) => {}
            ("attrs", Json::Object(attributes)) => {
                let kept = attributes.iter().filter(|(name, value)| *name != "localId" && !value.is_null());
                let kept: Map<String, Json> =
                    kept.map(|(name, value)| (name.clone(), value.clone())).collect();
                if !kept.is_empty() {
                    normal.insert(name.clone(), Json::Object(kept));
                }
            }
            _ => drop(normal.insert(name.clone(), value.clone())),
        }
    }
    Json::Object(normal)
}

fn mark(mark: &Json) -> Json {
    match mark["type"].as_str() {
        Some("link") => serde_json::json!({ "type": "link", "attrs": { "href": mark["attrs"]["href"] } }),
        _ => normal_form(mark),
    }
}

fn joined(nodes: &[Json]) -> Vec<Json> {
    let mut joined: Vec<Json> = Vec::new();
    for node in nodes.iter().map(normal_form) {
        match joined.last_mut() {
            Some(last)
                if last["type"] == "text" && node["type"] == "text" && last["marks"] == node["marks"] =>
            {
                let text =
                    [&last["text"], &node["text"]].map(|text| text.as_str().unwrap_or_default()).concat();
                last["text"] = Json::from(text);
            }
            _ => joined.push(node),
        }
    }
    joined
}

fn plain_text(node: &Json) -> String {
    let mut text = String::new();
    write(node, &mut text);
    text.trim_end().to_owned()
}

/// Visible characters and link targets: an estimate of Jira's count for people's text, since the JSON is
/// longer.
fn text_length(node: &Json) -> usize {
    let own = node["text"].as_str().map_or(0, length);
    let marks = node["marks"].as_array().into_iter().flatten();
    let links = marks.filter_map(|mark| mark["attrs"]["href"].as_str()).map(length);
    let within = node["content"].as_array().into_iter().flatten().map(text_length);
    own + links.sum::<usize>() + within.sum::<usize>() + usize::from(node["content"].is_array())
}

fn write(node: &Json, out: &mut String) {
    match node["type"].as_str() {
        Some("text") => out.push_str(node["text"].as_str().unwrap_or_default()),
        Some("hardBreak") => out.push('\n'),
        Some("taskItem") => out.push_str(if node["attrs"]["state"] == "DONE" { "[x] " } else { "[ ] " }),
        Some("listItem") => out.push_str("- "),
        Some("heading") if !out.is_empty() => out.push('\n'),
        _ => {}
    }
    for child in node["content"].as_array().into_iter().flatten() {
        write(child, out);
    }
    let is_line = matches!(node["type"].as_str(), Some("paragraph" | "heading" | "taskItem" | "codeBlock"));
    if is_line && !out.is_empty() {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_editor_adds_does_not_count() {
        let own = json!({"type": "paragraph", "content": [
            {"type": "text", "text": "ab", "marks": [{"type": "link", "attrs": {"href": "u"}}, {"type": "strong"}]}]});
        let edited = json!({"type": "paragraph", "attrs": {"localId": "1", "x": null}, "marks": [], "content": [
            {"type": "text", "text": "a", "marks": [{"type": "strong"}, {"type": "link", "attrs": {"href": "u", "title": "t"}}]},
            {"type": "text", "text": "b", "marks": [{"type": "strong"}, {"type": "link", "attrs": {"href": "u"}}]}]});
        assert_eq!(normal_form(&own), normal_form(&edited));
        for other in [
            json!({"type": "paragraph", "content": [{"type": "text", "text": "ab"}]}),
            json!({"type": "paragraph"}),
            json!({"type": "heading", "attrs": {"level": 2}, "content": own["content"]}),
        ] {
            assert_ne!(normal_form(&own), normal_form(&other));
        }
        let task = |state: &str| json!({"type": "taskItem", "attrs": {"localId": "x", "state": state}});
        assert_ne!(normal_form(&task("TODO")), normal_form(&task("DONE")));
    }
}
