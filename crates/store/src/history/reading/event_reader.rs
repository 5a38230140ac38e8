//! Events read from where the index says that they stand.

use std::{collections::HashMap, fs::File, io, thread};

use rusqlite::{Connection, OptionalExtension};

use crate::disk::root::Root;
use crate::history::{
    HistoryError, SegmentPlace, index::Fault, index::Row, segments::LONGEST_LINE, segments::files,
};
use stepmark_model::journal::{Event, EventId, Line, SegmentName};

const KEPT_FILES: usize = 64;

/// The number of events that are worth a thread: to start one takes as long as parsing some dozen.
const WORTH_A_THREAD: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::history) struct EventPlace {
    pub(in crate::history) segment: i64,
    pub(in crate::history) start: u64,
    /// The length of its line without the line feed.
    pub(in crate::history) length: u64,
}

/// Reads events, and keeps files open for the next one.
#[derive(Debug)]
pub(in crate::history) struct EventReader {
    root: Root,
    files: HashMap<i64, OpenSegment>,
}

#[derive(Debug)]
struct OpenSegment {
    path: String,
    file: File,
}

impl EventReader {
    pub(in crate::history) fn new(root: Root) -> Self {
        Self { root, files: HashMap::new() }
    }

    /// Forgets what was kept: files may have been replaced.
    pub(in crate::history) fn forget(&mut self) {
        self.files.clear();
    }

    pub(in crate::history) fn line(
        &mut self,
        connection: &Connection,
        place: EventPlace,
    ) -> Result<Vec<u8>, Fault> {
        self.open(connection, place.segment)?;
        let segment = self.files.get_mut(&place.segment).ok_or(Fault::Stale)?;
        if place.length > LONGEST_LINE {
            return Err(Fault::Stale);
        }
        let mut line = vec![0; usize::try_from(place.length).map_err(|_| Fault::Stale)?];
        match read_at(&mut segment.file, place.start, &mut line) {
            Ok(()) => Ok(line),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Fault::Stale),
            Err(source) => Err(HistoryError::Read { path: segment.path.clone(), source }.into()),
        }
    }

    fn open(&mut self, connection: &Connection, segment: i64) -> Result<(), Fault> {
        if self.files.contains_key(&segment) {
            return Ok(());
        }
        let mut statement = connection.prepare_cached("SELECT name, place FROM segments WHERE id = ?")?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found: Option<(String, i64)> = statement.query_row([segment], read).optional()?;
        let (name, place) = found.ok_or(Fault::Stale)?;
        let name = SegmentName::new(&name).ok_or(Fault::Stale)?;
        let place = SegmentPlace::of_code(place).ok_or(Fault::Stale)?;
        let path = place.file_of(&self.root, &name);
        let file = match place.open(&self.root, &name) {
            Err(error) if files::is_absent(&error) => return Err(Fault::Stale),
            file => file.map_err(|source| HistoryError::Read { path: path.clone(), source })?,
        };
        if self.files.len() >= KEPT_FILES {
            self.files.clear();
        }
        self.files.insert(segment, OpenSegment { path, file });
        Ok(())
    }
}

pub(in crate::history) fn parse(line: &[u8], id: EventId) -> Result<Event, Fault> {
    match serde_json::from_slice::<Line>(line) {
        Ok(line) if line.event.id == id => Ok(line.event),
        _ => Err(Fault::Stale),
    }
}

/// The events of `rows`, which stand in `lines`; many are parsed on several processors.
pub(in crate::history) fn parse_all(lines: &[Vec<u8>], rows: &[Row]) -> Result<Vec<Event>, Fault> {
    let parse_part = |(lines, rows): (&[Vec<u8>], &[Row])| -> Result<Vec<Event>, Fault> {
        lines.iter().zip(rows).map(|(line, row)| parse(line, row.id)).collect()
    };
    let parts = thread::available_parallelism().map_or(1, usize::from).min(lines.len() / WORTH_A_THREAD);
    if parts < 2 {
        return parse_part((lines, rows));
    }
    let size = lines.len().div_ceil(parts);
    thread::scope(|scope| {
        let parts: Vec<_> = lines
            .chunks(size)
            .zip(rows.chunks(size))
            .map(|part| scope.spawn(move || parse_part(part)))
            .collect();
        let mut events = Vec::with_capacity(lines.len());
        for part in parts {
            // A thread that ended early has no events: as if they could not be read.
            events.extend(part.join().map_err(|_| Fault::Stale)??);
        }
        Ok(events)
    })
}

#[cfg(unix)]
fn read_at(file: &mut File, start: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

#[cfg(not(unix))]
fn read_at(file: &mut File, start: u64, bytes: &mut [u8]) -> io::Result<()> {
    io::Seek::seek(file, io::SeekFrom::Start(start))?;
    io::Read::read_exact(file, bytes)
}
