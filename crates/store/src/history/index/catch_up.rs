//! Updating the index from the segments.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    io,
};

use rusqlite::{Connection, OptionalExtension, params};

use crate::disk::{
    file_reading::{FileStat, KnownStat},
    root::Root,
};
use crate::history::index::{Fault, Filling, Index};
use crate::history::segments::{Listing, Part, Progress, SegmentFiles, SegmentSource, files, lines};
use crate::history::{SegmentFile, SegmentPlace};
use stepmark_model::artifact::FileHash;
use stepmark_model::journal::{SegmentHead, SegmentName};

/// In bytes, somewhat more than usual: a longer log is emptied.
const LONG_LOG: u64 = 4 * 1024 * 1024;

#[derive(Clone, Debug)]
struct Known {
    id: i64,
    place: SegmentPlace,
    stat: KnownStat,
    progress: Option<Progress>,
}

struct Plan<'listing> {
    vanished: Vec<i64>,
    /// New, grown, or replaced segments.
    changed: Vec<(&'listing SegmentFile, Option<Known>)>,
}

pub(in crate::history) fn run(index: &Index, root: &Root) -> Result<(), Fault> {
    if is_up_to_date(index.connection(), root)? {
        return Ok(());
    }
    let transaction = index.write()?;
    index.reader.borrow_mut().forget();
    // Another process may have done it meanwhile. Segments with copies of dropped events must be read again,
    // so this loops until nothing is left to do.
    loop {
        let listing = files::list(root)?;
        let plan = plan(&listing.files, &known(&transaction, ALL)?);
        if plan.is_empty() {
            remember_folder(&transaction, &listing)?;
            break;
        }
        if follow(&transaction, root, plan, &listing)? == Followed::ByReadingOn {
            remember_folder(&transaction, &listing)?;
            break;
        }
    }
    transaction.commit()?;
    index.database.shorten_log(LONG_LOG)?;
    Ok(())
}

/// If no file came or went in the sealed folder, only live segments are checked.
fn is_up_to_date(connection: &Connection, root: &Root) -> Result<bool, Fault> {
    let folder = files::sealed_folder_stat(root)?;
    let mut statement = connection.prepare_cached("SELECT stat FROM folder")?;
    let listed = statement.query_row([], |row| Ok(FileStat::from_bytes(&row.get(0)?))).optional()?;
    if folder.is_some() && folder == listed {
        let live = files::list_live(root)?;
        return Ok(plan(&live, &known(connection, "WHERE place = 0")?).is_empty());
    }
    let listing = files::list(root)?;
    Ok(listing.settled_folder().is_none() && plan(&listing.files, &known(connection, ALL)?).is_empty())
}

/// True if another process emptied the index: it would answer as if there were no history. It is filled in
/// one transaction, so it knows all segments or none.
pub(in crate::history) fn is_emptied(index: &Index, root: &Root) -> Result<bool, Fault> {
    if !index.database.is_on_disk() {
        return Ok(false);
    }
    let mut statement = index.connection().prepare_cached("SELECT EXISTS (SELECT 1 FROM segments)")?;
    let is_filled: bool = statement.query_row([], |row| row.get(0))?;
    Ok(!is_filled && !files::list(root)?.files.is_empty())
}

fn remember_folder(connection: &Connection, listing: &Listing) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM folder")?.execute([])?;
    if let Some(folder) = listing.settled_folder() {
        connection.prepare_cached("INSERT INTO folder (stat) VALUES (?)")?.execute([folder.to_bytes()])?;
    }
    Ok(())
}

impl Plan<'_> {
    const fn is_empty(&self) -> bool {
        self.vanished.is_empty() && self.changed.is_empty()
    }
}

fn plan<'listing>(listing: &'listing SegmentFiles, known: &HashMap<String, Known>) -> Plan<'listing> {
    let is_gone = |name: &str| SegmentName::new(name).is_none_or(|name| !listing.contains_key(&name));
    let vanished = known.iter().filter(|(name, _)| is_gone(name)).map(|(_, known)| known.id).collect();
    let changed = listing
        .values()
        .map(|file| (file, known.get(file.name.as_str()).cloned()))
        .filter(|(file, known)| {
            known.as_ref().is_none_or(|known| known.place != file.place || !known.stat.proves(&file.stat))
        })
        .collect();
    Plan { vanished, changed }
}

const ALL: &str = "";

fn known(connection: &Connection, condition: &str) -> rusqlite::Result<HashMap<String, Known>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT name, id, place, stat, is_settled, header, is_known, last, last_start, end, lines
         FROM segments {condition}"
    ))?;
    let rows = statement.query_map([], |row| {
        let progress = match row.get::<_, Option<[u8; 32]>>(5)? {
            Some(header) => Some(Progress {
                header: FileHash::from_digest(header),
                is_known: row.get(6)?,
                last: FileHash::from_digest(row.get(7)?),
                last_start: row.get(8)?,
                end: row.get(9)?,
                lines: row.get(10)?,
            }),
            None => None,
        };
        // An unknown code never equals a file's place.
        let place = SegmentPlace::of_code(row.get(2)?).unwrap_or(SegmentPlace::Live);
        let stat = KnownStat { stat: FileStat::from_bytes(&row.get(3)?), is_settled: row.get(4)? };
        Ok((row.get(0)?, Known { id: row.get(1)?, place, stat, progress }))
    })?;
    rows.collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Followed {
    /// Events were added; nothing else must be read.
    ByReadingOn,
    /// Segments were dropped, and maybe others with them.
    ByDropping,
}

fn follow(
    connection: &Connection,
    root: &Root,
    plan: Plan<'_>,
    listing: &Listing,
) -> Result<Followed, Fault> {
    let mut lost = HashSet::new();
    let mut followed = if plan.vanished.is_empty() { Followed::ByReadingOn } else { Followed::ByDropping };
    for segment in plan.vanished {
        drop_segment(connection, segment, &mut lost)?;
    }
    let mut to_read = Vec::new();
    for (file, known) in plan.changed {
        if let Some(known) = known.as_ref()
            && !goes_on(root, file, known.progress)?
        {
            drop_segment(connection, known.id, &mut lost)?;
            // No other segment depends on one without lines.
            if known.progress.is_some() {
                followed = Followed::ByDropping;
            }
        }
        to_read.push(file);
    }
    if followed == Followed::ByDropping {
        // Read again for segments that lost their own file.
        for joined in known(connection, "WHERE place = 3")?.into_values() {
            drop_segment(connection, joined.id, &mut lost)?;
        }
    }
    // Dropping a segment also drops those with copies of its events.
    let known = known(connection, ALL)?;
    let bytes = to_read.iter().map(|file| file.stat.size).sum();
    let is_alone = |file: &&SegmentFile| file.place != SegmentPlace::Joined;
    let alone = listing.files.values().filter(is_alone).map(|file| &file.name).collect();
    let mut filling = Filling::new(connection, bytes)?;
    for file in to_read {
        let known = known.get(file.name.as_str()).cloned();
        let (segment, progress) = read_segment(connection, root, (file, &alone), known, &mut filling)?;
        remember(connection, segment, file, file.stat.known_since(listing.began), progress)?;
    }
    filling.finish(&lost)?;
    Ok(followed)
}

/// Also drops every segment with a copy of one of its events, so that it is read again.
fn drop_segment(connection: &Connection, segment: i64, lost: &mut HashSet<i64>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT copies.segment FROM copies JOIN events ON events.id = copies.id WHERE events.segment = ?",
    )?;
    let copied: Vec<i64> = statement.query_map([segment], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut statement =
        connection.prepare_cached("SELECT DISTINCT key FROM events WHERE segment = ? AND key <> 0")?;
    for key in statement.query_map([segment], |row| row.get(0))? {
        lost.insert(key?);
    }
    for table in ["events", "copies", "problems", "ends"] {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE segment = ?"))?.execute([segment])?;
    }
    connection.prepare_cached("DELETE FROM segments WHERE id = ?")?.execute([segment])?;
    copied
        .into_iter()
        .filter(|copied| *copied != segment)
        .try_for_each(|copied| drop_segment(connection, copied, lost))
}

/// Reads the unindexed part of a segment, or all of it. Joined segments that also exist `alone` are skipped.
/// Returns its number and progress.
fn read_segment(
    connection: &Connection,
    root: &Root,
    (file, alone): (&SegmentFile, &BTreeSet<&SegmentName>),
    known: Option<Known>,
    filling: &mut Filling<'_>,
) -> Result<(i64, Option<Progress>), Fault> {
    let segment = match &known {
        Some(known) => known.id,
        None => {
            let mut statement = connection
                .prepare_cached("INSERT INTO segments (name, place, stat, is_settled) VALUES (?, ?, ?, 0)")?;
            statement.insert(params![file.name.as_str(), file.place.code(), file.stat.to_bytes()])?
        }
    };
    // A torn line may be complete now.
    connection
        .prepare_cached("DELETE FROM problems WHERE segment = ? AND word = 'torn'")?
        .execute([segment])?;
    let behind = known.and_then(|known| known.progress);
    let read_so_far = behind.map_or(0, |progress| progress.end);
    let mut source = SegmentSource::open(root, file, file.stat.size.saturating_sub(read_so_far))?;
    source.skip_to(read_so_far).map_err(|error| unreadable(root, file, error))?;
    let mut is_again = false;
    let read = lines::read(source.reader(), &file.name, behind, |mut line| {
        if let Some(name) = &line.begins {
            is_again = file.place == SegmentPlace::Joined && alone.contains(name);
        }
        line.event = line.event.filter(|_| !is_again);
        filling.take(segment, &line).map_err(|error| Reading::Fault(error.into()))
    });
    let (progress, parts) = read.map_err(|error| match error {
        Reading::Io(error) => unreadable(root, file, error),
        Reading::Fault(fault) => fault,
    })?;
    parts.iter().try_for_each(|part| remember_end(connection, segment, part))?;
    Ok((segment, progress))
}

fn remember_end(connection: &Connection, segment: i64, part: &Part) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO ends (segment, name, last, events, named) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET last = ?3, events = events + ?4, named = IFNULL(?5, named)",
    )?;
    let names = |heads: &Vec<SegmentHead>| {
        // Segment names have no blanks.
        heads.iter().map(|head| head.segment.as_str()).collect::<Vec<_>>().join(" ")
    };
    let (last, named) = (part.last.as_bytes(), part.named.as_ref().map(names));
    statement.execute(params![segment, part.name.as_str(), last, part.events, named]).map(|_| ())
}

fn remember(
    connection: &Connection,
    segment: i64,
    file: &SegmentFile,
    known: KnownStat,
    progress: Option<Progress>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE segments SET place = ?, stat = ?, is_settled = ?, header = ?, is_known = ?, last = ?, last_start = ?, end = ?, lines = ? WHERE id = ?",
    )?;
    statement.execute(params![
        file.place.code(),
        known.stat.to_bytes(),
        known.is_settled,
        progress.map(|progress| *progress.header.as_bytes()),
        progress.map(|progress| progress.is_known),
        progress.map(|progress| *progress.last.as_bytes()),
        progress.map(|progress| progress.last_start),
        progress.map(|progress| progress.end),
        progress.map(|progress| progress.lines),
        segment,
    ])?;
    Ok(())
}

/// True if the indexed bytes are unchanged: header and last line match, and that names the one before.
fn goes_on(root: &Root, file: &SegmentFile, progress: Option<Progress>) -> Result<bool, Fault> {
    let Some(progress) = progress else { return Ok(false) };
    // Two lines.
    let mut source = SegmentSource::open(root, file, 0)?;
    // Unreadable bytes count as changed; reading again reports why.
    let Ok(header) = source.line_at(0) else { return Ok(false) };
    if progress.lines == 1 {
        return Ok(is_line(&header, progress.header));
    }
    let Ok(last) = source.line_at(progress.last_start) else { return Ok(false) };
    Ok(is_line(&header, progress.header) && is_line(&last, progress.last))
}

fn is_line(bytes: &[u8], hash: FileHash) -> bool {
    bytes.ends_with(b"\n") && FileHash::of(lines::without_line_end(bytes)) == hash
}

enum Reading {
    Io(io::Error),
    Fault(Fault),
}

impl From<io::Error> for Reading {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn unreadable(root: &Root, file: &SegmentFile, source: io::Error) -> Fault {
    crate::history::unreadable(&file.path(root), source).into()
}
