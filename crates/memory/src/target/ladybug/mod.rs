//! Ladybug, the fork of KuzuDB (PyPI `ladybug`), by a Python script: the same graph, in Cypher.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use stepmark_sync::{
    breaker::{Failure, Reason},
    program::Program,
};

use super::{
    Held, MemoryStore, Target, Unit, UnitKey, not_run,
    unit::{digest_of, key_of},
};
use crate::{Edge, EdgeKind, Node, NodeKind, ranking::words};

const SCRIPT: &str = include_str!("sidecar.py");
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };
const INSTALL: &str = "install Python 3, and `pip install ladybug`";
const PATIENCE: Duration = Duration::from_secs(120);
const ANSWER: u64 = 256 * 1024 * 1024;

#[derive(Debug)]
pub struct Ladybug {
    database: PathBuf,
}

impl Ladybug {
    pub const fn new(database: PathBuf) -> Self {
        Self { database }
    }

    fn ask(&self, mut request: Json) -> Result<Json, Failure> {
        request["database"] = self.database.to_string_lossy().into();
        let input = request.to_string();
        let arguments = ["-c".to_owned(), SCRIPT.to_owned()];
        // Python looks for modules where it runs: never in a project, which may come from anybody.
        let folder = self.database.ancestors().last();
        let program = Program {
            name: PYTHON,
            arguments: &arguments,
            variables: &[("PYTHONSAFEPATH", "1"), ("PYTHONIOENCODING", "utf-8")],
            hidden: &[],
            is_bare: true,
            folder,
            input: input.as_bytes(),
            patience: PATIENCE,
            most: ANSWER,
        };
        let printed = program.run().map_err(|error| not_run(&error, PYTHON, INSTALL))?;
        if !printed.has_succeeded {
            return Err(self.refused(&String::from_utf8_lossy(&printed.errors)));
        }
        serde_json::from_slice(&printed.output).map_err(|error| unreadable(&error))
    }

    /// The last error that Python printed, which may have several lines.
    fn refused(&self, printed: &str) -> Failure {
        let begin = printed.lines().rfind(|line| !line.starts_with(' ') && line.contains("Error: "));
        let said = begin.and_then(|line| printed.rfind(line)).map_or(printed, |at| &printed[at..]);
        if said.contains("No module named") {
            return Failure::new(Reason::Unreachable, &format!("Ladybug: {said}; {INSTALL}"));
        }
        let place = self.database.display();
        let help = format!("where `{place}` is damaged, delete it: it is filled again");
        Failure::new(Reason::ServerError, &format!("Ladybug: {said} ({help})"))
    }

    fn read<T: Default + DeserializeOwned>(&self, request: Json) -> Result<T, Failure> {
        match self.ask(request)? {
            Json::Object(empty) if empty.is_empty() => Ok(T::default()),
            answer => serde_json::from_value(answer).map_err(|error| unreadable(&error)),
        }
    }
}

fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::new(Reason::Unreadable, &format!("Ladybug: {error}"))
}

impl MemoryStore for Ladybug {
    fn recall(&mut self, text: &str, limit: usize, now: Timestamp) -> Result<Vec<String>, Failure> {
        let (words, now) = (words(text), now.as_millisecond());
        self.read(json!({"do": "recall", "words": words, "limit": limit, "now": now}))
    }

    fn edges_of(&mut self, id: &str) -> Result<Option<Vec<Edge>>, Failure> {
        let found: Vec<[String; 3]> = self.read(json!({"do": "edges", "key": id}))?;
        let from = Node::new(NodeKind::Memory, id);
        let edge = |[edge, kind, name]: [String; 3]| {
            Some(from.to(EdgeKind::named(&edge)?, &Node::new(NodeKind::named(&kind)?, name)))
        };
        let mut edges: Vec<Edge> = found.into_iter().filter_map(edge).collect();
        edges.sort();
        Ok(Some(edges))
    }
}

fn form_of(unit: &Unit) -> Json {
    let edges: Vec<Json> = unit
        .to
        .iter()
        .map(|(edge, to)| {
            json!({"edge": edge.as_str(), "to": key_of(to).as_str(), "kind": to.kind.as_str(), "name": to.name})
        })
        .collect();
    let record = unit.record.as_ref();
    json!({
        "key": unit.key().as_str(),
        "kind": unit.node.kind.as_str(),
        "name": unit.node.name,
        "label": unit.label,
        "memory": record.map(|record| json!({
            "kind": record.kind.name(),
            "content": record.content,
            "rationale": record.rationale,
            "tags": record.tags.join(" "),
            "artifact": record.source.artifact,
            "agent": record.source.agent,
            "session": record.source.session,
            "created_at": record.created_at.as_millisecond(),
            "valid_to": record.valid_to.map(Timestamp::as_millisecond),
        })),
        "superseded": !unit.superseded_by.is_empty(),
        "edges": edges,
    })
}

impl Target for Ladybug {
    fn form(&self, unit: &Unit) -> Option<String> {
        Some(form_of(unit).to_string())
    }

    fn held(&mut self) -> Result<Held, Failure> {
        let found: BTreeMap<String, String> = self.read(json!({"do": "held"}))?;
        Ok(found.into_iter().map(|(key, digest)| (key.into(), vec![digest])).collect())
    }

    fn batch(&self) -> usize {
        500
    }

    fn put(&mut self, units: &[&Unit]) -> Result<(), Failure> {
        let forms = units.iter().map(|unit| {
            let mut form = form_of(unit);
            form["digest"] = digest_of(&form.to_string()).into();
            form
        });
        let forms: Vec<Json> = forms.collect();
        self.ask(json!({"do": "put", "units": forms})).map(drop)
    }

    fn forget(&mut self, keys: &[&UnitKey]) -> Result<bool, Failure> {
        let keys: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
        self.ask(json!({"do": "forget", "keys": keys})).map(|_| true)
    }
}
