//! The extent of the journal, for whoever keeps a copy of it.

use std::fmt::Write as _;

use crate::disk::file_stat::FileStat;
use crate::history::{History, HistoryError, Selection, index::row};
use stepmark_model::artifact::FileHash;
use stepmark_model::journal::{Event, EventId};

impl History {
    /// A digest of the segments and how far each goes: while it is the same, so are the events.
    ///
    /// # Errors
    /// When a segment cannot be read.
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

    /// The ids of all events, ascending.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn event_ids(&self) -> Result<Vec<EventId>, HistoryError> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached("SELECT id FROM events ORDER BY id")?;
            let ids = statement.query_map([], |row| Ok(EventId::from_bytes(row.get(0)?)))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    /// The events with these ids, as far as they are there.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn events_with(&self, ids: &[EventId]) -> Result<Vec<Event>, HistoryError> {
        self.ask(|index| {
            let rows = ids.iter().filter_map(|id| row::by_id(index.connection(), *id).transpose());
            index.events(&rows.collect::<Result<Vec<_>, _>>()?)
        })
    }

    /// All events, the latest first.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn all_events(&self) -> Result<Vec<Event>, HistoryError> {
        self.select(Selection::default())
    }
}

#[cfg(test)]
mod tests {
    use crate::history::{scratch_journal::ScratchJournal, scratch_journal::event, scratch_journal::steps};

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
}
