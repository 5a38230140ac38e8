//! What a document says, without how.

use serde_json::Value as Json;

use crate::tracker::jira::summary::length;

/// The text of a node, a line for each paragraph, heading, point or task.
pub(super) fn plain_text(node: &Json) -> String {
    let mut text = String::new();
    write(node, &mut text);
    text.trim_end().to_owned()
}

/// How many characters a node has for people: its texts and where its links lead. By it Jira's limit is guessed for what people
/// wrote, since the JSON is longer than what they see.
pub(super) fn text_length(node: &Json) -> usize {
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
