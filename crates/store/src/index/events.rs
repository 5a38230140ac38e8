//! Events: reads what was appended; all after any other change of the journal.

use jiff::Timestamp;

use crate::Error;
use crate::index_db::{Contents, IntoCell as _, Part, Row};
use crate::{index::error::Fault, workspace::Workspace};
use stepmark_model::journal::{Event, EventId, changes_in_words};

pub(super) fn refresh(workspace: &Workspace, contents: &mut Contents<'_>) -> Result<(), Fault> {
    let extent = workspace.history().ask(|history| history.extent())?;
    if contents.stamp(Part::Events)? == Some(extent) {
        return Ok(());
    }
    let known = known_ids(contents)?;
    let (fresh, is_appended) = workspace.history().ask(|history| {
        let new = appended(&history.event_ids()?, &known);
        Ok::<_, Error>(match &new {
            Some(new) => (history.events_with(new)?, true),
            None => (history.all_events()?, false),
        })
    })?;
    if !is_appended {
        contents.clear("events")?;
    }
    for event in &fresh {
        contents.insert("events", row(event))?;
    }
    contents.set_stamp(Part::Events, Some(extent))?;
    Ok(())
}

fn known_ids(contents: &Contents<'_>) -> rusqlite::Result<Vec<EventId>> {
    let mut statement = contents.connection().prepare_cached("SELECT id FROM events ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let text = row.get_ref(0)?.as_str()?;
        ids.push(text.parse().map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
        })?);
    }
    Ok(ids)
}

/// The ids in `now` that are not in `before`; both are ascending. `None` if all must be read: events are
/// gone, none were added (a segment edited by hand), or there were none before.
fn appended(now: &[EventId], before: &[EventId]) -> Option<Vec<EventId>> {
    let mut known = before.iter().peekable();
    let mut new = Vec::new();
    for id in now {
        if known.next_if_eq(&id).is_none() {
            new.push(*id);
        }
    }
    let is_growth = known.next().is_none() && !before.is_empty() && !new.is_empty();
    is_growth.then_some(new)
}

fn row(event: &Event) -> Row {
    let artifact = event.artifact.as_ref();
    let changes = (!event.changes.is_empty()).then(|| changes_in_words(&event.changes));
    vec![
        moment(event.at).cell(),
        event.id.to_string().cell(),
        event.kind.0.as_ref().cell(),
        artifact.map(|artifact| artifact.path.as_str()).or_else(|| event.data.get("path")?.as_str()).cell(),
        artifact.map(|artifact| artifact.key.as_str()).cell(),
        event.actor.to_string().cell(),
        event.session.clone().cell(),
        event.correlation.clone().cell(),
        event.n.cell(),
        changes.cell(),
        event.command.clone().cell(),
        event.reason.clone().cell(),
    ]
}

/// With all milliseconds, so that times sort as texts.
fn moment(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events now and before, and those that were appended.
    type Case = (&'static [u8], &'static [u8], Option<&'static [u8]>);

    #[test]
    fn only_what_was_appended_is_read_alone() {
        let ids = |numbers: &[u8]| -> Vec<EventId> {
            numbers.iter().map(|number| EventId::from_bytes([*number; 16])).collect()
        };
        let cases: [Case; 8] = [
            (&[], &[], None),
            (&[1, 2], &[], None),
            (&[], &[1, 2], None),
            (&[1, 2, 3], &[1, 2, 3], None),
            (&[1, 3, 5, 6], &[2, 3, 4], None),
            (&[2, 4], &[1, 2, 3, 4, 5], None),
            (&[1, 2, 3, 4, 5], &[2, 4], Some(&[1, 3, 5])),
            (&[1, 2], &[1], Some(&[2])),
        ];
        for (now, before, wanted) in cases {
            assert_eq!(appended(&ids(now), &ids(before)), wanted.map(ids), "{now:?} {before:?}");
        }
    }

    #[test]
    fn times_sort_as_texts() {
        let at = |milliseconds| moment(Timestamp::from_millisecond(milliseconds).unwrap());
        assert_eq!(at(1_700_000_000_000), "2023-11-14T22:13:20.000Z");
        assert!(at(1_700_000_000_000) < at(1_700_000_000_001));
        assert!(at(1_700_000_000_009) < at(1_700_000_000_010));
    }
}
