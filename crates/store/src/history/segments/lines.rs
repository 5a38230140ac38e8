//! The lines of a segment: where they stand, and what is wrong with them.

use std::io::{self, BufRead, Read};

use stepmark_model::artifact::FileHash;
use stepmark_model::journal::{Event, HashChain, Header, Line, LineProblem, SegmentName, heads_in};

/// No event is so long: the frontmatter of an artifact, which a snapshot holds, has 1 MiB at most.
pub(in crate::history) const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// After so many lines that cannot be used, nothing more of a segment is read. Genuine lines hardly compress,
/// each with a hash of its own, so a small compressed file cannot hold many.
const MOST_PROBLEMS: u32 = 1000;

/// The point up to which a segment has been read: behind its last whole line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) struct Progress {
    /// The hash of the header line.
    pub(in crate::history) header: FileHash,
    /// Set where the header is one that this version reads.
    pub(in crate::history) is_known: bool,
    /// The hash of the last line.
    pub(in crate::history) last: FileHash,
    /// The start of the last line.
    pub(in crate::history) last_start: u64,
    /// The start of the next line.
    pub(in crate::history) end: u64,
    pub(in crate::history) lines: u64,
}

/// A line behind the header, or the header where it is wrong.
#[derive(Debug)]
pub(in crate::history) struct ReadLine {
    /// Counted from 1.
    pub(in crate::history) number: u64,
    /// Its start, in bytes of what is not compressed.
    pub(in crate::history) start: u64,
    /// Its length without the line feed.
    pub(in crate::history) length: u64,
    /// The event, if it can be used.
    pub(in crate::history) event: Option<Box<Event>>,
    pub(in crate::history) seal: Option<Box<Event>>,
    /// The problem of the line, if there is one.
    pub(in crate::history) problem: Option<LineProblem>,
}

impl ReadLine {
    /// The line with this number, start and length. A seal is no event.
    fn new(
        (number, start, length): (u64, u64, u64),
        event: Option<Box<Event>>,
        problem: Option<LineProblem>,
    ) -> Self {
        let (seal, event) = match event {
            Some(event) if heads_in(&event).is_some() => (Some(event), None),
            event => (None, event),
        };
        Self { number, start, length, event, seal, problem }
    }
}

/// Reads the segment `name` on behind `progress`, or from the start, and gives each line to `take`. A segment
/// without a whole first line leaves no progress.
pub(in crate::history) fn read<E: From<io::Error>>(
    source: &mut dyn BufRead,
    name: &SegmentName,
    mut progress: Option<Progress>,
    mut take: impl FnMut(ReadLine) -> Result<(), E>,
) -> Result<Option<Progress>, E> {
    let mut bytes = Vec::new();
    let mut problems = 0;
    loop {
        bytes.clear();
        let damage = match Read::take(&mut *source, LONGEST_LINE).read_until(b'\n', &mut bytes) {
            Err(error) if is_damage(&error) => Some(error),
            read => read.map(|_| None)?,
        };
        let start = progress.map_or(0, |progress| progress.end);
        let number = progress.map_or(1, |progress| progress.lines + 1);
        let Some(line) = bytes.strip_suffix(b"\n").filter(|_| damage.is_none()) else {
            let problem = match damage {
                Some(error) => {
                    Some(LineProblem::NotAnEvent { reason: format!("the file is damaged: {error}") })
                }
                None if bytes.len() as u64 == LONGEST_LINE => {
                    let reason = format!("it has more than {LONGEST_LINE} bytes; nothing behind it is read");
                    Some(LineProblem::NotAnEvent { reason })
                }
                None => Some(LineProblem::Torn).filter(|_| !bytes.is_empty()),
            };
            if problem.is_some() {
                let length = bytes.len() as u64;
                take(ReadLine::new((number, start, length), None, problem))?;
            }
            return Ok(progress);
        };
        let line = without_line_end(line);
        let (header, is_known, last, event, problem) = match progress {
            None => {
                let header = Header::read(line);
                let (is_known, hash) = (header.is_ok(), FileHash::of(line));
                (hash, is_known, hash, None, header_problem(header, name))
            }
            Some(behind) => {
                let mut chain = HashChain::behind(behind.last);
                let (event, problem) = read_event(&mut chain, line, behind.is_known);
                (behind.header, behind.is_known, chain.last(), event, problem)
            }
        };
        let length = line.len() as u64;
        progress = Some(Progress {
            header,
            is_known,
            last,
            last_start: start,
            end: start + bytes.len() as u64,
            lines: number,
        });
        if event.is_some() || problem.is_some() {
            problems += u32::from(problem.is_some());
            take(ReadLine::new((number, start, length), event, problem))?;
        }
        if problems == MOST_PROBLEMS {
            let reason = format!("{MOST_PROBLEMS} lines cannot be used; nothing behind them is read");
            let problem = Some(LineProblem::NotAnEvent { reason });
            take(ReadLine::new((number + 1, start + length, 0), None, problem))?;
            return Ok(progress);
        }
    }
}

/// Returns the problem of a first line, in the file of the segment `name`.
fn header_problem(
    header: Result<(Header, HashChain), LineProblem>,
    name: &SegmentName,
) -> Option<LineProblem> {
    match header {
        Err(problem) => Some(problem),
        Ok((header, _)) if header.segment == name.as_str() => None,
        // As JSON, a name of any characters stands on one line.
        Ok((header, _)) => {
            Some(LineProblem::Misnamed { segment: serde_json::Value::from(header.segment).to_string() })
        }
    }
}

/// A line without the carriage return that git gives it where it is told to write the line ends of Windows.
pub(in crate::history) fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns whether the error speaks of the bytes of a compressed segment, not of the system.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// An event behind a break in the chain counts if its content is what its id was made from. Behind a header
/// that is not known, so does every such line, and the others are no news.
fn read_event(
    chain: &mut HashChain,
    line: &[u8],
    is_known: bool,
) -> (Option<Box<Event>>, Option<LineProblem>) {
    match chain.read(line) {
        Ok(event) if is_known => (Some(Box::new(event)), None),
        Ok(event) => (Some(Box::new(event)).filter(|event| event.is_genuine()), None),
        Err(LineProblem::BrokenChain) => {
            let read = serde_json::from_slice::<Line>(line).ok().map(|line| Box::new(line.event));
            (read.filter(|event| event.is_genuine()), Some(LineProblem::BrokenChain).filter(|_| is_known))
        }
        Err(problem) => (None, Some(problem).filter(|_| is_known)),
    }
}
