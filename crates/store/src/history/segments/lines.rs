//! The lines of a segment: positions and problems.

use std::io::{self, BufRead, Read};

use jiff::Timestamp;
use stepmark_model::artifact::FileHash;
use stepmark_model::journal::{
    Event, HashChain, Header, Line, LineProblem, SegmentHead, SegmentName, heads_in,
};

/// In bytes, above any event: a snapshot's frontmatter has at most 1 MiB.
pub(in crate::history) const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// Reading a segment stops after this many unusable lines.
const MOST_PROBLEMS: u32 = 1000;

/// Reading a file stops after this many segments.
const MOST_PARTS: usize = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) struct Progress {
    pub(in crate::history) header: FileHash,
    pub(in crate::history) is_known: bool,
    pub(in crate::history) last: FileHash,
    pub(in crate::history) last_start: u64,
    /// The start of the next line.
    pub(in crate::history) end: u64,
    pub(in crate::history) lines: u64,
}

/// A line after the header, or a faulty header.
#[derive(Debug)]
pub(in crate::history) struct ReadLine {
    /// From 1.
    pub(in crate::history) number: u64,
    pub(in crate::history) start: u64,
    /// Without the line feed.
    pub(in crate::history) length: u64,
    pub(in crate::history) event: Option<Box<Event>>,
    pub(in crate::history) seal: Option<Box<Event>>,
    pub(in crate::history) begins: Option<SegmentName>,
    pub(in crate::history) problem: Option<LineProblem>,
}

impl ReadLine {
    /// Seals are not events.
    fn new(
        (number, start, length): (u64, u64, u64),
        event: Option<Box<Event>>,
        problem: Option<LineProblem>,
    ) -> Self {
        let (seal, event) = match event {
            Some(event) if heads_in(&event).is_some() => (Some(event), None),
            event => (None, event),
        };
        Self { number, start, length, event, seal, begins: None, problem }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) name: SegmentName,
    /// Offsets: start of its first line, start and end of its last.
    #[cfg_attr(not(feature = "write"), expect(dead_code, reason = "joining alone asks for it"))]
    pub(crate) from: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The number of its last line in the file, and its hash.
    pub(crate) lines: u64,
    pub(crate) last: FileHash,
    pub(crate) events: u64,
    pub(crate) at: Option<Timestamp>,
    pub(crate) named: Option<Vec<SegmentHead>>,
}

impl Part {
    const fn new(name: SegmentName, from: u64, last: FileHash) -> Self {
        Self { name, from, start: from, end: from, lines: 0, last, events: 0, at: None, named: None }
    }

    fn add(&mut self, progress: &Progress, event: Option<&Event>) {
        (self.start, self.end) = (progress.last_start, progress.end);
        (self.lines, self.last) = (progress.lines, progress.last);
        let Some(event) = event else { return };
        match heads_in(event) {
            Some(heads) => self.named = Some(heads),
            None => {
                self.events += 1;
                self.at = self.at.or(Some(event.at));
            }
        }
    }
}

/// Reads a segment from `progress` or the start, passing each line to `take`. Without a whole first line
/// there is no progress. Returns the parts read: one, or several of a joined file, each with its header.
pub(in crate::history) fn read<E: From<io::Error>>(
    source: &mut dyn BufRead,
    name: &SegmentName,
    mut progress: Option<Progress>,
    mut take: impl FnMut(ReadLine) -> Result<(), E>,
) -> Result<(Option<Progress>, Vec<Part>), E> {
    let (mut bytes, mut problems) = (Vec::new(), 0);
    let is_joined = is_joined(name);
    // Joined files never grow.
    let behind = progress.filter(|_| !is_joined);
    let mut parts: Vec<Part> = behind.iter().map(|own| Part::new(name.clone(), 0, own.last)).collect();
    loop {
        bytes.clear();
        Read::take(&mut *source, LONGEST_LINE).read_until(b'\n', &mut bytes)?;
        let start = progress.map_or(0, |progress| progress.end);
        let number = progress.map_or(1, |progress| progress.lines + 1);
        let Some(line) = bytes.strip_suffix(b"\n") else {
            let problem = match bytes.len() as u64 {
                LONGEST_LINE => {
                    let reason = format!("it has more than {LONGEST_LINE} bytes; nothing behind it is read");
                    Some(LineProblem::NotAnEvent { reason })
                }
                length => Some(LineProblem::Torn).filter(|_| length > 0),
            };
            if problem.is_some() {
                let length = bytes.len() as u64;
                take(ReadLine::new((number, start, length), None, problem))?;
            }
            return Ok((progress, parts));
        };
        let line = without_line_end(line);
        let mut begins = None;
        let (header, is_known, last, event, problem) = match progress {
            None => {
                let header = Header::read(line);
                let (is_known, hash) = (header.is_ok(), FileHash::of(line));
                begins = named_in(&header).filter(|_| is_joined).or_else(|| Some(name.clone()));
                (hash, is_known, hash, None, header_problem(header, name))
            }
            Some(behind) if is_joined && line.starts_with(HEADER_START) => {
                begins = named_in(&Header::read(line));
                let problem = begins.is_none().then_some(LineProblem::Header);
                (behind.header, true, FileHash::of(line), None, problem)
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
        parts.extend(begins.clone().map(|name| Part::new(name, start, last)));
        if let (Some(part), Some(progress)) = (parts.last_mut(), &progress) {
            part.add(progress, event.as_deref());
        }
        if event.is_some() || problem.is_some() || begins.is_some() {
            problems += u32::from(problem.is_some());
            take(ReadLine { begins, ..ReadLine::new((number, start, length), event, problem) })?;
        }
        if problems == MOST_PROBLEMS || parts.len() > MOST_PARTS {
            let reason = match problems {
                MOST_PROBLEMS => format!("{MOST_PROBLEMS} lines cannot be used; nothing behind them is read"),
                _ => format!("it has more than {MOST_PARTS} segments; nothing behind these is read"),
            };
            let problem = Some(LineProblem::NotAnEvent { reason });
            take(ReadLine::new((number + 1, start + length, 0), None, problem))?;
            return Ok((progress, parts));
        }
    }
}

fn header_problem(
    header: Result<(Header, HashChain), LineProblem>,
    name: &SegmentName,
) -> Option<LineProblem> {
    match header {
        Err(problem) => Some(problem),
        Ok((header, _)) if header.segment == name.as_str() || is_joined(name) => None,
        // As JSON any name is one line.
        Ok((header, _)) => {
            Some(LineProblem::Misnamed { segment: serde_json::Value::from(header.segment).to_string() })
        }
    }
}

fn named_in(header: &Result<(Header, HashChain), LineProblem>) -> Option<SegmentName> {
    header.as_ref().ok().and_then(|(header, _)| SegmentName::new(&header.segment))
}

pub(super) const HEADER_START: &[u8] = b"{\"stepmark\":";

/// The suffix of names of joined files.
pub(crate) const JOINED: &str = ".joined";

/// No session's segments have such names.
pub(crate) fn is_joined(name: &SegmentName) -> bool {
    name.as_str().ends_with(JOINED)
}

/// Also drops a carriage return, which git adds if configured for Windows line ends.
pub(in crate::history) fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// After a break in the chain an event is valid if its id matches its content. After an unknown header every
/// such line is valid, and others are not reported.
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
