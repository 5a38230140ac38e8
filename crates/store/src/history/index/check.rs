//! The check whether the index says what the segments say.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rusqlite::Connection;

use crate::history::{VerifiedSegments, index::Fault, index::Index, index::state_part};
use stepmark_model::artifact::FileHash;
use stepmark_model::journal::{Event, EventId};

/// A sum over events, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventSum {
    pub count: u64,
    sum: u128,
}

/// The fields of an event that the index keeps, place aside: where that is wrong, reading the event shows it.
struct Kept<'a> {
    id: EventId,
    key: &'a str,
    path: &'a str,
    session: Option<&'a str>,
    kind: &'a str,
    n: i64,
    at: i64,
    state: Option<i64>,
    parents: &'a [u8],
}

impl EventSum {
    pub(in crate::history) fn add(&mut self, event: &Event) {
        let artifact = event.artifact.as_ref();
        let parents: Vec<u8> = event.parents.iter().flat_map(|parent| *parent.as_bytes()).collect();
        self.add_kept(&Kept {
            id: event.id,
            key: artifact.map_or("", |artifact| artifact.key.as_str()),
            path: artifact.map_or("", |artifact| artifact.path.as_str()),
            session: event.session.as_deref(),
            kind: event.kind.as_str(),
            n: i64::try_from(event.n).unwrap_or(i64::MAX),
            at: event.at.as_microsecond(),
            state: state_part(event.after),
            parents: &parents,
        });
    }

    fn add_kept(&mut self, kept: &Kept<'_>) {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend(kept.id.as_bytes());
        for text in [Some(kept.key), Some(kept.path), kept.session, Some(kept.kind)] {
            // Longer than any text: there is none.
            bytes.extend(text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            bytes.extend(text.unwrap_or_default().as_bytes());
        }
        for number in [Some(kept.n), Some(kept.at), kept.state] {
            bytes.push(u8::from(number.is_some()));
            bytes.extend(number.unwrap_or_default().to_le_bytes());
        }
        bytes.extend(kept.parents);
        let mut half = [0; 16];
        half.copy_from_slice(&FileHash::of(&bytes).as_bytes()[..16]);
        self.count += 1;
        self.sum = self.sum.wrapping_add(u128::from_le_bytes(half));
    }
}

/// Returns whether the index holds the events of `verified`, and what follows from them. Where segments grew
/// meanwhile, only that it holds as many.
pub(in crate::history) fn is_right(index: &Index, verified: &VerifiedSegments) -> Result<bool, Fault> {
    let Some(indexed) = sum(index.connection())? else { return Ok(false) };
    Ok(if has_ends_of(index.connection(), verified)? {
        indexed == verified.sum
    } else {
        indexed.count >= verified.sum.count
    })
}

/// The sum over the events of the index; `None` where its tables do not agree with each other.
fn sum(connection: &Connection) -> rusqlite::Result<Option<EventSum>> {
    let names = names(connection)?;
    let text = |number: i64| names.get(&number).map(String::as_str);
    let is_known = |number: i64| number == 0 || text(number).is_some();
    let (mut sum, mut derived) = (EventSum::default(), Derived::default());
    let mut statement = connection.prepare(
        "SELECT key, seq, id, path, n, at, session, kind, state, parents FROM events ORDER BY key, seq",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (key, path, kind, session): (i64, i64, i64, Option<i64>) =
            (row.get(0)?, row.get(3)?, row.get(7)?, row.get(6)?);
        if ![key, path, kind, session.unwrap_or(0)].into_iter().all(is_known) {
            return Ok(None);
        }
        let (id, parents) = (EventId::from_bytes(row.get(2)?), row.get_ref(9)?.as_blob()?);
        sum.add_kept(&Kept {
            id,
            key: text(key).unwrap_or_default(),
            path: text(path).unwrap_or_default(),
            session: session.and_then(text),
            kind: text(kind).unwrap_or_default(),
            n: row.get(4)?,
            at: row.get(5)?,
            state: row.get(8)?,
            parents,
        });
        if key != derived.key {
            if !derived.finish(connection)? {
                return Ok(None);
            }
            derived = Derived { key, totals: derived.totals, ..Derived::default() };
        }
        derived.take(row.get(1)?, id, path, parents);
    }
    let is_consistent = derived.finish(connection)? && derived.totals.are_all(connection)?;
    Ok(is_consistent.then_some(sum))
}

/// The rows that follow from the events of one artifact: the tables `heads`, `foreign_parents` and `places`.
#[derive(Default)]
struct Derived {
    key: i64,
    ids: HashMap<EventId, i64>,
    followed: HashSet<EventId>,
    paths: BTreeSet<i64>,
    totals: Totals,
}

/// The numbers of rows that the tables have for all artifacts.
#[derive(Clone, Copy, Default)]
struct Totals {
    heads: usize,
    foreign: usize,
    places: usize,
}

impl Derived {
    fn take(&mut self, seq: i64, id: EventId, path: i64, parents: &[u8]) {
        self.ids.insert(id, seq);
        self.followed.extend(parents.as_chunks().0.iter().map(|id| EventId::from_bytes(*id)));
        self.paths.insert(path);
    }

    /// Compares what follows from the events with the tables. What is about no artifact has nothing there.
    fn finish(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        if self.key == 0 {
            return Ok(true);
        }
        let heads: BTreeSet<i64> =
            self.ids.iter().filter(|(id, _)| !self.followed.contains(id)).map(|(_, seq)| *seq).collect();
        let foreign: BTreeSet<EventId> =
            self.followed.iter().filter(|id| !self.ids.contains_key(id)).copied().collect();
        self.totals.heads += heads.len();
        self.totals.foreign += foreign.len();
        self.totals.places += self.paths.len();
        let numbers = |sql: &str| -> rusqlite::Result<BTreeSet<i64>> {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_map([self.key], |row| row.get(0))?.collect()
        };
        let mut statement = connection.prepare_cached("SELECT parent FROM foreign_parents WHERE key = ?")?;
        let found = statement.query_map([self.key], |row| Ok(EventId::from_bytes(row.get(0)?)))?;
        Ok(numbers("SELECT seq FROM heads WHERE key = ?")? == heads
            && found.collect::<rusqlite::Result<BTreeSet<_>>>()? == foreign
            && self.paths.iter().try_fold(true, |is_right, path| {
                let mut statement =
                    connection.prepare_cached("SELECT 1 FROM places WHERE path = ? AND key = ?")?;
                Ok::<_, rusqlite::Error>(is_right && statement.exists([*path, self.key])?)
            })?)
    }
}

impl Totals {
    fn are_all(&self, connection: &Connection) -> rusqlite::Result<bool> {
        for (table, wanted) in
            [("heads", self.heads), ("foreign_parents", self.foreign), ("places", self.places)]
        {
            let sql = format!("SELECT COUNT(*) FROM {table}");
            let found: u64 = connection.query_row(&sql, [], |row| row.get(0))?;
            if found != wanted as u64 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn names(connection: &Connection) -> rusqlite::Result<HashMap<i64, String>> {
    let mut statement = connection.prepare("SELECT id, text FROM names")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn has_ends_of(connection: &Connection, verified: &VerifiedSegments) -> rusqlite::Result<bool> {
    // Of a segment in several files the first counts, as where they are verified.
    let mut statement = connection.prepare(
        "SELECT ends.name, ends.last FROM ends JOIN segments ON segments.id = ends.segment
         ORDER BY place DESC, segments.name DESC",
    )?;
    let ends = statement.query_map([], |row| Ok((row.get(0)?, FileHash::from_digest(row.get(1)?))))?;
    let ends: BTreeMap<String, FileHash> = ends.collect::<Result<_, _>>()?;
    let read = verified.ends.iter().map(|(name, end)| (name.as_str(), end.last));
    Ok(read.eq(ends.iter().map(|(name, last)| (name.as_str(), *last))))
}
