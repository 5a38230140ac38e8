//! Events read from where the index says that they stand.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader, Seek, SeekFrom},
    thread,
};

use rusqlite::{Connection, OptionalExtension};

use crate::disk::root::Root;
use crate::history::{
    HistoryError, SegmentPlace, index::Fault, index::Row, segments::LONGEST_LINE, segments::compressed,
    segments::files, segments::pack,
};
use stepmark_model::journal::{Event, EventId, Line, SegmentName};

/// The number of members of compressed segments that are kept in memory: 4 MiB.
const KEPT_MEMBERS: usize = 64;
const KEPT_FILES: usize = 64;

/// The number of events that are worth a thread: to start one takes as long as parsing some dozen.
const WORTH_A_THREAD: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::history) struct EventPlace {
    pub(in crate::history) segment: i64,
    /// The start of its line, in bytes of what is not compressed.
    pub(in crate::history) start: u64,
    /// The length of its line without the line feed.
    pub(in crate::history) length: u64,
}

/// Reads events, and keeps files and decompressed bytes for the next one.
#[derive(Debug)]
pub(in crate::history) struct EventReader {
    root: Root,
    files: HashMap<i64, OpenSegment>,
    members: HashMap<(i64, u64), Vec<u8>>,
}

#[derive(Debug)]
struct OpenSegment {
    path: String,
    file: File,
    place: SegmentPlace,
}

impl EventReader {
    pub(in crate::history) fn new(root: Root) -> Self {
        Self { root, files: HashMap::new(), members: HashMap::new() }
    }

    /// Forgets what was kept: files may have been replaced.
    pub(in crate::history) fn forget(&mut self) {
        self.files.clear();
        self.members.clear();
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
        let read = match segment.place {
            SegmentPlace::Live | SegmentPlace::Copy | SegmentPlace::Sealed => {
                read_at(&mut segment.file, place.start, &mut line)
            }
            SegmentPlace::Compressed | SegmentPlace::Packed => {
                return self.compressed_line(connection, place, line);
            }
        };
        match read {
            Ok(()) => Ok(line),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Fault::Stale),
            Err(source) => Err(HistoryError::Read { path: segment.path.clone(), source }.into()),
        }
    }

    fn open(&mut self, connection: &Connection, segment: i64) -> Result<(), Fault> {
        if self.files.contains_key(&segment) {
            return Ok(());
        }
        let mut statement =
            connection.prepare_cached("SELECT name, place, pack FROM segments WHERE id = ?")?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let found: Option<(String, i64, Option<String>)> = statement.query_row([segment], read).optional()?;
        let (name, place, pack) = found.ok_or(Fault::Stale)?;
        let name = SegmentName::new(&name).ok_or(Fault::Stale)?;
        let place = SegmentPlace::of_code(place).ok_or(Fault::Stale)?;
        let path = place.file_of(&self.root, &name, pack.as_deref());
        let file = match place.open(&self.root, &name, pack.as_deref()) {
            Err(error) if files::is_absent(&error) => return Err(Fault::Stale),
            file => file.map_err(|source| HistoryError::Read { path: path.clone(), source })?,
        };
        if self.files.len() >= KEPT_FILES {
            self.files.clear();
        }
        self.files.insert(segment, OpenSegment { path, file, place });
        Ok(())
    }

    fn compressed_line(
        &mut self,
        connection: &Connection,
        place: EventPlace,
        mut line: Vec<u8>,
    ) -> Result<Vec<u8>, Fault> {
        let mut filled = 0;
        while filled < line.len() {
            let wanted = (place.start + filled as u64).cast_signed();
            let mut statement = connection.prepare_cached(
                "SELECT start, compressed FROM members WHERE segment = ?1 AND start <= ?2 ORDER BY start DESC LIMIT 1",
            )?;
            let found = statement
                .query_row((place.segment, wanted), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let (start, compressed): (i64, u64) = found.ok_or(Fault::Stale)?;
            let member = self.member(place.segment, compressed)?;
            let skipped = usize::try_from(wanted - start).map_err(|_| Fault::Stale)?;
            let rest = member.get(skipped..).filter(|rest| !rest.is_empty()).ok_or(Fault::Stale)?;
            let taken = rest.len().min(line.len() - filled);
            line[filled..filled + taken].copy_from_slice(&rest[..taken]);
            filled += taken;
        }
        Ok(line)
    }

    fn member(&mut self, segment: i64, compressed: u64) -> Result<&[u8], Fault> {
        if !self.members.contains_key(&(segment, compressed)) {
            let open = self.files.get_mut(&segment).ok_or(Fault::Stale)?;
            // What cannot be decompressed is not what was indexed.
            open.file.seek(SeekFrom::Start(compressed)).map_err(|_| Fault::Stale)?;
            let file = BufReader::new(&open.file);
            let read = match open.place {
                SegmentPlace::Packed => pack::read_member(file, u64::MAX),
                _ => compressed::read_member(file),
            };
            let bytes = read.map_err(|_| Fault::Stale)?;
            if self.members.len() >= KEPT_MEMBERS {
                self.members.clear();
            }
            self.members.insert((segment, compressed), bytes);
        }
        self.members.get(&(segment, compressed)).map(Vec::as_slice).ok_or(Fault::Stale)
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
    file.seek(SeekFrom::Start(start))?;
    io::Read::read_exact(file, bytes)
}
