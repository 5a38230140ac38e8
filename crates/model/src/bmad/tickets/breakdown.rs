//! `tickets.toml`: the plan of an initiative or an epic, in build order.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    ops::Range,
};

use serde::Serialize;
use stepmark_frontmatter::Span;
use toml_edit::{Document, Item, Table, TableLike, Value};

use super::{TicketFault, TicketProblem, folder::is_leaf_type, slug};
use crate::artifact::ProjectPath;

pub const BREAKDOWN_NAME: &str = "tickets.toml";

pub(super) fn list_in(folder: &ProjectPath) -> ProjectPath {
    folder.join(BREAKDOWN_NAME).unwrap_or_else(|_| folder.clone())
}

/// Permanent id of an entry: a number, or letters and digits (`6a`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum TicketId {
    Number(i64),
    Text(String),
}

impl TicketId {
    /// `6` and `"6"` are equal; `true` and `false` are not ids.
    pub fn read(text: &str) -> Option<Self> {
        let is_id = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match text.parse() {
            _ if !is_id || matches!(text, "true" | "false") => None,
            Ok(number) => Some(Self::Number(number)),
            Err(_) => Some(Self::Text(text.to_owned())),
        }
    }

    /// `6` of `6a`.
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => {
                let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
                text[..end].parse().ok()
            }
        }
    }
}

impl fmt::Display for TicketId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Text(text) => text.fmt(out),
        }
    }
}

/// As written. A bare number is a neighbour's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) text: String,
    pub(super) is_number: bool,
    pub(super) span: Span,
}

/// Mostly empty for a ticket without an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) id: Option<TicketId>,
    pub(super) id_span: Span,
    pub(super) kind: String,
    pub(super) title: String,
    pub(super) after: Vec<Reference>,
    pub(super) covers: Vec<String>,
    pub(super) estimate: serde_json::Value,
    pub(super) risk: String,
    pub(super) unknown: String,
    pub(super) is_hitl: bool,
    pub(super) is_refine: bool,
    pub(super) v6_key: String,
    pub(super) plan_checkpoint: bool,
    pub(super) done_checkpoint: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ListedEpic {
    pub(super) id: TicketId,
    pub(super) slug: String,
    /// Epics it waits for, with the part it needs.
    pub(super) after: Vec<(Reference, String)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Breakdown {
    pub(super) entries: Vec<Entry>,
    pub(super) epics: Vec<ListedEpic>,
    pub(super) next_id: i64,
}

struct Reader<'r> {
    path: &'r ProjectPath,
    /// Length of the byte order mark, which spans do not count.
    start: usize,
    problems: &'r mut Vec<TicketProblem>,
}

impl Breakdown {
    pub(super) fn read(path: &ProjectPath, bytes: &[u8], problems: &mut Vec<TicketProblem>) -> Self {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = Reader { path, start: bytes.len() - text.len(), problems };
        let Ok(text) = std::str::from_utf8(text) else {
            reader.tell(None, "it is not UTF-8".to_owned());
            return Self::default();
        };
        match Document::parse(text) {
            Ok(document) => reader.read(document.as_table()),
            Err(error) => {
                reader.tell(error.span(), format!("it is no TOML: {}", error.message()));
                Self::default()
            }
        }
    }
}

/// For former versions of the file.
pub fn titles_of_entries(bytes: &[u8], path: &ProjectPath) -> HashMap<TicketId, String> {
    let entries = Breakdown::read(path, bytes, &mut Vec::new()).entries;
    entries.into_iter().filter_map(|entry| Some((entry.id?, entry.title))).collect()
}

/// No common word, so not two spellings of one title.
pub fn are_unlike(one: &str, other: &str) -> bool {
    let (one, other) = (slug(one), slug(other));
    let words: HashSet<&str> = one.split('-').collect();
    other.split('-').all(|word| !words.contains(word))
}

type Row<'t> = (&'t dyn TableLike, Option<Range<usize>>);

impl Reader<'_> {
    fn read(&mut self, root: &Table) -> Breakdown {
        let next_id = root.get("next_id").and_then(Item::as_integer).unwrap_or_default();
        let (mut read, mut ids) = (Breakdown { next_id, ..Breakdown::default() }, HashSet::new());
        for row in self.rows(root.get("entry"), "entry") {
            let Some(id) = self.id(&row, "entry") else { continue };
            if ids.insert(id.clone()) {
                let entry = self.entry(&row, id);
                read.entries.push(entry);
            } else {
                self.tell(span_of(&row, "id"), format!("two entries have the id {id}; the first counts"));
            }
        }
        let (mut by_id, mut by_slug) = (HashMap::new(), HashSet::new());
        for row in self.rows(root.get("epic"), "epic") {
            let Some(id) = self.id(&row, "epic") else { continue };
            let slug = text_of(row.0.get("slug"));
            let twin = by_slug.get(&slug).or_else(|| by_id.get(&id));
            if let Some(twin) = twin {
                let message =
                    format!("the epics `{twin}` and `{slug}` have one id or name; the first counts");
                self.tell(span_of(&row, "id"), message);
            } else if slug.is_empty() {
                self.tell(row.1, format!("the epic {id} has no `slug`"));
            } else {
                let after = self.epic_after(&row);
                by_id.insert(id.clone(), slug.clone());
                by_slug.insert(slug.clone());
                read.epics.push(ListedEpic { id, slug, after });
            }
        }
        read
    }

    fn rows<'t>(&mut self, item: Option<&'t Item>, name: &str) -> Vec<Row<'t>> {
        let rows = match item {
            None => Some(Vec::new()),
            Some(Item::ArrayOfTables(tables)) => {
                Some(tables.iter().map(|own| (own as &dyn TableLike, own.span())).collect())
            }
            Some(Item::Value(Value::Array(values))) => {
                let row = |value: &'t Value| Some((value.as_inline_table()? as &dyn TableLike, value.span()));
                values.iter().map(row).collect()
            }
            Some(_) => None,
        };
        rows.unwrap_or_else(|| {
            let message = format!("`{name}` must be tables: `[[{name}]]`, one for each");
            self.tell(item.and_then(Item::span), message);
            Vec::new()
        })
    }

    fn id(&mut self, row: &Row<'_>, name: &str) -> Option<TicketId> {
        let item = row.0.get("id");
        let number = item.and_then(Item::as_integer).map(TicketId::Number);
        let id = number.or_else(|| TicketId::read(item?.as_str()?));
        if id.is_none() {
            let message = format!("each {name} needs an `id`: a number, or letters and digits");
            self.tell(span_of(row, "id"), message);
        }
        id
    }

    fn entry(&mut self, row: &Row<'_>, id: TicketId) -> Entry {
        let text = |key: &str| text_of(row.0.get(key));
        let flag = |key: &str| text(key).eq_ignore_ascii_case("true");
        let kind = text("type");
        if !is_leaf_type(&kind) {
            let message = format!("the type `{kind}` of the entry {id} is none of story, spike, bug");
            self.tell(span_of(row, "type"), message);
        }
        Entry {
            id: Some(id),
            id_span: self.place(span_of(row, "id")),
            is_refine: kind == "bug" || flag("refine"),
            kind,
            title: text("title"),
            after: self.items(row, "after").into_iter().filter_map(|item| self.reference(item)).collect(),
            covers: self.items(row, "covers").into_iter().map(text_of_value).collect(),
            estimate: match row.0.get("estimate") {
                Some(Item::Value(Value::Integer(number))) => (*number.value()).into(),
                Some(Item::Value(Value::Float(number))) => (*number.value()).into(),
                other => text_of(other).into(),
            },
            risk: text("risk"),
            unknown: text("unknown"),
            is_hitl: flag("hitl"),
            v6_key: text("v6_key"),
            plan_checkpoint: flag("plan_checkpoint"),
            done_checkpoint: flag("done_checkpoint"),
        }
    }

    fn items<'t>(&mut self, row: &Row<'t>, key: &str) -> Vec<&'t Value> {
        let Some(item) = row.0.get(key) else { return Vec::new() };
        item.as_array().map(|items| items.iter().collect()).unwrap_or_else(|| {
            self.tell(item.span(), format!("`{key}` must be a list"));
            Vec::new()
        })
    }

    fn reference(&mut self, value: &Value) -> Option<Reference> {
        let text = text_of_value(value);
        if text.is_empty() || value.is_bool() {
            self.tell(value.span(), "`after` takes ids and names".to_owned());
            return None;
        }
        Some(Reference { text, is_number: value.is_integer(), span: self.place(value.span()) })
    }

    fn epic_after(&mut self, row: &Row<'_>) -> Vec<(Reference, String)> {
        let mut all = Vec::new();
        for (table, span) in self.rows(row.0.get("after"), "after") {
            let epic = table.get("epic").and_then(Item::as_value);
            match epic.filter(|own| own.is_str() || own.is_integer()) {
                Some(epic) => {
                    let needs = text_of(table.get("needs"));
                    all.extend(self.reference(epic).map(|epic| (epic, needs)));
                }
                None => self.tell(span, "it names no `epic`: its id or its slug".to_owned()),
            }
        }
        all
    }

    fn place(&self, span: Option<Range<usize>>) -> Span {
        span.map_or(Span::at(0), |span| Span { start: self.start + span.start, end: self.start + span.end })
    }

    fn tell(&mut self, span: Option<Range<usize>>, message: String) {
        let span = self.place(span);
        self.problems.push(TicketProblem {
            path: self.path.clone(),
            span,
            fault: TicketFault::Unusable,
            message,
        });
    }
}

fn span_of((table, span): &Row<'_>, key: &str) -> Option<Range<usize>> {
    table.get(key).and_then(Item::span).or_else(|| span.clone())
}

fn text_of(item: Option<&Item>) -> String {
    item.and_then(Item::as_value).map(text_of_value).unwrap_or_default()
}

fn text_of_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.value().clone(),
        Value::Integer(number) => number.value().to_string(),
        Value::Float(number) => number.value().to_string(),
        Value::Boolean(flag) => flag.value().to_string(),
        Value::Datetime(time) => time.value().to_string(),
        Value::Array(_) | Value::InlineTable(_) => String::new(),
    }
}
