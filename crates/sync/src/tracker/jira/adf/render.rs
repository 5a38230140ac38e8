//! Renders the body of a ticket as nodes.

use serde_json::Value as Json;

use super::section;
use crate::{
    ticket::{Block, Entry, Inline, Mark, Task, cut, depths, shortened},
    tracker::jira::issue::length as text_length,
};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rendered {
    pub(super) nodes: Vec<Json>,
    pub(super) omitted_lines: usize,
}

const LIST_OVERHEAD: usize = 100;

const LONGEST_ID: &str = "stepmark-999999";

enum Line<'b> {
    Node(Json),
    Point(&'b [Inline]),
    Task(&'b Task),
    Entry(usize, Placed<'b>),
}

/// At most `room` characters of JSON. Lines are dropped from the end, and a last paragraph links to `file`.
/// Very long blocks are shortened.
pub(super) fn render(blocks: &[Block], file: &Inline, room: usize) -> Rendered {
    let lines = lines(blocks);
    let whole = assembled(&lines);
    if length(&whole) <= room {
        return Rendered { nodes: whole, omitted_lines: 0 };
    }
    let (blocks, shortened_lines) = shortened(blocks, room);
    let lines = self::lines(&blocks);
    let note = |omitted: usize| {
        let text = Inline::Text(format!("… {omitted} more lines: see "));
        section::paragraph(&[text, file.clone()])
    };
    let reserved = text_length(&note(lines.len() + shortened_lines).to_string()) + 1;
    let mut used = reserved;
    let length_of = |at: usize| cost(&lines[at], at.checked_sub(1).map(|before| &lines[before]));
    let fitting = (0..lines.len()).take_while(|at| {
        used += length_of(*at);
        used <= room
    });
    let kept = fitting.count();
    let is_heading = |line: &Line<'_>| matches!(line, Line::Node(node) if node["type"] == "heading");
    let mut kept = cut(kept, length_of, |at| is_heading(&lines[at]));
    while kept > 0 && is_heading(&lines[kept - 1]) {
        kept -= 1;
    }
    let omitted_lines = lines.len() - kept + shortened_lines;
    let mut nodes = assembled(&lines[..kept]);
    nodes.push(note(omitted_lines));
    Rendered { nodes, omitted_lines }
}

fn lines(blocks: &[Block]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        match block {
            Block::Heading(text) => lines.push(Line::Node(section::heading(text))),
            Block::Paragraph(inlines) => lines.push(Line::Node(section::paragraph(inlines))),
            Block::List(points) => lines.extend(points.iter().map(|point| Line::Point(point))),
            Block::Tasks(tasks) => lines.extend(tasks.iter().map(Line::Task)),
            Block::Outline(entries) => {
                let placed = depths(entries).into_iter().zip(entries);
                lines.extend(placed.map(|placed| Line::Entry(at, placed)));
            }
            Block::Code(text) => lines.push(Line::Node(section::code_block(text))),
        }
    }
    lines
}

fn assembled<'b>(lines: &[Line<'b>]) -> Vec<Json> {
    let (mut nodes, mut count) = (Vec::new(), 0_usize);
    let mut id = || {
        count += 1;
        format!("stepmark-{count}")
    };
    for group in lines.chunk_by(is_same_list) {
        match group {
            [Line::Node(node)] => nodes.push(node.clone()),
            [Line::Entry(..), ..] => {
                let entry = |line: &Line<'b>| match line {
                    Line::Entry(_, placed) => Some(*placed),
                    _ => None,
                };
                let entries: Vec<Placed<'_>> = group.iter().filter_map(entry).collect();
                nodes.extend(lists(&entries, Within::Panel, &mut id));
            }
            [Line::Point(_), ..] => {
                let point = |line: &Line<'b>| match line {
                    Line::Point(point) => Some(section::point(point)),
                    _ => None,
                };
                nodes.push(section::list(group.iter().filter_map(point).collect()));
            }
            _ => {
                let list = id();
                let tasks = group.iter().filter_map(|line| match line {
                    Line::Task(task) => Some(section::task(&task.text, task.done, &id())),
                    _ => None,
                });
                let tasks = tasks.collect();
                nodes.push(section::tasks(tasks, &list));
            }
        }
    }
    nodes
}

/// At most, with the separator to the next line. The first line of a list includes the list.
fn cost(line: &Line<'_>, before: Option<&Line<'_>>) -> usize {
    let item = match line {
        Line::Node(node) => return length(std::slice::from_ref(node)),
        Line::Point(point) => section::point(point),
        Line::Task(task) => section::task(&task.text, task.done, LONGEST_ID),
        // Any of them may begin a list.
        Line::Entry(_, (_, entry)) => {
            return length(&[section::point(&entry.text)]) + LIST_OVERHEAD;
        }
    };
    let begins = !before.is_some_and(|before| is_same_list(line, before));
    length(&[item]) + if begins { LIST_OVERHEAD } else { 0 }
}

const fn is_same_list(one: &Line<'_>, other: &Line<'_>) -> bool {
    match (one, other) {
        (Line::Point(_), Line::Point(_)) | (Line::Task(_), Line::Task(_)) => true,
        (Line::Entry(one, _), Line::Entry(other, _)) => *one == *other,
        _ => false,
    }
}

pub(super) fn length(nodes: &[Json]) -> usize {
    nodes.iter().map(|node| text_length(&node.to_string()) + 1).sum()
}

type Placed<'b> = (usize, &'b Entry);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Panel,
    /// Lists hold no tasks in some versions of the format: their boxes are characters.
    Point,
}

type Item<'e, 'b> = (&'b Entry, &'e [Placed<'b>]);

/// No entry is higher than the first.
fn lists(entries: &[Placed<'_>], within: Within, id: &mut dyn FnMut() -> String) -> Vec<Json> {
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
                    let mut point = section::point(&text(entry));
                    if let Some(content) = point["content"].as_array_mut() {
                        content.extend(lists(below, Within::Point, id));
                    }
                    point
                });
                let points = points.collect();
                vec![match (kind, items[0].0.mark) {
                    (Kind::Numbered, Mark::Number(first)) => section::numbered(points, first),
                    _ => section::list(points),
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

/// Tasks hold only tasks: a list ends where something else is below one.
fn tasks(items: &[Item<'_, '_>], id: &mut dyn FnMut() -> String) -> Vec<Json> {
    let (mut nodes, mut open) = (Vec::new(), Vec::new());
    for (entry, below) in items {
        open.push(section::task(&entry.text, entry.mark == Mark::Done, &id()));
        for list in lists(below, Within::Panel, id) {
            if list["type"] == "taskList" && !open.is_empty() {
                open.push(list);
                continue;
            }
            if !open.is_empty() {
                nodes.push(section::tasks(std::mem::take(&mut open), &id()));
            }
            nodes.push(list);
        }
    }
    if !open.is_empty() {
        nodes.push(section::tasks(open, &id()));
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
    use proptest::prop_assert;
    use serde_json::json;

    use super::*;

    fn file() -> Inline {
        Inline::Code("a.md".to_owned())
    }

    #[test]
    fn blocks_become_nodes() {
        let text = |text: &str| vec![Inline::Text(text.to_owned())];
        let blocks = [
            Block::Paragraph(text("p\nq")),
            Block::Heading("Steps".to_owned()),
            Block::Tasks(vec![Task { done: true, text: text("a") }, Task { done: false, text: text("b") }]),
            Block::List(vec![vec![
                Inline::Strong("Next:".to_owned()),
                Inline::Text(String::new()),
                Inline::Code("c".to_owned()),
                Inline::Link { text: "f".to_owned(), url: "https://h/f".to_owned() },
            ]]),
        ];
        let expected = serde_json::json!([
            {"type": "paragraph", "content": [{"type": "text", "text": "p q"}]},
            {"type": "heading", "attrs": {"level": 3}, "content": [{"type": "text", "text": "Steps"}]},
            {"type": "taskList", "attrs": {"localId": "stepmark-1"}, "content": [
                {"type": "taskItem", "attrs": {"localId": "stepmark-2", "state": "DONE"}, "content": [{"type": "text", "text": "a"}]},
                {"type": "taskItem", "attrs": {"localId": "stepmark-3", "state": "TODO"}, "content": [{"type": "text", "text": "b"}]}]},
            {"type": "bulletList", "content": [{"type": "listItem", "content": [{"type": "paragraph", "content": [
                {"type": "text", "text": "Next:", "marks": [{"type": "strong"}]},
                {"type": "text", "text": "c", "marks": [{"type": "code"}]},
                {"type": "text", "text": "f", "marks": [{"type": "link", "attrs": {"href": "https://h/f"}}]}]}]}]},
        ]);
        assert_eq!(Json::from(render(&blocks, &file(), 10_000).nodes), expected);
    }

    #[test]
    fn what_has_no_room_is_in_the_file() {
        let task = |at: usize| Task { done: false, text: vec![Inline::Code(format!("step-{at:03}"))] };
        let blocks = [Block::Heading("Steps".to_owned()), Block::Tasks((0..100).map(task).collect())];
        let cut = render(&blocks, &file(), 3000);
        let tasks = cut.nodes[1]["content"].as_array().unwrap().len();
        assert_eq!((cut.omitted_lines, cut.nodes.len()), (100 - tasks, 3));
        assert!(tasks > 8, "{tasks}");
        assert!(cut.nodes[2].to_string().contains(&format!("… {} more lines: see ", 100 - tasks)));
        assert_eq!(render(&blocks, &file(), 350).nodes.len(), 1, "no heading without its list");
    }

    proptest::proptest! {
        #[test]
        fn never_longer_than_allowed(texts in proptest::collection::vec(".{0,80}", 0..30), room in 200_usize..4000) {
            let inlines = |text: &String| vec![Inline::Text(text.clone())];
            let marks = [Mark::Point, Mark::ToDo, Mark::Number(12), Mark::Done];
            let entry = |at: usize, text| Entry { depth: at * 7 % 5, mark: marks[at % 4], text };
            let blocks = [
                Block::Tasks(texts.iter().map(|text| Task { done: false, text: inlines(text) }).collect()),
                Block::Heading("h".to_owned()),
                Block::Outline(texts.iter().enumerate().map(|(at, text)| entry(at, inlines(text))).collect()),
                Block::Code(texts.concat()),
                Block::List(texts.iter().map(inlines).collect()),
            ];
            let made = render(&blocks, &file(), room);
            prop_assert!(length(&made.nodes) <= room, "{} > {room}", length(&made.nodes));
        }
    }

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
