//! A folder of tickets: entries joined with leaf files and plans.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::Value as Json;
use stepmark_frontmatter::{Node, Span, Yaml};

use super::{
    TicketFault, TicketId, TicketProblem,
    breakdown::{Breakdown, Entry, Reference, list_in},
    slug,
    tree::Needed,
};
use crate::artifact::{Artifact, ProjectPath};

/// Of an initiative, an epic or the backlog.
#[derive(Clone, Debug)]
pub struct TicketFolder {
    pub path: ProjectPath,
    pub breakdown: Option<Vec<u8>>,
    pub files: Vec<Artifact>,
}

/// In BMAD's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TicketState {
    /// Neither file nor plan.
    Planned,
    Backlog,
    InProgress,
    Review,
    Done,
    Dropped,
}

/// Joined from entry, leaf file and plan; some may be missing.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub folder: usize,
    pub id: Option<TicketId>,
    pub kind: String,
    pub title: String,
    pub file: Option<ProjectPath>,
    /// Holds the status: the plan, which may not exist yet.
    pub record: ProjectPath,
    pub has_plan: bool,
    pub status: String,
    pub tracker_id: String,
    pub remote: String,
    pub tracker_status: String,
    pub state: TicketState,
    pub assignee: String,
    pub is_hitl: bool,
    pub is_refined: bool,
    pub blocked_at: String,
    pub blocked_reason: String,
    pub after: Vec<Needed>,
    pub(super) entry: Entry,
    /// Needs of the entry and its flag for a person, if a leaf file has them, too.
    pub(super) planned: Option<(Vec<Reference>, bool)>,
    pub(super) drift: Option<(Vec<Needed>, bool)>,
    pub(super) names: (ProjectPath, Vec<Reference>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Container {
    pub(super) status: String,
    pub(super) tracker_id: String,
    pub(super) after: Vec<Reference>,
    pub(super) path: Option<ProjectPath>,
}

#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) tickets: Vec<Ticket>,
    pub(super) container: Container,
    pub(super) breakdown: Breakdown,
}

/// A bound: every ticket of the epic gets them, too.
const MOST_GATES: usize = 100;

/// The status without a plan; no file has it.
const PLANNED: &str = "planned";

const STATUSES: [&str; 8] =
    ["draft", "ready-for-dev", "in-progress", "in-review", "built", "done", "blocked", "dropped"];
const TRACKER_STATES: [&str; 5] = ["backlog", "in-progress", "review", "done", "dropped"];

pub(super) fn is_leaf_type(kind: &str) -> bool {
    matches!(kind, "story" | "spike" | "bug")
}

impl TicketState {
    /// From the status of a plan or of a tracker.
    fn of(word: &str) -> Self {
        match word {
            "in-progress" | "blocked" => Self::InProgress,
            "in-review" | "built" | "review" => Self::Review,
            "done" => Self::Done,
            "dropped" => Self::Dropped,
            _ => Self::Backlog,
        }
    }

    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Dropped)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Backlog => "backlog",
            Self::InProgress => "in-progress",
            Self::Review => "review",
            Self::Done => "done",
            Self::Dropped => "dropped",
        }
    }
}

struct Keys<'a>(&'a Artifact, Option<Yaml<'a>>);

impl<'a> Keys<'a> {
    fn of(file: &'a Artifact) -> Self {
        Self(file, file.state_yaml())
    }

    fn node(&self, key: &str) -> Option<&Node<'a>> {
        self.1.as_ref()?.root()?.get(key)
    }

    fn has(&self, key: &str) -> bool {
        self.node(key).is_some()
    }

    fn text(&self, key: &str) -> String {
        let node = self.node(key).filter(|node| !node.is_null());
        node.and_then(Node::text).unwrap_or_default().to_owned()
    }

    fn flag(&self, key: &str) -> bool {
        self.text(key).eq_ignore_ascii_case("true")
    }

    fn span(&self, key: &str) -> Span {
        self.node(key).map_or(Span::at(0), |node| node.span)
    }

    fn references(&self, key: &str) -> Vec<Reference> {
        let items = self.node(key).map(Node::items).unwrap_or_default().iter();
        let of = |node: &Node<'_>| {
            let text = node.text().filter(|text| !text.is_empty())?.to_owned();
            let is_plain = self.0.bytes().get(node.span.range()) == Some(text.as_bytes());
            let is_number = is_plain && text.parse::<i64>().is_ok();
            Some(Reference { text, is_number, span: node.span })
        };
        items.filter_map(of).collect()
    }

    fn problem(&self, key: &str, message: String) -> TicketProblem {
        let (path, span) = (self.0.path().clone(), self.span(key));
        TicketProblem { path, span, fault: TicketFault::Unusable, message }
    }

    fn one_of(&self, key: &str, words: &[&str], problems: &mut Vec<TicketProblem>) -> Option<String> {
        let word = self.text(key);
        if word.is_empty() || words.contains(&&*word) {
            return Some(word);
        }
        let message = format!("`{key}` is `{word}`, which is none of {}", words.join(", "));
        problems.push(self.problem(key, message));
        None
    }
}

impl TicketFolder {
    pub(super) fn name(&self) -> &str {
        self.path.file_name()
    }

    /// In build order: entries, then leaf files without an entry.
    pub(super) fn read(&self, place: usize, problems: &mut Vec<TicketProblem>) -> Read {
        let list = list_in(&self.path);
        let breakdown = self.breakdown.as_deref();
        let breakdown = breakdown.map(|bytes| Breakdown::read(&list, bytes, problems)).unwrap_or_default();
        let ticket = |entry: &Entry| self.of_entry(place, entry, &list);
        let mut tickets: Vec<Ticket> = breakdown.entries.iter().map(ticket).collect();
        let mut by_id: HashMap<TicketId, usize> =
            tickets.iter().enumerate().filter_map(|(place, own)| Some((own.id.clone()?, place))).collect();
        let (mut unlisted, mut plans, mut container) = (Vec::new(), Vec::new(), Container::default());
        for file in &self.files {
            let keys = Keys::of(file);
            let kind = keys.text("type");
            if file.path().file_stem() == self.name() {
                container = Container::read(&keys, problems);
            } else if is_leaf_type(&kind) {
                let id = TicketId::read(&keys.text("id"));
                let known = id.as_ref().and_then(|id| by_id.get(id));
                match known.and_then(|place| tickets.get_mut(*place)).filter(|own| own.file.is_none()) {
                    Some(own) => own.join_leaf(&keys, problems),
                    None if known.is_some() => {
                        let id = id.map(|id| id.to_string()).unwrap_or_default();
                        let message = format!("another leaf file has the id {id}, too; that one counts");
                        problems.push(keys.problem("id", message));
                    }
                    None => {
                        let entry =
                            Entry { id, is_refine: true, kind, estimate: "".into(), ..Entry::default() };
                        let mut own = self.of_entry(place, &entry, file.path());
                        own.join_leaf(&keys, problems);
                        own.planned = None;
                        unlisted.push(own);
                    }
                }
            } else if keys.has("ticket") {
                plans.push(keys);
            }
        }
        // With id first, then by name.
        unlisted.sort_by(|one, other| (one.id.is_none(), &one.id).cmp(&(other.id.is_none(), &other.id)));
        for own in unlisted {
            match own.id.as_ref().is_some_and(|id| by_id.contains_key(id)) {
                true => problems.push(TicketProblem {
                    path: own.record.clone(),
                    span: Span::at(0),
                    fault: TicketFault::Unusable,
                    message: "another leaf file has its id, too; that one counts".to_owned(),
                }),
                false => {
                    by_id.extend(own.id.clone().map(|id| (id, tickets.len())));
                    tickets.push(own);
                }
            }
        }
        self.name_records(&mut tickets);
        for plan in &plans {
            join_plan(&mut tickets, &by_id, plan, problems);
        }
        self.block_unreadable(&mut tickets);
        Read { tickets, container, breakdown }
    }

    fn of_entry(&self, folder: usize, entry: &Entry, list: &ProjectPath) -> Ticket {
        Ticket {
            folder,
            id: entry.id.clone(),
            kind: entry.kind.clone(),
            title: entry.title.clone(),
            file: None,
            record: list.clone(),
            has_plan: false,
            status: String::new(),
            tracker_id: String::new(),
            remote: String::new(),
            tracker_status: String::new(),
            state: TicketState::Planned,
            assignee: String::new(),
            is_hitl: entry.is_hitl,
            is_refined: false,
            blocked_at: String::new(),
            blocked_reason: String::new(),
            after: Vec::new(),
            entry: entry.clone(),
            planned: None,
            drift: None,
            names: (list.clone(), entry.after.clone()),
        }
    }

    /// `<leaf>-plan.md`, after the present or future leaf name.
    fn name_records(&self, tickets: &mut [Ticket]) {
        let stems = tickets.iter().filter_map(|own| Some(own.file.as_ref()?.file_stem().to_owned()));
        let mut taken: HashSet<String> = stems.collect();
        for own in tickets {
            let stem = match &own.file {
                Some(file) => file.file_stem().to_owned(),
                None => {
                    let stem = format!("{}-{}", own.kind, slug(&own.title));
                    let id = own.id.as_ref().map(|id| format!("{stem}-{id}")).unwrap_or_default();
                    if taken.insert(stem.clone()) { stem } else { id }
                }
            };
            own.record = self.path.join(&format!("{stem}-plan.md")).unwrap_or_else(|_| self.path.clone());
        }
    }

    fn block_unreadable(&self, tickets: &mut [Ticket]) {
        let is_broken = |own: &&Artifact| !own.is_readable();
        let broken: HashSet<&ProjectPath> = self.files.iter().filter(is_broken).map(Artifact::path).collect();
        for own in tickets.iter_mut().filter(|own| !own.has_plan && broken.contains(&own.record)) {
            own.blocked_reason = format!("`{}` cannot be read", own.record.file_name());
            own.set_status("blocked".to_owned());
        }
    }
}

impl Container {
    fn read(keys: &Keys<'_>, problems: &mut Vec<TicketProblem>) -> Self {
        let kind = keys.text("type");
        if !matches!(&*kind, "initiative" | "epic") {
            problems.push(
                keys.problem("type", format!("its type is `{kind}`, which is neither initiative nor epic")),
            );
        }
        let mut after = keys.references("after");
        if after.len() > MOST_GATES {
            let message = format!("an epic waits for at most {MOST_GATES} others; the rest is passed over");
            problems.push(keys.problem("after", message));
            after.truncate(MOST_GATES);
        }
        Self {
            status: keys.one_of("status", &["in-progress", "done", "dropped"], problems).unwrap_or_default(),
            tracker_id: keys.text("tracker_id"),
            after,
            path: Some(keys.0.path().clone()),
        }
    }
}

impl Ticket {
    /// Text of a plan before its first status.
    pub fn new_plan(&self) -> String {
        let status = if self.status.is_empty() { PLANNED } else { &self.status };
        let quoted = |text: &str| Json::from(text).to_string();
        let leaf = || self.file.as_ref().map(|file| quoted(file.file_stem())).unwrap_or_default();
        let ticket = self.id.as_ref().map_or_else(leaf, ToString::to_string);
        let keys = [("title", quoted(&self.title)), ("ticket", ticket), ("status", status.to_owned())];
        let assignee = Some(("assignee", quoted(&self.assignee))).filter(|_| !self.assignee.is_empty());
        let keys = keys.into_iter().chain(assignee).filter(|(_, value)| !value.is_empty());
        format!("---\n{}---\n", keys.map(|(key, value)| format!("{key}: {value}\n")).collect::<String>())
    }

    pub fn v6_key(&self) -> &str {
        &self.entry.v6_key
    }

    /// Reviews by a person: of the plan before work, of the work before it is done.
    pub const fn checkpoints(&self) -> [bool; 2] {
        [self.entry.plan_checkpoint, self.entry.done_checkpoint]
    }

    pub fn is_refine(&self) -> bool {
        self.entry.is_refine
    }

    pub fn word(&self) -> &str {
        if self.status.is_empty() { self.state.as_str() } else { &self.status }
    }

    pub(super) fn set_status(&mut self, status: String) {
        let word = if self.tracker_status.is_empty() { &status } else { &self.tracker_status };
        self.state = TicketState::of(word);
        self.status = status;
    }

    fn join_leaf(&mut self, keys: &Keys<'_>, problems: &mut Vec<TicketProblem>) {
        let or = |key: &str, other: &str| {
            Some(keys.text(key)).filter(|text| !text.is_empty()).unwrap_or_else(|| other.to_owned())
        };
        let path = keys.0.path();
        self.planned = Some((std::mem::take(&mut self.names.1), self.is_hitl));
        self.names = (path.clone(), keys.references("after"));
        self.file = Some(path.clone());
        self.kind = keys.text("type");
        self.entry.is_refine |= self.kind == "bug";
        self.title = or("title", &self.title);
        self.tracker_id = keys.text("tracker_id");
        self.remote = keys.text("remote");
        self.tracker_status = keys.one_of("tracker_status", &TRACKER_STATES, problems).unwrap_or_default();
        self.assignee = keys.text("assignee");
        self.is_refined = keys.flag("refined");
        self.is_hitl = keys.flag("hitl");
        self.entry.risk = if keys.has("risk") { keys.text("risk") } else { self.entry.risk.clone() };
        if let Some(covers) = keys.node("covers").filter(|node| node.text().is_none()) {
            self.entry.covers =
                covers.items().iter().filter_map(|item| Some(item.text()?.to_owned())).collect();
        }
        if let Some(estimate) = keys.node("estimate") {
            let text = estimate.text().unwrap_or_default();
            let is_number = keys.0.bytes().get(estimate.span.range()) == Some(text.as_bytes());
            let number = text.parse::<i64>().ok().filter(|_| is_number);
            self.entry.estimate = number.map_or_else(|| text.into(), Json::from);
        }
        self.blocked_at = keys.text("blocked_at");
        self.blocked_reason = keys.text("blocked_reason");
        self.entry.unknown = unknown_in(keys.0);
        let status = keys.one_of("status", &STATUSES, problems);
        self.set_status(status.unwrap_or_else(|| "blocked".to_owned()));
    }
}

fn join_plan(
    tickets: &mut [Ticket],
    by_id: &HashMap<TicketId, usize>,
    keys: &Keys<'_>,
    problems: &mut Vec<TicketProblem>,
) {
    let name = keys.text("ticket");
    let of_leaf = |own: &Ticket| own.file.as_ref().is_some_and(|file| file.file_stem() == name);
    let place = TicketId::read(&name).and_then(|id| by_id.get(&id).copied());
    let place = place.or_else(|| tickets.iter().position(of_leaf).filter(|_| !name.is_empty()));
    let Some(own) = place.and_then(|place| tickets.get_mut(place)) else {
        let message = match keys.node("ticket").is_some_and(|node| node.text().is_none()) {
            true => "`ticket` must be an id, or the name of a leaf file".to_owned(),
            false => format!(
                "the ticket `{name}` is no entry and no leaf file of the folder; the plan is passed over"
            ),
        };
        let fault = if name.is_empty() && keys.node("ticket").is_some_and(|node| node.text().is_some()) {
            TicketFault::Unticketed
        } else {
            TicketFault::Unusable
        };
        problems.push(TicketProblem { fault, ..keys.problem("ticket", message) });
        return;
    };
    if own.has_plan {
        let message =
            format!("`{}` is a plan for the ticket `{name}`, too; that one counts", own.record.file_name());
        problems.push(keys.problem("ticket", message));
        return;
    }
    own.has_plan = true;
    own.record = keys.0.path().clone();
    if keys.has("assignee") {
        own.assignee = keys.text("assignee");
    }
    own.blocked_at = keys.text("blocked_at");
    own.blocked_reason = keys.text("blocked_reason");
    let status = keys.one_of("status", &STATUSES, problems).unwrap_or_else(|| {
        let (plan, status) = (keys.0.path().file_name(), keys.text("status"));
        own.blocked_reason = format!("{plan} has an unknown status '{status}'");
        "blocked".to_owned()
    });
    own.set_status(status);
}

/// Lines `Unknown: …` outside of comments.
fn unknown_in(file: &Artifact) -> String {
    let body = String::from_utf8_lossy(&file.bytes()[file.document().body().range()]).into_owned();
    let mut text = String::new();
    let mut rest = body.as_str();
    while let Some((before, comment)) = rest.split_once("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { break };
        text.push_str(before);
        rest = after;
    }
    text.push_str(rest);
    let question = |line: &'_ str| {
        let line = line.trim_start_matches([' ', '\t']);
        let item = line.strip_prefix(['-', '*']).filter(|item| item.starts_with([' ', '\t']));
        let question = item.unwrap_or(line).trim_start_matches([' ', '\t']).strip_prefix("Unknown:")?.trim();
        (!question.is_empty()).then(|| question.to_owned())
    };
    text.lines().filter_map(question).collect::<Vec<_>>().join("; ")
}
