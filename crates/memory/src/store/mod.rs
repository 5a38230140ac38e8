//! The embedded store: SQLite with full-text search and a graph, in the cache.

mod filling;
mod memory;
mod recalling;
pub(crate) mod reading;

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::{Edge, EdgeKind, MemoryKind, MemoryRecord, Node, NodeKind, ranking::Score};
use jiff::Timestamp;
use rusqlite::params;
use serde::Serialize;
use stepmark_store::{Error, disk::CacheUnavailable};

pub use memory::{Counts, Memory};

#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Empty for the most important ones.
    pub text: String,
    /// Empty for all.
    pub kinds: Vec<MemoryKind>,
    /// By path or identity: its records come first.
    pub artifact: Option<String>,
    pub session: Option<String>,
    pub since: Option<Timestamp>,
    pub all: bool,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recalled {
    #[serde(flatten)]
    pub record: MemoryRecord,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<String>,
    pub score: Score,
}

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    History(#[from] Error),
    #[error("cannot read the memory of the project: SQLite says: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("cannot keep the memory of the project in the cache")]
    Unavailable(#[from] CacheUnavailable),
    #[error("no memory has an id that begins with `{id}`")]
    Unknown { id: String },
    #[error("several memories have ids that begin with `{id}`: write more of it")]
    Ambiguous { id: String },
    #[error("memory knows nothing that is called `{name}`")]
    NoNode { name: String },
}

/// The rest is left out, and the answer says so.
const MOST: usize = 200;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbourhood {
    /// Each with its label and distance.
    pub nodes: Vec<(Node, String, u32)>,
    pub edges: Vec<Edge>,
    pub is_cut: bool,
}

impl Memory {
    /// Up to `depth` edges from `name`: the id of a memory or its begin, the path or id of an artifact, a
    /// session, an agent, a step.
    pub fn neighbourhood(&self, name: &str, depth: u32) -> Result<Neighbourhood, MemoryError> {
        let mut begin = self.nodes_called(name)?;
        if begin.is_empty()
            && let Ok(record) = self.record(name)
        {
            begin = self.nodes_called(&record.id)?;
        }
        if begin.is_empty() {
            return Err(MemoryError::NoNode { name: name.to_owned() });
        }
        let mut distances: Vec<(i64, u32)> = self.distances(&begin, depth)?.into_iter().collect();
        distances.sort_by_key(|(number, steps)| (*steps, *number));
        let is_cut = distances.len() > MOST;
        distances.truncate(MOST);
        let mut nodes = Vec::new();
        let mut by_number = HashMap::new();
        for (number, steps) in distances {
            if let Some((node, label)) = self.node(number)? {
                by_number.insert(number, node.clone());
                nodes.push((node, label, steps));
            }
        }
        nodes.sort_by(|one, other| (one.2, &one.0).cmp(&(other.2, &other.0)));
        let mut edges = BTreeSet::new();
        for (number, from) in &by_number {
            for (_, target, kind) in self.edges_at(*number)?.into_iter().filter(|(from, ..)| from == number) {
                let kind = EdgeKind::named(&kind);
                if let (Some(to), Some(kind)) = (by_number.get(&target), kind) {
                    edges.insert(from.to(kind, to));
                }
            }
        }
        Ok(Neighbourhood { nodes, edges: edges.into_iter().collect(), is_cut })
    }

    fn nodes_called(&self, name: &str) -> Result<Vec<i64>, MemoryError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT number FROM nodes WHERE name IN (?1, 'id:' || ?1, 'path:' || ?1, 'agent:' || ?1, 'human:' || ?1)
             UNION SELECT number FROM nodes WHERE label = ?1 ORDER BY number",
        )?;
        let numbers = statement.query_map([name], |row| row.get(0))?;
        Ok(numbers.collect::<rusqlite::Result<_>>()?)
    }

    /// Up to `most` edges. A file and the artifact that it is now are one.
    fn distances(&self, begin: &[i64], most: u32) -> Result<HashMap<i64, u32>, MemoryError> {
        let mut known: HashMap<i64, u32> = HashMap::new();
        let mut open: VecDeque<(i64, u32)> = begin.iter().map(|number| (*number, 0)).collect();
        while let Some((number, steps)) = open.pop_front() {
            if known.contains_key(&number) || known.len() > MOST * 10 {
                continue;
            }
            known.insert(number, steps);
            open.extend(self.same(number)?.into_iter().map(|other| (other, steps)));
            if steps < most {
                let others = self.edges_at(number)?.into_iter();
                open.extend(others.map(|(from, to, _)| (if from == number { to } else { from }, steps + 1)));
            }
        }
        Ok(known)
    }

    fn edges_at(&self, number: i64) -> rusqlite::Result<Vec<(i64, i64, String)>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT source, target, kind FROM (SELECT * FROM edges WHERE source = ?1 LIMIT {MOST})
             UNION ALL SELECT source, target, kind FROM (SELECT * FROM edges WHERE target = ?1 LIMIT {MOST})"
        ))?;
        statement.query_map([number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
    }

    fn same(&self, number: i64) -> rusqlite::Result<Vec<i64>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT other.number FROM nodes JOIN nodes AS other ON other.kind = 'file' AND other.name = nodes.label
             WHERE nodes.number = ?1
             UNION SELECT other.number FROM nodes JOIN nodes AS other ON other.label = nodes.name
             WHERE nodes.number = ?1 AND nodes.kind = 'file'",
        )?;
        statement.query_map([number], |row| row.get(0))?.collect()
    }

    fn node(&self, number: i64) -> rusqlite::Result<Option<(Node, String)>> {
        let sql = "SELECT nodes.kind, name, coalesce(label, content, name) FROM nodes
            LEFT JOIN memories ON nodes.kind = 'memory' AND memories.id = name WHERE nodes.number = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![number])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (kind, name, label): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(NodeKind::named(&kind).map(|kind| (Node { kind, name }, label)))
    }
}

#[cfg(test)]
pub(crate) mod cases;
