//! Search by words, graph, age and kind.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::{params, params_from_iter, types::Value};

use super::{Memory, MemoryError, Query, Recalled, reading};
use crate::{
    MemoryRecord,
    ranking::{Score, score, words},
};

const CANDIDATES: usize = 200;
/// Content, reason, decision, tags.
const WEIGHTS: &str = "1.0, 0.7, 0.8, 1.2";
const STEPS: u32 = 3;

impl Memory {
    pub fn recall(&self, query: &Query, now: Timestamp) -> Result<Vec<Recalled>, MemoryError> {
        let words = words(&query.text);
        let near = self.near(query, &words)?;
        let found = match words.is_empty() {
            true => self.newest(query, &near, now)?,
            false => self.fitting(query, &words, now)?,
        };
        let scored = |(record, text): (MemoryRecord, f64)| {
            let distance = near.get(&record.id).copied();
            (score(&record, (text, distance), now), record)
        };
        let mut found: Vec<(Score, MemoryRecord)> = found.into_iter().map(scored).collect();
        found.sort_by(|(one, a), (other, b)| {
            other.total.total_cmp(&one.total).then_with(|| (b.created_at, &a.id).cmp(&(a.created_at, &b.id)))
        });
        let limit = if query.limit == 0 { 10 } else { query.limit };
        let (mut seen, mut recalled) = (HashSet::new(), Vec::new());
        for (score, record) in found {
            let superseded_by = reading::superseded_by(&self.connection, &record.id)?;
            // The same words are the same memory; if decided anew, another one.
            let is_new = seen.insert((record.kind, record.content_hash.clone(), superseded_by.clone()));
            if is_new && recalled.len() < limit {
                recalled.push(Recalled { superseded_by, record, score });
            }
        }
        Ok(recalled)
    }

    pub fn known(&self, id: &str, now: Timestamp) -> Result<Option<Recalled>, MemoryError> {
        let Some(record) = reading::records(&self.connection, "WHERE id = ?", [id])?.pop() else {
            return Ok(None);
        };
        let (score, superseded_by) = (score(&record, (0.0, None), now), self.superseded_by(id)?);
        Ok(Some(Recalled { record, superseded_by, score }))
    }

    pub fn decisions(&self, query: &Query, now: Timestamp) -> Result<Vec<Recalled>, MemoryError> {
        let query = Query { kinds: vec![crate::MemoryKind::Decision], ..query.clone() };
        let mut found = self.recall(&Query { limit: usize::MAX, ..query }, now)?;
        found.sort_by(|one, other| {
            (other.record.created_at, &other.record.id).cmp(&(one.record.created_at, &one.record.id))
        });
        Ok(found)
    }

    fn near(&self, query: &Query, words: &[String]) -> Result<HashMap<String, u32>, MemoryError> {
        let mut begin: Vec<i64> = Vec::new();
        if let Some(artifact) = &query.artifact {
            begin.extend(self.nodes_called(artifact)?);
        }
        for name in query.text.split_whitespace().filter(|_| !words.is_empty()).take(16) {
            let name = name.trim_matches(|letter: char| !letter.is_alphanumeric());
            if name.len() > 2 {
                begin.extend(self.nodes_called(name)?);
            }
        }
        let mut near = HashMap::new();
        if !begin.is_empty() {
            for (number, steps) in self.distances(&begin, STEPS)? {
                if let Some(id) = self.memory_of(number)? {
                    near.insert(id, steps.saturating_sub(1));
                }
            }
        }
        Ok(near)
    }

    fn fitting(
        &self,
        query: &Query,
        words: &[String],
        now: Timestamp,
    ) -> Result<Vec<(MemoryRecord, f64)>, MemoryError> {
        let wanted = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        let (condition, mut parameters) = condition(query, now);
        let sql = format!(
            "SELECT {}, fit FROM (SELECT rowid AS number, bm25(words, {WEIGHTS}) AS fit FROM words WHERE words MATCH ?)
             JOIN memories USING (number) WHERE {condition} ORDER BY fit, id LIMIT {CANDIDATES}",
            reading::COLUMNS
        );
        parameters.insert(0, wanted.into());
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(parameters), |row| {
            Ok((reading::record(row)?, -row.get::<_, f64>(16)?))
        })?;
        let found: Vec<(MemoryRecord, f64)> = rows.collect::<rusqlite::Result<_>>()?;
        let best = found.iter().map(|(_, fit)| *fit).fold(f64::MIN_POSITIVE, f64::max);
        Ok(found.into_iter().map(|(record, fit)| (record, (fit / best).clamp(0.0, 1.0))).collect())
    }

    fn newest(
        &self,
        query: &Query,
        near: &HashMap<String, u32>,
        now: Timestamp,
    ) -> Result<Vec<(MemoryRecord, f64)>, MemoryError> {
        let (condition, parameters) = condition(query, now);
        let most = query.limit.max(CANDIDATES);
        let sql = format!("WHERE {condition} ORDER BY created_at DESC, id LIMIT {}", most.min(1_000_000));
        let mut found = reading::records(&self.connection, &sql, params_from_iter(parameters.clone()))?;
        let known: Vec<String> = found.iter().map(|record| record.id.clone()).collect();
        for id in near.keys().filter(|id| !known.contains(id)) {
            let sql = format!("WHERE {condition} AND id = ?");
            let mut parameters = parameters.clone();
            parameters.push(id.clone().into());
            found.extend(reading::records(&self.connection, &sql, params_from_iter(parameters))?);
        }
        Ok(found.into_iter().map(|record| (record, 0.0)).collect())
    }

    fn memory_of(&self, number: i64) -> rusqlite::Result<Option<String>> {
        let sql = "SELECT name FROM nodes WHERE number = ? AND kind = 'memory'";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![number])?;
        rows.next()?.map(|row| row.get(0)).transpose()
    }
}

fn condition(query: &Query, now: Timestamp) -> (String, Vec<Value>) {
    let (mut all, mut parameters) = (vec!["1".to_owned()], Vec::<Value>::new());
    if !query.all {
        all.push("id NOT IN (SELECT old FROM superseded)".to_owned());
        all.push("(valid_to IS NULL OR valid_to > ?)".to_owned());
        parameters.push(now.as_millisecond().into());
    }
    if !query.kinds.is_empty() {
        let kinds: Vec<String> = query.kinds.iter().map(|kind| format!("'{}'", kind.name())).collect();
        all.push(format!("kind IN ({})", kinds.join(", ")));
    }
    if let Some(session) = &query.session {
        all.push("session = ?".to_owned());
        parameters.push(session.clone().into());
    }
    if let Some(since) = query.since {
        all.push("created_at >= ?".to_owned());
        parameters.push(since.as_millisecond().into());
    }
    (all.join(" AND "), parameters)
}
