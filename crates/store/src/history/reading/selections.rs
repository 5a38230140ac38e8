//! Events selected for a person to read, the latest first.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rusqlite::Connection;

use crate::disk::root::Root;
use crate::history::index::{Fault, Index, Row, database, identity};
use crate::history::{History, HistoryError, KnownArtifact};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{ArtifactKey, Event, EventId};

/// The events that are wanted; all conditions count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection<'a> {
    pub artifact: Option<(&'a ArtifactKey, &'a ProjectPath)>,
    pub session: Option<&'a str>,
    pub limit: Option<usize>,
}

impl History {
    /// The events of `selection`, the latest first; none before one that it follows.
    pub fn select(&self, selection: Selection<'_>) -> Result<Vec<Event>, HistoryError> {
        self.ask(|index| {
            let session =
                match selection.session.map(|name| database::number(index.connection(), name)).transpose()? {
                    Some(None) => return Ok(Vec::new()),
                    number => number.flatten(),
                };
            let limit = selection.limit.unwrap_or(usize::MAX);
            let rows = match (selection.artifact, session) {
                (Some((key, path)), _) => of_artifact((self.root(), index.connection()), key, path)?,
                (None, Some(session)) => {
                    by_time(database::select(index.connection(), "WHERE session = ?", [session])?)
                }
                (None, None) => {
                    // All of the moment that the limit falls into, so that what follows what decides.
                    let condition = "WHERE at >= IFNULL(
                        (SELECT at FROM events ORDER BY at DESC LIMIT 1 OFFSET ?), -9223372036854775808)";
                    let offset = i64::try_from(limit.saturating_sub(1)).unwrap_or(i64::MAX);
                    let mut rows = database::select(index.connection(), condition, [offset])?;
                    rows.sort_by_key(|row| (row.at, row.n, row.id));
                    rows
                }
            };
            let is_wanted = |row: &&Row| session.is_none() || row.session == session;
            let wanted: Vec<Row> = rows.iter().rev().filter(is_wanted).take(limit).cloned().collect();
            index.events(&wanted)
        })
    }

    pub fn known_below(&self, folder: &ProjectPath) -> Result<Vec<ProjectPath>, HistoryError> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT DISTINCT text FROM heads JOIN events USING (key, seq) JOIN names ON names.id = events.path
                 WHERE text >= ?1 AND text < ?2 ORDER BY text",
            )?;
            // `0` is the character behind `/`.
            let range = [format!("{folder}/"), format!("{folder}0")];
            let paths = statement.query_map(range, |row| row.get::<_, String>(0))?;
            let paths = paths.collect::<Result<Vec<_>, _>>()?;
            Ok(paths.into_iter().filter_map(|path| ProjectPath::new(path).ok()).collect())
        })
    }

    pub fn latest(&self, limit: usize) -> Result<Vec<Event>, HistoryError> {
        self.select(Selection { limit: Some(limit), ..Selection::default() })
    }

    /// The events of a session, the first first; none where no event names it.
    pub fn of_session(&self, session: &str) -> Result<Vec<Event>, HistoryError> {
        let mut events = self.select(Selection { session: Some(session), ..Selection::default() })?;
        events.reverse();
        Ok(events)
    }

    /// The artifacts whose state may differ between the ends of two sessions: those of which events happened
    /// in one of the two, or between their last events. In the order of their paths, each once.
    pub fn touched(&self, one: &str, other: &str) -> Result<Vec<KnownArtifact>, HistoryError> {
        self.ask(|index| {
            let (one, one_end) = index.end_of_session(one)?;
            let (other, other_end) = index.end_of_session(other)?;
            let mut statement = index.connection().prepare_cached(
                "SELECT key FROM events WHERE session IN (?1, ?2) AND key <> 0
                 UNION SELECT key FROM events WHERE at BETWEEN ?3 AND ?4 AND key <> 0",
            )?;
            let (from, to) = (one_end.min(other_end), one_end.max(other_end));
            let keys = statement.query_map([one, other, from, to], |row| row.get(0))?;
            let mut touched: BTreeMap<ProjectPath, KnownArtifact> = BTreeMap::new();
            for key in keys.collect::<Result<Vec<i64>, _>>()? {
                // Without a head are only forged events, which follow each other.
                let Some(artifact) = index.artifact_of(key)? else { continue };
                // Of an artifact that goes on under another key, that one tells the whole history.
                let is_known = touched.get(&artifact.path).is_some_and(|known| !known.goes_on);
                if !is_known {
                    touched.insert(artifact.path.clone(), artifact);
                }
            }
            Ok(touched.into_values().collect())
        })
    }
}

/// The events of an artifact, and those that tell why something was done to it all the same: by time, but
/// none before one that it follows.
fn of_artifact(
    (root, connection): (&Root, &Connection),
    key: &ArtifactKey,
    path: &ProjectPath,
) -> rusqlite::Result<Vec<Row>> {
    let mut rows = identity::rows(root, connection, key, path)?;
    let paths: BTreeSet<i64> = rows.iter().map(|row| row.path).filter(|path| *path != 0).collect();
    let known: HashSet<EventId> = rows.iter().map(|row| row.id).collect();
    for path in paths {
        let told = database::select(connection, "WHERE key = 0 AND path = ?", [path])?;
        rows.extend(told.into_iter().filter(|row| !known.contains(&row.id)));
    }
    rows.sort_by_key(Row::order);
    // Clocks differ: what follows another event did not happen before it.
    let mut times: HashMap<EventId, i64> = HashMap::new();
    for row in &rows {
        let after = row.parents.iter().filter_map(|parent| times.get(parent)).max();
        times.insert(row.id, after.map_or(row.at, |after| row.at.max(*after)));
    }
    rows.sort_by_key(|row| (times.get(&row.id).copied(), row.n, row.id));
    Ok(rows)
}

/// By time; events of one moment in the order in which they were written.
fn by_time(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| (row.at, row.place));
    rows
}

impl Index {
    fn artifact_of(&self, key: i64) -> Result<Option<KnownArtifact>, Fault> {
        let condition = "WHERE key = ?1 AND seq IN (SELECT seq FROM heads WHERE key = ?1)";
        let mut heads = database::select(self.connection(), condition, [key])?;
        heads.sort_by_key(Row::order);
        if heads.is_empty() { Ok(None) } else { self.artifact(&heads).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{
        scratch_journal::ScratchJournal, scratch_journal::chain, scratch_journal::event,
        scratch_journal::in_session, scratch_journal::key, scratch_journal::path, scratch_journal::steps,
    };

    #[test]
    fn all_conditions_count() {
        let project = ScratchJournal::new();
        let prd = ("id:A", "a.md");
        let mut events = chain(prd, 2);
        let third = in_session(event(prd, &[(&events[1], &steps(2))], &steps(3), 2), "s-1");
        let other = in_session(event(("id:B", "b.md"), &[], &steps(1), 7), "s-1");
        events.extend([third, other]);
        project.segment_of("main-a", &events);
        let history = project.history();
        let (key, path) = (key("id:A"), path("a.md"));
        let artifact = Some((&key, &path));
        for (artifact, session, limit, wanted) in [
            (None, None, None, &[3, 2, 1, 0][..]),
            (None, None, Some(2), &[3, 2]),
            (artifact, None, None, &[2, 1, 0]),
            (artifact, None, Some(1), &[2]),
            (None, Some("s-1"), None, &[3, 2]),
            (None, Some("s-1"), Some(1), &[3]),
            (artifact, Some("s-1"), None, &[2]),
            (artifact, Some("none"), None, &[]),
        ] {
            let selection = Selection { artifact, session, limit };
            let wanted: Vec<Event> = wanted.iter().map(|place: &usize| events[*place].clone()).collect();
            assert_eq!(history.select(selection).unwrap(), wanted, "{selection:?}");
        }
    }

    #[test]
    fn what_happened_between_two_sessions_touches() {
        let project = ScratchJournal::new();
        let at = |name: &'static str, session: Option<&str>, second| {
            let made = event((name, &name[3..]), &[], &steps(1), second);
            session.map_or_else(|| made.clone(), |session| in_session(made.clone(), session))
        };
        let events = [
            at("id:before", None, 1),
            at("id:in-one", Some("s-1"), 2),
            at("id:end-of-one", Some("s-1"), 3),
            at("id:between", None, 4),
            at("id:in-two", Some("s-2"), 5),
            at("id:after", None, 6),
        ];
        project.segment_of("main-a", &events);
        let history = project.history();
        for (one, other) in [("s-1", "s-2"), ("s-2", "s-1")] {
            let touched = history.touched(one, other).unwrap();
            let touched: Vec<_> = touched.iter().map(|artifact| artifact.path.as_str()).collect();
            assert_eq!(touched, ["between", "end-of-one", "in-one", "in-two"]);
        }
        assert!(matches!(history.touched("s-1", "s-9"), Err(HistoryError::UnknownSession { .. })));
    }
}
