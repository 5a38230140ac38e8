//! The extent of the journal, for whoever keeps a copy of it.

use crate::history::{History, HistoryError, Selection};
use crate::{disk::file_stat::FileStat, history::index::database, history::segments::files};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use stepmark_model::artifact::FileHash;
use stepmark_model::journal::{Event, EventId, SegmentHead, SegmentName};

impl History {
    /// A digest of the segments and how far each goes: while it is the same, so are the events.
    pub fn extent(&self) -> Result<FileHash, HistoryError> {
        self.ask(|index| {
            let mut statement = index
                .connection()
                .prepare_cached("SELECT name, place, stat, last FROM segments ORDER BY name")?;
            let mut rows = statement.query([])?;
            let mut text = String::new();
            while let Some(row) = rows.next()? {
                let (name, place): (String, i64) = (row.get(0)?, row.get(1)?);
                let last = row.get::<_, Option<[u8; 32]>>(3)?.map(FileHash::from_digest);
                // Writing to a string never fails.
                let _infallible =
                    writeln!(text, "{name} {place} {} {last:?}", FileStat::from_bytes(&row.get(2)?));
            }
            Ok(FileHash::of(text.as_bytes()))
        })
    }

    pub fn event_ids(&self) -> Result<Vec<EventId>, HistoryError> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached("SELECT id FROM events ORDER BY id")?;
            let ids = statement.query_map([], |row| Ok(EventId::from_bytes(row.get(0)?)))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    pub fn events_with(&self, ids: &[EventId]) -> Result<Vec<Event>, HistoryError> {
        self.ask(|index| {
            let rows = ids.iter().filter_map(|id| database::by_id(index.connection(), *id).transpose());
            index.events(&rows.collect::<Result<Vec<_>, _>>()?)
        })
    }

    pub fn all_events(&self) -> Result<Vec<Event>, HistoryError> {
        self.select(Selection::default())
    }
}

impl History {
    pub fn tips(&self, most: usize) -> Result<Vec<SegmentHead>, HistoryError> {
        let names: BTreeSet<SegmentName> = files::list_sealed(self.root())?.into_keys().collect();
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT ends.name, ends.last, ends.named, segments.name FROM ends
                     JOIN segments ON segments.id = ends.segment WHERE segments.is_known",
            )?;
            let mut rows = statement.query([])?;
            let (mut heads, mut named) = (Vec::new(), HashSet::new());
            while let Some(row) = rows.next()? {
                let (name, last, follows): (String, [u8; 32], Option<String>) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                let file = SegmentName::new(&row.get::<_, String>(3)?).filter(|name| names.contains(name));
                let Some((segment, _)) = SegmentName::new(&name).zip(file) else { continue };
                heads.push((follows.is_none(), SegmentHead { segment, last: FileHash::from_digest(last) }));
                named.extend(follows.iter().flat_map(|names| names.split(' ')).map(str::to_owned));
            }
            heads.retain(|(_, head)| !named.contains(head.segment.as_str()));
            heads.sort();
            heads.dedup();
            Ok(heads.into_iter().map(|(_, head)| head).take(most).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::scratch_journal::{ScratchJournal, chain, event, steps};
    use crate::history::verify_segments;
    use stepmark_model::journal::seal;

    #[test]
    fn what_was_appended_shows_in_the_extent_and_the_ids() {
        let project = ScratchJournal::new();
        let one = event(("id:A", "a"), &[], &steps(1), 1);
        let two = event(("id:A", "a"), &[(&one, &steps(1))], &steps(2), 2);
        let mut segment = project.segment_of("main-a", std::slice::from_ref(&one));
        let history = project.history();
        let before = history.extent().unwrap();
        assert_eq!(history.extent().unwrap(), before);
        assert_eq!(history.event_ids().unwrap(), [one.id]);
        segment.append(&two);
        assert_ne!(history.extent().unwrap(), before);
        let mut ids = [one.id, two.id];
        ids.sort();
        assert_eq!(history.event_ids().unwrap(), ids);
        assert_eq!(history.events_with(&[two.id]).unwrap(), std::slice::from_ref(&two));
        assert_eq!(history.all_events().unwrap(), [two, one]);
    }

    fn names(heads: &[SegmentHead]) -> Vec<&str> {
        heads.iter().map(|head| head.segment.as_str()).collect()
    }

    #[test]
    fn each_seal_takes_some_that_nobody_named() {
        let project = ScratchJournal::new();
        for name in ["a", "b", "c", "live"] {
            project.segment_of(name, &chain((name, name), 2));
        }
        ["a", "b", "c"].into_iter().for_each(|name| project.seal(name));
        let history = project.history();
        assert_eq!(names(&history.tips(9).unwrap()), ["a", "b", "c"]);
        let heads = history.tips(2).unwrap();
        let mut segment = project.segment_of("d", &chain(("d", "d"), 1));
        segment.append(&seal(&heads, "2026-11-22T10:00:00Z".parse().unwrap()));
        assert_eq!(names(&history.tips(9).unwrap()), ["a", "b", "c"], "it is not sealed yet");
        project.seal("d");
        let heads = history.tips(9).unwrap();
        assert_eq!(names(&heads), ["d", "c"], "first what names others");
        assert_eq!(heads[0].last, verify_segments(&project.root).unwrap().ends[&heads[0].segment].last);
        project.compact();
        assert_eq!(history.tips(9).unwrap(), heads);
        assert_eq!(project.history().tips(9).unwrap(), heads);
        let found = verify_segments(&project.root).unwrap();
        assert_eq!((found.events, found.problems), (9, Vec::new()), "a seal is no event");
        assert_eq!(history.all_events().unwrap().len(), 9);
        assert!(!history.renew_if_wrong(&verify_segments(&project.root).unwrap()).unwrap());
    }
}
