//! The journal: events that are new come in, events of segments that are gone go out.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::error::Fault;
use crate::{
    journal::{Event, EventId, HistoryError, changes_in_words},
    project::index_db::{Contents, IntoCell as _, Part, Row},
    workspace::Workspace,
};

/// Takes in what the journal tells since the last time.
pub(super) fn refresh(workspace: &Workspace, contents: &mut Contents<'_>) -> Result<(), Fault> {
    let extent = workspace.with_history(|history| history.extent())?;
    if contents.stamp(Part::Events)? == Some(extent) {
        return Ok(());
    }
    let known = known_ids(contents)?;
    let is_first = known.is_empty();
    let (fresh, gone) = workspace.with_history(|history| {
        if is_first {
            return Ok((history.all_events()?, Vec::new()));
        }
        let (new, gone) = difference(&history.event_ids()?, &known);
        Ok::<_, HistoryError>((history.events_with(&new)?, gone))
    })?;
    for id in gone {
        contents.remove("events", "id", &id.to_string())?;
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

/// What only `now` holds, and what only `before` does; both are ascending.
fn difference(now: &[EventId], before: &[EventId]) -> (Vec<EventId>, Vec<EventId>) {
    let (mut new, mut gone) = (Vec::new(), Vec::new());
    let (mut left, mut right) = (0, 0);
    while left < now.len() || right < before.len() {
        let order = match (now.get(left), before.get(right)) {
            (Some(one), Some(other)) => one.cmp(other),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        match order {
            Ordering::Less => new.push(now[left]),
            Ordering::Greater => gone.push(before[right]),
            Ordering::Equal => {}
        }
        left += usize::from(order != Ordering::Greater);
        right += usize::from(order != Ordering::Less);
    }
    (new, gone)
}

fn row(event: &Event) -> Row {
    let artifact = event.artifact.as_ref();
    let changes = (!event.changes.is_empty()).then(|| changes_in_words(&event.changes));
    vec![
        moment(event.at).cell(),
        event.id.to_string().cell(),
        event.kind.0.as_ref().cell(),
        artifact.map(|artifact| artifact.path.as_str()).cell(),
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

/// A time with all its milliseconds, so that times sort as texts.
fn moment(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_and_what_is_gone() {
        let ids = |numbers: &[u8]| -> Vec<EventId> {
            numbers.iter().map(|number| EventId::from_bytes([*number; 16])).collect()
        };
        let cases: [[&[u8]; 4]; 6] = [
            [&[], &[], &[], &[]],
            [&[1, 2], &[], &[1, 2], &[]],
            [&[], &[1, 2], &[], &[1, 2]],
            [&[1, 2, 3], &[1, 2, 3], &[], &[]],
            [&[1, 3, 5, 6], &[2, 3, 4], &[1, 5, 6], &[2, 4]],
            [&[2, 4], &[1, 2, 3, 4, 5], &[], &[1, 3, 5]],
        ];
        for [now, before, new, gone] in cases {
            assert_eq!(difference(&ids(now), &ids(before)), (ids(new), ids(gone)), "{now:?} {before:?}");
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
