//! Points below points as nodes.

use serde_json::Value as Json;

use super::node;
use crate::ticket::{Entry, Inline, Mark};

pub(super) type Placed<'b> = (usize, &'b Entry);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Panel,
    /// A point of a list, which holds no tasks in every version of the format: their boxes are characters.
    Point,
}

type Item<'e, 'b> = (&'b Entry, &'e [Placed<'b>]);

/// `entries`, of which none stands higher than the first, as lists.
pub(super) fn lists(entries: &[Placed<'_>], within: Within, id: &mut dyn FnMut() -> String) -> Vec<Json> {
    let Some((top, _)) = entries.first() else { return Vec::new() };
    let items: Vec<Item<'_, '_>> = entries
        .chunk_by(|_, next| next.0 > *top)
        .filter_map(|item| item.split_first().map(|((_, entry), below)| (*entry, below)))
        .collect();
    let is_same = |one: &Item<'_, '_>, other: &Item<'_, '_>| kind(one.0, within) == kind(other.0, within);
    items
        .chunk_by(is_same)
        .flat_map(|items| match kind(items[0].0, within) {
            Kind::Tasks => tasks(items, id),
            kind => {
                let points = items.iter().map(|(entry, below)| {
                    let mut point = node::point(&text(entry));
                    if let Some(content) = point["content"].as_array_mut() {
                        content.extend(lists(below, Within::Point, id));
                    }
                    point
                });
                let points = points.collect();
                vec![match (kind, items[0].0.mark) {
                    (Kind::Numbered, Mark::Number(first)) => node::numbered(points, first),
                    _ => node::list(points),
                }]
            }
        })
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Points,
    Numbered,
    Tasks,
}

const fn kind(entry: &Entry, within: Within) -> Kind {
    match (entry.mark, within) {
        (Mark::Number(_), _) => Kind::Numbered,
        (Mark::Done | Mark::ToDo, Within::Panel) => Kind::Tasks,
        _ => Kind::Points,
    }
}

/// Tasks hold nothing but tasks: a list ends where something else stands below one.
fn tasks(items: &[Item<'_, '_>], id: &mut dyn FnMut() -> String) -> Vec<Json> {
    let (mut nodes, mut open) = (Vec::new(), Vec::new());
    for (entry, below) in items {
        open.push(node::task(&entry.text, entry.mark == Mark::Done, &id()));
        for list in lists(below, Within::Panel, id) {
            if list["type"] == "taskList" && !open.is_empty() {
                open.push(list);
                continue;
            }
            if !open.is_empty() {
                nodes.push(node::tasks(std::mem::take(&mut open), &id()));
            }
            nodes.push(list);
        }
    }
    if !open.is_empty() {
        nodes.push(node::tasks(open, &id()));
    }
    nodes
}

fn text(entry: &Entry) -> Vec<Inline> {
    let before = match entry.mark {
        Mark::Done => "☑ ",
        Mark::ToDo => "☐ ",
        Mark::Point | Mark::Number(_) => "",
    };
    std::iter::once(Inline::Text(before.to_owned())).chain(entry.text.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_stand_in_lists() {
        let entry =
            |depth: usize, mark: Mark| Entry { depth, mark, text: vec![Inline::Text("x".to_owned())] };
        let entries = [
            entry(0, Mark::Number(3)),
            entry(1, Mark::Done),
            entry(0, Mark::ToDo),
            entry(1, Mark::Done),
            entry(1, Mark::Point),
            entry(0, Mark::ToDo),
        ];
        let placed: Vec<Placed<'_>> = entries.iter().map(|entry| (entry.depth, entry)).collect();
        let mut count = 0;
        let mut id = || {
            count += 1;
            count.to_string()
        };
        let text = |text: &str| json!({"type": "text", "text": text});
        let point = |content: Vec<Json>| json!({"type": "listItem", "content": content});
        let line = |texts: Vec<Json>| json!({"type": "paragraph", "content": texts});
        let task = |id: &str, state: &str| json!({"type": "taskItem", "attrs": {"localId": id, "state": state}, "content": [text("x")]});
        let list = |id: &str, content: Vec<Json>| json!({"type": "taskList", "attrs": {"localId": id}, "content": content});
        let boxed =
            json!({"type": "bulletList", "content": [point(vec![line(vec![text("☑ "), text("x")])])]});
        let bullet = json!({"type": "bulletList", "content": [point(vec![line(vec![text("x")])])]});
        let expected = json!([
            {"type": "orderedList", "attrs": {"order": 3}, "content": [point(vec![line(vec![text("x")]), boxed])]},
            list("4", vec![task("1", "TODO"), list("3", vec![task("2", "DONE")])]),
            bullet,
            list("6", vec![task("5", "TODO")]),
        ]);
        assert_eq!(Json::from(lists(&placed, Within::Panel, &mut id)), expected);
    }
}
