//! Our part of a description.

use std::collections::BTreeSet;

use super::{
    normal_form, plain_text,
    render::{length, render},
    text_length,
};
use crate::{
    Result,
    ticket::{Inline, Marker, Ticket, no_room},
    tracker::jira::issue::spelled,
};
use serde_json::{Value as Json, json};

/// Characters (docs/formats.md, "Trackers"). Jira does not say what it counts: of our part all JSON counts,
/// of people's, which Jira has accepted, the text.
pub(in crate::tracker::jira) const DESCRIPTION_LIMIT: usize = 32_767;

/// A smaller section could not even link to the file.
const LEAST_ROOM: usize = 1_500;

/// Before the marker in the last line of our panel.
const SIGNATURE: &str = "stepmark:v1:";

/// Before the labels in that line.
const LABELS: &str = "stepmark:labels: ";

const NO_DOCUMENT: &str = "the description is no document of Atlassian's format, version 1";

#[derive(Clone, Debug, PartialEq)]
pub(in crate::tracker::jira) struct Description(Vec<Json>);

#[derive(Clone, Copy, Debug)]
pub(in crate::tracker::jira) struct Section<'t>(pub(in crate::tracker::jira) &'t Ticket);

impl Description {
    /// Null is an empty description.
    pub(in crate::tracker::jira) fn read(value: &Json) -> Result<Self, String> {
        if value.is_null() {
            return Ok(Self::empty());
        }
        let is_document = value["type"] == "doc" && value["version"] == 1;
        match value["content"].as_array().filter(|_| is_document) {
            Some(nodes) => Ok(Self(nodes.clone())),
            None => Err(NO_DOCUMENT.to_owned()),
        }
    }

    pub(in crate::tracker::jira) const fn empty() -> Self {
        Self(Vec::new())
    }

    pub(in crate::tracker::jira) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::empty());
        }
        Self::read(&serde_json::from_str(text).map_err(|_| NO_DOCUMENT)?)
    }

    pub(in crate::tracker::jira) fn json(&self) -> Json {
        document(self.0.clone())
    }

    pub(in crate::tracker::jira) fn section_text(&self, marker: &Marker) -> Option<String> {
        self.0.iter().find(|node| is_section_of(node, marker)).map(plain_text)
    }

    pub(in crate::tracker::jira) fn is_alone(&self, marker: &Marker) -> bool {
        self.0.iter().all(|node| is_section_of(node, marker))
    }

    /// As our panel says; other labels are people's.
    pub(in crate::tracker::jira) fn labels_named(&self, marker: &Marker) -> BTreeSet<String> {
        let panels = self.0.iter().filter(|node| is_section_of(node, marker));
        // Above the last line stands what the artifact says.
        let lines = panels.filter_map(|panel| panel["content"].as_array()?.last());
        let texts = lines.flat_map(|line| line["content"].as_array().into_iter().flatten());
        let named = texts.filter_map(|text| text["text"].as_str()?.strip_prefix(LABELS));
        named.flat_map(str::split_whitespace).map(str::to_owned).collect()
    }
}

impl Section<'_> {
    /// A new panel stands first; duplicates become one; a panel without its last line is a person's.
    pub(in crate::tracker::jira) fn merged_into(&self, description: &Description) -> Result<Description> {
        let marker = &self.0.marker;
        let foreign: Vec<&Json> = description.0.iter().filter(|node| !is_section_of(node, marker)).collect();
        let written = foreign.iter().map(|node| text_length(node)).sum::<usize>();
        let room = DESCRIPTION_LIMIT.checked_sub(written).filter(|room| *room >= LEAST_ROOM);
        let Some(room) = room else {
            return Err(no_room(written, DESCRIPTION_LIMIT));
        };
        let panel = self.panel(room);
        let at = description.0.iter().position(|node| is_section_of(node, marker)).unwrap_or(0);
        let mut nodes: Vec<Json> = foreign.into_iter().cloned().collect();
        nodes.insert(at.min(nodes.len()), panel);
        Ok(Description(nodes))
    }

    /// `None` if `description` says it already.
    pub(in crate::tracker::jira) fn renewed(&self, description: &Description) -> Result<Option<Description>> {
        let wanted = self.merged_into(description)?;
        let is_same = wanted.0.iter().map(normal_form).eq(description.0.iter().map(normal_form));
        Ok((!is_same).then_some(wanted))
    }

    fn panel(&self, room: usize) -> Json {
        let mut signature = vec![
            Inline::Text(
                "stepmark keeps this panel and overwrites changes to it; what is written below stays. "
                    .to_owned(),
            ),
            Inline::Code(signature(&self.0.marker)),
        ];
        let labels = self.0.labels.iter().filter(|label| **label != self.0.marker.label());
        let labels: Vec<String> = labels.map(|label| spelled(label)).collect();
        if !labels.is_empty() {
            let labels = format!("{LABELS}{}", labels.join(" "));
            signature.extend([Inline::Text(" ".to_owned()), Inline::Code(labels)]);
        }
        let signature = paragraph(&signature);
        let overhead = length(&[panel(vec![signature.clone()]), document(Vec::new())]);
        let content = render(&self.0.body, &self.0.file, room.saturating_sub(overhead));
        panel(content.nodes.into_iter().chain([signature]).collect())
    }
}

fn signature(marker: &Marker) -> String {
    format!("{SIGNATURE}{marker}")
}

/// A panel in which a paragraph names `marker` as code.
fn is_section_of(node: &Json, marker: &Marker) -> bool {
    let wanted = signature(marker);
    let children = |node: &Json| node["content"].as_array().cloned().unwrap_or_default();
    let is_code = |text: &Json| {
        let mut marks = text["marks"].as_array().into_iter().flatten();
        text["text"] == wanted.as_str() && marks.any(|mark| mark["type"] == "code")
    };
    node["type"] == "panel"
        && children(node)
            .iter()
            .filter(|child| child["type"] == "paragraph")
            .any(|line| children(line).iter().any(is_code))
}

impl From<Description> for String {
    fn from(description: Description) -> Self {
        if description.0.is_empty() { Self::new() } else { description.json().to_string() }
    }
}

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

/// `id` is unique in the document.
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

/// No empty runs. The format allows no control characters, and no line ends in a text.
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

#[cfg(test)]
mod tests {
    use proptest::prop_assert_eq;
    use serde_json::json;

    use super::*;
    use crate::ticket::sample::ticket;

    fn of(nodes: Vec<Json>) -> Description {
        Description::read(&json!({ "version": 1, "type": "doc", "content": nodes })).unwrap()
    }

    fn text(text: &str) -> Json {
        json!({"type": "paragraph", "content": [{"type": "text", "text": text}]})
    }

    #[test]
    fn what_people_wrote_is_kept() {
        let ticket = ticket("a", |_| {});
        let section = Section(&ticket);
        let own = section.merged_into(&of(vec![])).unwrap().0[0].clone();
        let old = {
            let mut old = own.clone();
            old["content"][0] = text("old");
            old
        };
        let strange = json!({"type": "mediaSingle", "attrs": {"layout": "x"}, "content": [{"type": "media", "attrs": {"id": "1"}}]});
        let other = {
            let theirs = crate::ticket::sample::ticket("b", |_| {});
            Section(&theirs).merged_into(&of(vec![])).unwrap().0[0].clone()
        };
        let unsigned = json!({"type": "panel", "attrs": {"panelType": "note"}, "content": [text("mine")]});
        for (existing, expected) in [
            (vec![], vec![own.clone()]),
            (vec![text("x")], vec![own.clone(), text("x")]),
            (vec![text("x"), old.clone(), strange.clone()], vec![text("x"), own.clone(), strange.clone()]),
            (vec![old.clone(), text("x"), old.clone()], vec![own.clone(), text("x")]),
            (vec![other.clone()], vec![own.clone(), other.clone()]),
            (vec![unsigned.clone()], vec![own.clone(), unsigned.clone()]),
        ] {
            let merged = section.merged_into(&of(existing.clone())).unwrap();
            assert_eq!(merged.0, expected, "{existing:?}");
            assert_eq!(section.renewed(&merged).unwrap(), None);
            assert!(section.renewed(&of(existing)).unwrap().is_some());
        }
        assert_eq!(of(vec![text("x")]).section_text(&ticket.marker), None);
        assert_eq!(
            of(vec![own.clone()]).labels_named(&ticket.marker),
            ["scope:large", "status:draft", "workflow:prd"].map(str::to_owned).into()
        );
        let said = of(vec![own]).section_text(&ticket.marker).unwrap();
        assert!(said.contains("- Status: draft\n") && said.contains("\nSteps\n[x] "), "{said}");
    }

    #[test]
    fn a_description_without_room_is_refused() {
        let ticket = ticket("a", |_| {});
        let full = of(vec![text(&"x".repeat(DESCRIPTION_LIMIT - 1000))]);
        let error = Section(&ticket).merged_into(&full).unwrap_err().to_string();
        assert!(error.contains("shorten that text"), "{error}");
    }

    #[test]
    fn a_long_body_is_cut() {
        let long = ticket("a", |facts| {
            facts.inputs = (0..2000)
                .map(|at| {
                    stepmark_model::artifact::ProjectPath::new(format!("docs/some/input-{at}.md")).unwrap()
                })
                .collect();
        });
        let made = Section(&long).merged_into(&of(vec![text("mine")])).unwrap();
        let length = crate::tracker::jira::issue::length(&made.json().to_string());
        assert!((32_000..=DESCRIPTION_LIMIT + 100).contains(&length), "{length}");
        assert!(made.section_text(&long.marker).unwrap().contains("more lines: see docs/a.md"));
        assert_eq!(Section(&long).renewed(&made).unwrap(), None);
    }

    #[test]
    fn what_is_no_document_is_not_written_over() {
        for strange in
            [json!("text"), json!({"type": "doc"}), json!({"version": 2, "type": "doc", "content": []})]
        {
            assert!(Description::read(&strange).is_err(), "{strange}");
        }
        assert_eq!(Description::parse("").unwrap(), Description::read(&Json::Null).unwrap());
        assert!(Description::parse("no JSON").is_err());
    }

    proptest::proptest! {
        /// Nothing that an artifact says ends the section or forges another one.
        #[test]
        fn merging_again_changes_nothing(title in ".{0,30}", words in "(stepmark:v1:p/id:[ab]|x|\n){0,5}") {
            let ticket = ticket("a", |facts| {
                facts.next = vec![title.clone(), words.clone()];
                facts.status = Some(words.clone());
            });
            let first = Section(&ticket).merged_into(&of(vec![text("mine")])).unwrap();
            prop_assert_eq!(Section(&ticket).renewed(&first).unwrap(), None);
            prop_assert_eq!(first.0.len(), 2);
            let text = String::from(first.clone());
            prop_assert_eq!(Description::parse(&text), Ok(first));
        }
    }
}
