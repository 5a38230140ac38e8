//! Nodes of the format (Atlassian's JSON schema of ADF, version 1).

use serde_json::{Value as Json, json};

use crate::ticket::Inline;

pub(super) fn document(content: Vec<Json>) -> Json {
    json!({ "version": 1, "type": "doc", "content": content })
}

pub(super) fn paragraph(inlines: &[Inline]) -> Json {
    json!({ "type": "paragraph", "content": texts(inlines) })
}

pub(super) fn heading(text: &str) -> Json {
    let text = Inline::Text(text.to_owned());
    json!({ "type": "heading", "attrs": { "level": 3 }, "content": texts(&[text]) })
}

pub(super) fn point(inlines: &[Inline]) -> Json {
    json!({ "type": "listItem", "content": [paragraph(inlines)] })
}

pub(super) fn list(points: Vec<Json>) -> Json {
    json!({ "type": "bulletList", "content": points })
}

/// A list of points with numbers, of which the first is `first`.
pub(super) fn numbered(points: Vec<Json>, first: u64) -> Json {
    match first {
        1 => json!({ "type": "orderedList", "content": points }),
        _ => json!({ "type": "orderedList", "attrs": { "order": first }, "content": points }),
    }
}

pub(super) fn code_block(text: &str) -> Json {
    let clean: String =
        text.chars().filter(|letter| matches!(letter, '\n' | '\t') || !letter.is_control()).collect();
    match clean.is_empty() {
        true => json!({ "type": "codeBlock" }),
        false => json!({ "type": "codeBlock", "content": [{ "type": "text", "text": clean }] }),
    }
}

/// A task; `id` is another one for each task of a document.
pub(super) fn task(inlines: &[Inline], done: bool, id: &str) -> Json {
    let state = if done { "DONE" } else { "TODO" };
    json!({ "type": "taskItem", "attrs": { "localId": id, "state": state }, "content": texts(inlines) })
}

pub(super) fn tasks(tasks: Vec<Json>, id: &str) -> Json {
    json!({ "type": "taskList", "attrs": { "localId": id }, "content": tasks })
}

pub(super) fn panel(content: Vec<Json>) -> Json {
    json!({ "type": "panel", "attrs": { "panelType": "note" }, "content": content })
}

/// Runs of text; a text must not be empty. Control characters have no place in the format, and a line end
/// inside of a text would be lost.
fn texts(inlines: &[Inline]) -> Vec<Json> {
    let nodes = inlines.iter().filter_map(|inline| {
        let text: String =
            inline.shown().chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        if text.is_empty() {
            return None;
        }
        let mut node = json!({ "type": "text", "text": text });
        let mark = match inline {
            Inline::Text(_) => None,
            Inline::Strong(_) => Some(json!({ "type": "strong" })),
            Inline::Code(_) => Some(json!({ "type": "code" })),
            Inline::Link { url, .. } => Some(json!({ "type": "link", "attrs": { "href": url } })),
        };
        if let Some(mark) = mark {
            node["marks"] = json!([mark]);
        }
        Some(node)
    });
    nodes.collect()
}
