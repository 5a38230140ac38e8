//! A unit of delivery: a node with its edges.

use std::{collections::BTreeMap, fmt};

use sha2::{Digest as _, Sha256};

use crate::{Edge, EdgeKind, Memory, MemoryError, MemoryRecord, Node, NodeKind, store::reading};
use stepmark_sync::secret::secret_in;

const PLACES: usize = 3;

#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    pub node: Node,
    pub label: String,
    pub record: Option<MemoryRecord>,
    pub superseded_by: Vec<String>,
    /// Contents of some of the memories that it replaces, without secrets.
    pub instead_of: Vec<String>,
    pub to: Vec<(EdgeKind, Node)>,
}

/// A memory's id, else the first half of the SHA-256 of kind and name, as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitKey(String);

impl UnitKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for UnitKey {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for UnitKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

type Texts = BTreeMap<String, Vec<String>>;

type Labelled = (String, Vec<(EdgeKind, Node)>);

pub(super) fn key_of(node: &Node) -> UnitKey {
    match node.kind {
        NodeKind::Memory => UnitKey(node.name.clone()),
        kind => UnitKey(half(&format!("{} {}", kind.as_str(), node.name))),
    }
}

/// The first half of the SHA-256, in hexadecimal digits.
pub(crate) fn digest_of(form: &str) -> String {
    half(form)
}

fn half(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

impl Unit {
    pub fn key(&self) -> UnitKey {
        key_of(&self.node)
    }

    pub fn has_secret(&self) -> bool {
        let in_record = self.record.as_ref().and_then(MemoryRecord::secret);
        in_record.is_some() || secret_in(&self.node.name).is_some() || secret_in(&self.label).is_some()
    }

    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        self.to.iter().map(|(kind, to)| self.node.to(*kind, to))
    }
}

impl Memory {
    /// Memories first, the oldest first.
    pub fn units(&self) -> Result<Vec<Unit>, MemoryError> {
        let records = reading::records(&self.connection, "ORDER BY created_at, id", [])?;
        let (mut after, mut before) = self.places(&records)?;
        let mut nodes = self.labelled_nodes()?;
        let mut units = Vec::with_capacity(nodes.len());
        for record in records {
            let node = Node::new(NodeKind::Memory, &record.id);
            let (label, to) = nodes.remove(&node).unwrap_or_default();
            let superseded_by = after.remove(&record.id).unwrap_or_default();
            let instead_of = before.remove(&record.id).unwrap_or_default();
            units.push(Unit { node, label, record: Some(record), superseded_by, instead_of, to });
        }
        let other = |(node, (label, to))| {
            let (superseded_by, instead_of) = (Vec::new(), Vec::new());
            Unit { node, label, record: None, superseded_by, instead_of, to }
        };
        units.extend(nodes.into_iter().map(other));
        Ok(units)
    }

    /// By superseded memory the ids of its replacements; by replacement the contents of those it replaces.
    fn places(&self, records: &[MemoryRecord]) -> Result<(Texts, Texts), MemoryError> {
        let contents: BTreeMap<&str, &str> =
            records.iter().map(|record| (record.id.as_str(), record.content.as_str())).collect();
        let (mut after, mut before) = (Texts::new(), Texts::new());
        for (old, new) in self.supersessions()? {
            let places = before.entry(new.clone()).or_default();
            let content = contents.get(old.as_str()).filter(|_| places.len() < PLACES);
            places.extend(content.filter(|text| secret_in(text).is_none()).map(|text| (*text).to_owned()));
            after.entry(old).or_default().push(new);
        }
        Ok((after, before))
    }

    pub(crate) fn supersessions(&self) -> Result<Vec<(String, String)>, MemoryError> {
        let mut statement = self.connection.prepare("SELECT old, new FROM superseded ORDER BY old, new")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn labelled_nodes(&self) -> Result<BTreeMap<Node, Labelled>, MemoryError> {
        let mut statement = self.connection.prepare("SELECT kind, name, coalesce(label, name) FROM nodes")?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?));
        let mut nodes = BTreeMap::new();
        for read in statement.query_map([], row)? {
            let (kind, name, label): (String, String, String) = read?;
            if let Some(kind) = NodeKind::named(&kind) {
                nodes.insert(Node { kind, name }, (label, Vec::new()));
            }
        }
        for [kind, name, edge, other, to] in self.edges()? {
            let (from, to) =
                (NodeKind::named(&kind), NodeKind::named(&other).map(|kind| Node::new(kind, to)));
            if let (Some(kind), Some(to), Some(edge)) = (from, to, EdgeKind::named(&edge))
                && let Some((_, edges)) = nodes.get_mut(&Node { kind, name })
            {
                edges.push((edge, to));
            }
        }
        Ok(nodes)
    }
}
