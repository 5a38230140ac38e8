//! The file of a file tracker, and its lines.

#![expect(clippy::disallowed_methods, reason = "an edge module: this tracker is a file")]

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use stepmark_model::artifact::ProjectPath;
use stepmark_store::disk::{Root, file_lock};

use crate::{
    Error, ErrorKind, Result,
    configuration::reserved_for,
    ticket::{Marker, Ticket, TicketDigest},
};

/// Bytes: a ticket has about two thousand, and each change adds one more.
const SIZE_LIMIT: u64 = 1024 * 1024 * 1024;

/// Appended one whole transaction at a time, under a file lock.
#[derive(Debug)]
pub(super) struct Log {
    root: Root,
    path: ProjectPath,
}

pub(super) struct LockedLog {
    file: File,
    place: PathBuf,
    pub(super) lines: Vec<Line>,
}

impl Log {
    pub(super) const fn path(&self) -> &ProjectPath {
        &self.path
    }

    pub(super) const fn new(root: Root, path: ProjectPath) -> Self {
        Self { root, path }
    }

    /// A stranger's configuration may name the file: it must be in the project and outside of git's folder,
    /// and no link is followed.
    fn place(&self) -> Result<PathBuf> {
        let refused = |reason: &str| {
            let message = format!(
                "tickets cannot be kept in `{}`: {reason}; name another file by `path` of the tracker",
                self.path
            );
            Error::new(ErrorKind::Io, message)
        };
        if let Some(whose) = reserved_for(&self.path) {
            return Err(refused(&format!("it is among {whose} files")));
        }
        let place = self.root.resolve_for_writing(&self.path).map_err(|error| refused(&error.to_string()))?;
        let mut named = self.root.path().to_owned();
        named.extend(self.path.as_str().split('/'));
        if named != place || place.is_symlink() {
            return Err(refused("a link stands on the way to it, and what it leads to is left alone"));
        }
        match fs::symlink_metadata(&place) {
            // Reading a pipe or a device could block.
            Ok(found) if !found.is_file() => Err(refused("it is no regular file")),
            _ => Ok(place),
        }
    }

    /// Creates the file if missing. Changes nothing before the whole file was recognised as this tracker's
    /// own.
    pub(super) fn lock(&self) -> Result<LockedLog> {
        let place = self.place()?;
        let failed = |intent| failed(&place, intent);
        // The folder of a project that was moved away is not made again.
        fs::metadata(self.root.path()).map_err(failed("opened"))?;
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).map_err(failed("made"))?;
        }
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(&place).map_err(failed("opened"))?;
        file_lock::exclusive(&file).map_err(failed("locked"))?;
        if file.metadata().map_err(failed("read"))?.len() > SIZE_LIMIT {
            let place = place.display();
            let message = format!(
                "`{place}` has more than {SIZE_LIMIT} bytes: move it away, and tickets are written anew"
            );
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed("read"))?;
        let (whole, rest) = text.split_at(text.rfind('\n').map_or(0, |end| end + 1));
        let lines = whole
            .lines()
            .enumerate()
            .map(|(at, line)| Line::read(line).map_err(|reason| foreign(&place, at + 1, &reason)));
        let lines = lines.collect::<Result<Vec<_>, _>>()?;
        if !rest.is_empty() {
            refuse_foreign(&place, rest, lines.len())?;
            // A line that was cut off by a crash was never acknowledged.
            file.set_len(whole.len() as u64).map_err(failed("fixed"))?;
            file.seek(SeekFrom::End(0)).map_err(failed("fixed"))?;
        }
        Ok(LockedLog { file, place, lines })
    }
}

fn failed(place: &Path, intent: &str) -> impl Fn(io::Error) -> Error {
    let message = format!("`{}` cannot be {intent}", place.display());
    move |error| Error::new(ErrorKind::Io, format!("{message}: {error}"))
}

fn foreign(place: &Path, line: usize, reason: &str) -> Error {
    let place = place.display();
    let message =
        format!("line {line} of `{place}` is no line of tickets: {reason}; fix it, or move the file away");
    Error::new(ErrorKind::Corrupt, message)
}

/// An end of the file that is no begin of our lines belongs to somebody else.
fn refuse_foreign(place: &Path, rest: &str, before: usize) -> Result<()> {
    // Where lines of ours stand, less than a whole beginning is one of ours; alone it may be anybody's.
    let is_cut_off = before > 0 && Line::BEGINNING.starts_with(rest);
    if rest.starts_with(Line::BEGINNING) || is_cut_off {
        return Ok(());
    }
    Err(foreign(place, before + 1, "it was not written by stepmark"))
}

impl LockedLog {
    /// Flushes first: a process whose flush failed may have left lines that are not durable.
    pub(super) fn flushed(self) -> Result<Vec<Line>> {
        self.flush()?;
        Ok(self.lines)
    }

    pub(super) fn is_of_another(&self, number: u64, marker: &Marker) -> bool {
        let last = self.lines.iter().rfind(|line| line.number == number);
        last.is_some_and(|last| last.ticket.marker != *marker)
    }

    pub(super) fn append(mut self, lines: &[Line]) -> Result<()> {
        let failed = failed(&self.place, "written");
        let mut text = String::new();
        for line in lines {
            let json = serde_json::to_string(line).map_err(|error| failed(error.into()))?;
            text.push_str(&json);
            text.push('\n');
        }
        self.file.write_all(text.as_bytes()).map_err(failed)?;
        self.flush()
    }

    fn flush(&self) -> Result<()> {
        let failed = failed(&self.place, "flushed");
        self.file.sync_all().map_err(&failed)?;
        // The name of a new file is in its folder, also where an earlier flush of the folder failed.
        #[cfg(unix)]
        if let Some(folder) = self.place.parent() {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        Ok(())
    }
}

const LINE_SCHEMA: &str = "stepmark.ticket-line/2";

/// Still read: the state of a ticket is called `standing` there.
const OLDER_SCHEMA: &str = "stepmark.ticket-line/1";

/// The last line with a number counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    schema: String,
    pub number: u64,
    pub at: Timestamp,
    pub done: LineKind,
    pub digest: TicketDigest,
    pub parent: Option<u64>,
    pub ticket: Ticket,
    pub body: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineKind {
    Created,
    Updated,
}

impl Line {
    pub(super) const BEGINNING: &str = "{\"schema\":\"stepmark.ticket-line/";

    pub(super) fn new(
        number: u64,
        at: Timestamp,
        done: LineKind,
        (ticket, parent): (&Ticket, Option<u64>),
        body: String,
    ) -> Self {
        Self {
            schema: LINE_SCHEMA.to_owned(),
            number,
            at,
            done,
            digest: ticket.digest(),
            parent,
            ticket: ticket.clone(),
            body,
        }
    }

    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        (self.number, self.parent, &self.ticket, &self.body)
            == (other.number, other.parent, &other.ticket, &other.body)
    }

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let line: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match line.schema.as_str() {
            LINE_SCHEMA | OLDER_SCHEMA => Ok(line),
            other => Err(format!("its form is `{other}`")),
        }
    }
}
