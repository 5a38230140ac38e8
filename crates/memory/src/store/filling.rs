//! Events → rows. Order does not matter.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use stepmark_model::journal::{Event, EventId};
use stepmark_store::workspace::Workspace;

use super::{MemoryError, reading};
use crate::{
    Edge, MemoryRecord, Node, Rows,
    rows::{Fact, rows_of},
    summary::summary_of,
};

const BATCH: usize = 10_000;

/// New events; all of them if the journal lost some.
pub(super) fn refresh(connection: &Connection, workspace: &Workspace) -> Result<(), MemoryError> {
    let history = workspace.history();
    let extent = history.ask(|history| history.extent())?.to_string();
    if reading::extent(connection)?.as_deref() == Some(&extent) {
        return Ok(());
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let mut seen = seen(&transaction)?;
    let now = history.ask(|history| history.event_ids())?;
    let known: HashSet<&EventId> = now.iter().collect();
    if seen.iter().any(|id| !known.contains(id)) {
        empty(&transaction)?;
        seen.clear();
    }
    let new: Vec<EventId> = now.into_iter().filter(|id| !seen.contains(id)).collect();
    let mut filling = Filling::new(&transaction);
    for batch in new.chunks(BATCH) {
        let events = history.ask(|history| history.events_with(batch))?;
        for event in &events {
            filling.take(event)?;
        }
    }
    filling.summarize()?;
    transaction.execute("DELETE FROM stamp", [])?;
    transaction.execute("INSERT INTO stamp VALUES (?)", [extent])?;
    Ok(transaction.commit()?)
}

fn seen(connection: &Connection) -> rusqlite::Result<HashSet<EventId>> {
    let mut statement = connection.prepare("SELECT id FROM seen")?;
    statement.query_map([], |row| Ok(EventId::from_bytes(row.get(0)?)))?.collect()
}

fn empty(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DELETE FROM seen; DELETE FROM stamp; DELETE FROM superseded; DELETE FROM nodes; DELETE FROM edges;
         DELETE FROM facts; DELETE FROM milestones;
         DELETE FROM memories; INSERT INTO words (words) VALUES ('delete-all')",
    )
}

pub(super) struct Filling<'t> {
    connection: &'t Connection,
    nodes: HashMap<Node, i64>,
    edges: HashSet<(i64, i64, &'static str)>,
    sessions: BTreeSet<String>,
}

impl<'t> Filling<'t> {
    pub(super) fn new(connection: &'t Connection) -> Self {
        Self { connection, nodes: HashMap::new(), edges: HashSet::new(), sessions: BTreeSet::new() }
    }

    pub(super) fn take(&mut self, event: &Event) -> rusqlite::Result<()> {
        let insert = self.connection.prepare_cached("INSERT OR IGNORE INTO seen VALUES (?)");
        insert?.execute([event.id.as_bytes()])?;
        let Rows { record, superseded, labels, edges, fact, is_milestone } = rows_of(event);
        if is_milestone {
            let insert = self.connection.prepare_cached("INSERT OR IGNORE INTO milestones VALUES (?)");
            insert?.execute([event.at.as_millisecond()])?;
        }
        if let Some(record) = &record {
            self.sessions.extend(record.source.session.clone());
            self.record(record)?;
        }
        if let Some((old, new)) = superseded {
            let insert = self.connection.prepare_cached("INSERT OR IGNORE INTO superseded VALUES (?, ?)");
            insert?.execute([old, new])?;
        }
        for edge in &edges {
            self.edge(edge)?;
        }
        for (node, label) in &labels {
            self.label(node, label, (event.at, event.id))?;
        }
        if let Some(fact) = &fact {
            self.fact(fact)?;
        }
        Ok(())
    }

    fn record(&self, record: &MemoryRecord) -> rusqlite::Result<()> {
        let sql = format!(
            "INSERT OR IGNORE INTO memories ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
            reading::COLUMNS
        );
        let decision = record.decision.as_ref().and_then(|own| serde_json::to_string(own).ok());
        let tags = (!record.tags.is_empty()).then(|| {
            let plain = record.tags.iter().map(|tag| tag.split_whitespace().collect::<Vec<_>>().join("-"));
            plain.collect::<Vec<_>>().join(" ")
        });
        let memory_type = serde_json::to_value(record.memory_type).unwrap_or_default();
        let (source, milliseconds) = (&record.source, |at: Timestamp| at.as_millisecond());
        let added = self.connection.prepare_cached(&sql)?.execute(params![
            record.id,
            record.kind.name(),
            memory_type.as_str(),
            record.content,
            record.rationale,
            decision,
            tags,
            record.importance,
            record.confidence,
            source.artifact,
            source.key,
            source.session,
            source.agent,
            source.commit,
            milliseconds(record.created_at),
            record.valid_to.map(milliseconds),
        ])?;
        if added == 1 {
            let number = self.connection.last_insert_rowid();
            let words =
                "INSERT INTO words (rowid, content, rationale, decision, tags) VALUES (?, ?, ?, ?, ?)";
            self.connection.prepare_cached(words)?.execute(params![
                number,
                record.content,
                record.rationale,
                decision,
                tags
            ])?;
        }
        Ok(())
    }

    fn number(&mut self, node: &Node) -> rusqlite::Result<i64> {
        if let Some(number) = self.nodes.get(node) {
            return Ok(*number);
        }
        let insert = self.connection.prepare_cached("INSERT OR IGNORE INTO nodes (kind, name) VALUES (?, ?)");
        insert?.execute([node.kind.as_str(), &node.name])?;
        let select = self.connection.prepare_cached("SELECT number FROM nodes WHERE kind = ? AND name = ?");
        let number = select?.query_row([node.kind.as_str(), &node.name], |row| row.get(0))?;
        self.nodes.insert(node.clone(), number);
        Ok(number)
    }

    fn edge(&mut self, edge: &Edge) -> rusqlite::Result<()> {
        let (from, to, kind) = (self.number(&edge.from)?, self.number(&edge.to)?, edge.kind.as_str());
        if self.edges.insert((from, to, kind)) {
            let insert = self.connection.prepare_cached("INSERT OR IGNORE INTO edges VALUES (?, ?, ?)");
            insert?.execute(params![from, to, kind])?;
        }
        Ok(())
    }

    /// The latest path counts; at one time, that of the greater event.
    fn label(&mut self, node: &Node, label: &str, (at, event): (Timestamp, EventId)) -> rusqlite::Result<()> {
        let (number, event) = (self.number(node)?, event.to_string());
        let update = self.connection.prepare_cached(
            "UPDATE nodes SET label = ?2, labelled_at = ?3, labelled_by = ?4
             WHERE number = ?1 AND (labelled_at IS NULL OR (labelled_at, labelled_by) < (?3, ?4))",
        );
        update?.execute(params![number, label, at.as_millisecond(), event])?;
        Ok(())
    }

    fn fact(&mut self, fact: &Fact) -> rusqlite::Result<()> {
        self.sessions.insert(fact.session.clone());
        let insert = self.connection.prepare_cached("INSERT OR IGNORE INTO facts VALUES (?, ?, ?, ?, ?)");
        insert?.execute(params![
            fact.event,
            fact.session,
            fact.at.as_millisecond(),
            fact.text,
            fact.agent
        ])?;
        Ok(())
    }

    pub(super) fn summarize(&self) -> rusqlite::Result<()> {
        for session in &self.sessions {
            let facts = facts_of(self.connection, session)?;
            let told = reading::records(
                self.connection,
                "WHERE session = ? AND kind <> 'summary' ORDER BY created_at, id",
                [session],
            )?;
            if let Some(summary) = summary_of(&facts, &told) {
                self.forget_summary(session)?;
                self.record(&summary)?;
            }
        }
        Ok(())
    }

    fn forget_summary(&self, session: &str) -> rusqlite::Result<()> {
        self.connection.execute(
            "INSERT INTO words (words, rowid, content, rationale, decision, tags)
             SELECT 'delete', number, content, rationale, decision, tags FROM memories
             WHERE id IN (SELECT event FROM facts WHERE session = ? AND text = '')",
            [session],
        )?;
        let of_ends =
            "DELETE FROM memories WHERE id IN (SELECT event FROM facts WHERE session = ? AND text = '')";
        self.connection.execute(of_ends, [session])?;
        Ok(())
    }
}

fn facts_of(connection: &Connection, session: &str) -> rusqlite::Result<Vec<Fact>> {
    let mut statement = connection
        .prepare_cached("SELECT event, at, text, agent FROM facts WHERE session = ? ORDER BY at, event")?;
    let fact = |row: &rusqlite::Row<'_>| {
        Ok(Fact {
            event: row.get(0)?,
            at: Timestamp::from_millisecond(row.get(1)?).unwrap_or_default(),
            session: session.to_owned(),
            text: row.get(2)?,
            agent: row.get(3)?,
        })
    };
    statement.query_map([session], fact)?.collect()
}
