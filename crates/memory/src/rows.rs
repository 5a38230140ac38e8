//! Rows of an event. Each event gives its rows alone, so that the order of events does not matter.

use jiff::Timestamp;
use stepmark_frontmatter::{Change, Operation, Segment};
use stepmark_model::journal::{Event, Kind, changes_in_words};

use crate::{
    Draft, Edge, EdgeKind, MemoryKind, MemoryRecord, Node, NodeKind, Source,
    draft::{SUPERSEDED, TOLD},
};
use stepmark_sync::secret::secret_in;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub record: Option<MemoryRecord>,
    /// Each with its replacement.
    pub superseded: Option<(String, String)>,
    pub labels: Vec<(Node, String)>,
    pub edges: Vec<Edge>,
    pub fact: Option<Fact>,
    /// The end of work: other stores get its memories then.
    pub is_milestone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    pub at: Timestamp,
    pub event: String,
    pub session: String,
    /// Empty for the end of the session.
    pub text: String,
    pub agent: String,
}

const OUTCOMES: [(&str, MemoryKind); 11] = [
    ("asdd-fail", MemoryKind::Error),
    ("asdd-reject", MemoryKind::Error),
    ("agent-timeout", MemoryKind::Error),
    ("verification-failed", MemoryKind::Error),
    ("attempt-crashed", MemoryKind::Error),
    ("retry-limit-reached", MemoryKind::Error),
    ("scope-violation", MemoryKind::Error),
    ("override", MemoryKind::Decision),
    ("human-override", MemoryKind::Decision),
    ("asdd-accept", MemoryKind::Decision),
    ("merge-rejected", MemoryKind::Decision),
];

const FAILED: [&str; 4] = ["failed", "blocked", "skipped", "escalated"];
const MILESTONES: [&str; 4] = ["checkpoint", "session-end", "flow-completed", "asdd-accept"];
const DONE: [&str; 7] = ["done", "complete", "completed", "finished", "success", "approved", "merged"];
const WORDS: usize = 200;
const ENTITIES: usize = 8;

pub fn rows_of(event: &Event) -> Rows {
    match event.kind.as_str() {
        TOLD => told(event).unwrap_or_default(),
        SUPERSEDED => superseded(event).unwrap_or_default(),
        _ => happened(event),
    }
}

fn agent(event: &Event) -> Node {
    Node::new(NodeKind::Agent, event.actor.to_string())
}

fn source(event: &Event) -> Source {
    let artifact = event.artifact.as_ref();
    Source {
        event: event.id.to_string(),
        artifact: artifact.map(|artifact| artifact.path.to_string()),
        key: artifact.map(|artifact| artifact.key.to_string()),
        session: event.session.clone(),
        agent: event.actor.to_string(),
        commit: None,
    }
}

fn told(event: &Event) -> Option<Rows> {
    let draft: Draft = serde_json::from_value(event.data.get("memory")?.clone()).ok()?;
    let usual = if draft.decision.is_some() { MemoryKind::Decision } else { MemoryKind::Learning };
    let kind = draft.kind.unwrap_or(usual);
    let mut own = source(event);
    own.agent = draft.agent.unwrap_or(own.agent);
    (own.artifact, own.key, own.commit) = (draft.artifact, draft.key, draft.commit);
    let record = MemoryRecord::new(kind, draft.content, own, event.at);
    let usual = record.memory_type;
    let record = MemoryRecord {
        rationale: draft.rationale,
        decision: draft.decision,
        tags: draft.tags,
        importance: draft.importance.unwrap_or(kind.importance()).clamp(0.0, 1.0),
        confidence: draft.confidence.unwrap_or(1.0).clamp(0.0, 1.0),
        ..record.of_type(draft.memory_type.unwrap_or(usual))
    };
    Some(of_record(record))
}

fn of_record(record: MemoryRecord) -> Rows {
    let (own, source) = (Node::new(NodeKind::Memory, &record.id), &record.source);
    let mut rows = Rows::default();
    let mut edge = |kind, to: &Node| rows.edges.push(own.to(kind, to));
    edge(EdgeKind::ToldBy, &Node::new(NodeKind::Agent, &source.agent));
    if let Some(session) = &source.session {
        edge(EdgeKind::BelongsToSession, &Node::new(NodeKind::Session, session));
    }
    let about = match (&source.key, &source.artifact) {
        (Some(key), _) => Some(Node::new(NodeKind::Artifact, key)),
        (None, Some(path)) => Some(Node::new(NodeKind::File, path)),
        (None, None) => None,
    };
    if let Some(about) = &about {
        let is_decision = record.kind == MemoryKind::Decision;
        edge(if is_decision { EdgeKind::DecidedIn } else { EdgeKind::RelatesTo }, about);
    }
    let entities = entities(&record);
    for (place, entity) in entities.iter().enumerate() {
        rows.edges.push(own.to(EdgeKind::Mentions, entity));
        rows.edges.extend(entities[..place].iter().map(|other| other.to(EdgeKind::CoOccursWith, entity)));
    }
    if let (Some(about), Some(path)) = (about.filter(|own| own.kind == NodeKind::Artifact), &source.artifact)
    {
        rows.labels.push((about, path.clone()));
    }
    rows.record = Some(record);
    rows
}

fn superseded(event: &Event) -> Option<Rows> {
    let text = |key: &str| event.data.get(key)?.as_str().map(str::to_owned);
    let (old, new) = (text("superseded")?, text("by")?);
    let edge = Node::new(NodeKind::Memory, &new).to(EdgeKind::Supersedes, &Node::new(NodeKind::Memory, &old));
    Some(Rows { superseded: Some((old, new)), edges: vec![edge], ..Rows::default() })
}

fn happened(event: &Event) -> Rows {
    let mut rows = outcome(event).map(of_record).unwrap_or_default();
    if let Some(artifact) = &event.artifact {
        let own = Node::new(NodeKind::Artifact, artifact.key.to_string());
        rows.labels.push((own.clone(), artifact.path.to_string()));
        rows.edges.push(agent(event).to(EdgeKind::WorkedOn, &own));
        rows.edges.extend(event.changes.iter().flat_map(|change| of_change(&own, change)));
        if let Some(was) = &artifact.was {
            let before = Node::new(NodeKind::Artifact, was.to_string());
            rows.edges.push(own.to(EdgeKind::DerivedFrom, &before));
        }
        if let Some(parent) = event.data.get("parent").and_then(|parent| parent.as_str()) {
            rows.edges.push(own.to(EdgeKind::DelegatedFrom, &Node::new(NodeKind::File, parent)));
        }
    }
    rows.fact = fact(event);
    rows.is_milestone = MILESTONES.contains(&event.kind.as_str()) || is_one_of(status(event), &DONE);
    rows
}

fn status(event: &Event) -> Option<&str> {
    event.changes.iter().find_map(|change| match &change.op {
        Operation::Set { new, .. } if change.path.to_string() == "status" => new.as_str(),
        _ => None,
    })
}

fn is_one_of(status: Option<&str>, words: &[&str]) -> bool {
    status.is_some_and(|status| words.iter().any(|word| status.eq_ignore_ascii_case(word)))
}

fn fact(event: &Event) -> Option<Fact> {
    let session = event.session.clone()?;
    let text = match (&event.artifact, event.kind == Kind::SESSION_END) {
        (_, true) => String::new(),
        (Some(artifact), _) if !event.changes.is_empty() => {
            format!("{}: {}", artifact.path, changes_in_words(&event.changes))
        }
        (Some(artifact), _) => format!("{}: {}", artifact.path, event.kind.as_str()),
        (None, _) => return None,
    };
    let text = text.chars().take(WORDS).collect();
    Some(Fact { at: event.at, event: event.id.to_string(), session, text, agent: event.actor.to_string() })
}

/// A failure, or a decision with its reason.
fn outcome(event: &Event) -> Option<MemoryRecord> {
    let named = OUTCOMES.iter().find(|(kind, _)| *kind == event.kind.as_str()).map(|(_, kind)| *kind);
    let status = status(event);
    let kind = named.or(is_one_of(status, &FAILED).then_some(MemoryKind::Error))?;
    let text = |key: &str| event.data.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    let reason = event.reason.clone().or_else(|| text("reason")).or_else(|| reason_of_record(event))?;
    let about = event.artifact.as_ref().map(|artifact| artifact.path.to_string()).or_else(|| text("path"));
    let happened = status.map_or_else(|| event.kind.as_str().replace('-', " "), str::to_owned);
    let content = match about {
        Some(about) => format!("{about}: {happened}: {reason}"),
        None => format!("{happened}: {reason}"),
    };
    let content: String = content.chars().take(2_000).collect();
    if secret_in(&content).is_some() {
        return None;
    }
    let record = MemoryRecord::new(kind, content, source(event), event.at);
    Some(MemoryRecord { importance: 0.5, ..record })
}

/// The error of a task, or why a task of a flow or a slice is blocked.
fn reason_of_record(event: &Event) -> Option<String> {
    event.changes.iter().find_map(|change| {
        let (Operation::Set { new, .. } | Operation::Insert { new }) = &change.op else { return None };
        let reason = match change.path.to_string().as_str() {
            "result" => new.get("error")?,
            "result.error" | "blocking_reason" | "block_reason" => new,
            _ => return None,
        };
        reason.as_str().filter(|reason| !reason.trim().is_empty()).map(str::to_owned)
    })
}

fn of_change(own: &Node, change: &Change) -> Vec<Edge> {
    let Some(Segment::Key(key)) = change.path.0.first() else { return Vec::new() };
    let value = match &change.op {
        Operation::Set { new, .. } | Operation::Insert { new } => new,
        Operation::Remove { .. } => return Vec::new(),
    };
    let all: Vec<&str> = match value {
        serde_json::Value::Array(items) => items.iter().filter_map(|item| item.as_str()).collect(),
        value => value.as_str().into_iter().collect(),
    };
    let edges = all.into_iter().take(ENTITIES);
    let edge: fn(&Node, &str) -> Edge = match key.as_str() {
        "stepsCompleted" => |own, step| Node::new(NodeKind::Step, step).to(EdgeKind::CompletedIn, own),
        "inputDocuments" => |own, path| own.to(EdgeKind::DerivedFrom, &Node::new(NodeKind::File, path)),
        "depends_on" | "dependencies" => {
            |own, id| own.to(EdgeKind::DependsOn, &Node::new(NodeKind::Artifact, format!("id:{id}")))
        }
        "workflowType" => |own, name| own.to(EdgeKind::RelatesTo, &Node::new(NodeKind::Workflow, name)),
        _ => return Vec::new(),
    };
    edges.map(|text| edge(own, text)).collect()
}

fn entities(record: &MemoryRecord) -> Vec<Node> {
    let decision = record.decision.as_ref();
    let texts = [Some(record.content.as_str()), record.rationale.as_deref()]
        .into_iter()
        .chain([decision.map(|own| own.question.as_str()), decision.map(|own| own.chosen.as_str())])
        .flatten();
    let mut found: Vec<Node> = texts.flat_map(str::split_whitespace).filter_map(entity).collect();
    found.sort();
    found.dedup();
    found.truncate(ENTITIES);
    found.retain(|entity| secret_in(&entity.name).is_none());
    found
}

fn entity(word: &str) -> Option<Node> {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '/' && letter != '.');
    let word = word.trim_end_matches('.').trim_start_matches("./");
    let is_path = word.contains('/') && word.rsplit('/').next()?.contains('.') && !word.contains("://");
    if is_path && word.len() < 200 {
        return Some(Node::new(NodeKind::File, word));
    }
    let (letters, digits) = word.rsplit_once('-')?;
    let is_id = letters.len() > 1
        && letters.starts_with(|letter: char| letter.is_ascii_uppercase())
        && letters.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
        && !digits.is_empty()
        && digits.chars().all(|digit| digit.is_ascii_digit());
    is_id.then(|| Node::new(NodeKind::Artifact, format!("id:{word}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_name_something() {
        let cases = [
            ("(docs/prd.md),", Some((NodeKind::File, "docs/prd.md"))),
            ("SLICE-001.", Some((NodeKind::Artifact, "id:SLICE-001"))),
            ("https://a.b/c.d", None),
            ("and/or", None),
            ("x-1", None),
            ("RFC-2119", Some((NodeKind::Artifact, "id:RFC-2119"))),
        ];
        for (word, expected) in cases {
            assert_eq!(entity(word), expected.map(|(kind, name)| Node::new(kind, name)), "{word}");
        }
    }

    #[test]
    fn a_decision_hangs_on_what_it_is_about() {
        let source = Source {
            event: "e1".to_owned(),
            artifact: Some("docs/prd.md".to_owned()),
            key: Some("id:prd".to_owned()),
            session: Some("s-1".to_owned()),
            agent: "agent:pm".to_owned(),
            commit: None,
        };
        let text = "Use docs/api.md for STORY-7".to_owned();
        let rows = of_record(MemoryRecord::new(MemoryKind::Decision, text, source, Timestamp::UNIX_EPOCH));
        let edges: Vec<String> = rows
            .edges
            .iter()
            .map(|edge| format!("{} {} {}", edge.from.name, edge.kind.as_str(), edge.to.name))
            .collect();
        assert_eq!(
            edges,
            [
                "e1 told-by agent:pm",
                "e1 BELONGS_TO_SESSION s-1",
                "e1 decided-in id:prd",
                "e1 MENTIONS id:STORY-7",
                "e1 MENTIONS docs/api.md",
                "id:STORY-7 CO_OCCURS_WITH docs/api.md",
            ]
        );
    }
}
