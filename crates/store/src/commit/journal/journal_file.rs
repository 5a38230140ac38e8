//! Appending events to live segments.
//!
//! One writer at a time, under `journal.lock` beside them. A segment with a torn last line is not written
//! again: the line stays until `doctor --repair`, and a new segment begins (docs/adr/0006-journal.md).
#![expect(clippy::disallowed_methods, reason = "an edge module: segments are written here")]

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::commit::{FsyncPolicy, file::flush_folder, names_in};
use crate::disk::{local_state::StateFolder, own_file, own_file::Access, root::Root};
use crate::git::process::WithoutGit;
use crate::{Error, ErrorKind};
use stepmark_model::{
    artifact::FileHash,
    journal::{Event, EventId, HashChain, Header, SegmentName, SessionId},
};

const LOCK: &str = "journal.lock";

const NO_SESSION: &str = "main";

pub(in crate::commit) const EXTENSION: &str = ".jsonl";

/// In bytes: holds the last line of nearly every segment.
const TAIL: u64 = 16 * 1024;

/// Acknowledged events are whole.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write the journal under `.stepmark`; make room or allow writing there, and run the command again"
)]
pub struct JournalWriteError {
    #[from]
    source: io::Error,
}

impl From<JournalWriteError> for Error {
    fn from(error: JournalWriteError) -> Self {
        Self::told(ErrorKind::Io, error)
    }
}

/// Appends events that change no file, such as the start of a session.
pub fn append_events(root: &Root, events: &[Event], fsync: FsyncPolicy) -> Result<(), JournalWriteError> {
    Ok(JournalFile::open(root)?.append(events, fsync)?)
}

/// The right to append to the journal and to seal segments; released when dropped.
#[derive(Debug)]
#[must_use = "the lock is released when it is dropped"]
pub(in crate::commit) struct JournalFile {
    _lock: (File, WithoutGit),
    folder: PathBuf,
    root: Root,
}

struct Live {
    file: File,
    length: u64,
    chain: HashChain,
    header: Vec<u8>,
}

/// The prefix of segments that are never sealed.
const LOCAL: &str = "local";

fn segment_of(event: &Event) -> &str {
    if event.is_local() { LOCAL } else { segment_start(event.session.as_deref()) }
}

/// The prefix of a session's segments. Events from elsewhere may have a session that cannot be a file name:
/// they go to the segments without session, unchanged.
fn segment_start(session: Option<&str>) -> &str {
    session.filter(|session| session.parse::<SessionId>().is_ok()).unwrap_or(NO_SESSION)
}

impl JournalFile {
    /// Waits for the journal's lock; creates the folder.
    pub(in crate::commit) fn open(root: &Root) -> io::Result<Self> {
        let folder = root.state().folder(StateFolder::Journal)?;
        if fs::symlink_metadata(&folder).is_err() {
            root.state().make(StateFolder::Journal)?;
        }
        let lock = own_file::open(&root.state().top(true), LOCK.as_ref(), Access::ChangeOrMake)?;
        // Held for one append and flush, so waiting without a limit means waiting for the disk.
        crate::disk::file_lock::exclusive(&lock)?;
        Ok(Self { _lock: (lock, WithoutGit::begin()), folder, root: root.clone() })
    }

    pub(in crate::commit) fn append(&self, events: &[Event], fsync: FsyncPolicy) -> io::Result<()> {
        let mut rest = events;
        while let Some(first) = rest.first() {
            let alike = rest.iter().take_while(|event| segment_of(event) == segment_of(first)).count();
            self.append_alike(&rest[..alike], fsync)?;
            rest = &rest[alike..];
        }
        Ok(())
    }

    fn append_alike(&self, events: &[Event], fsync: FsyncPolicy) -> io::Result<()> {
        let Some(first) = events.first() else { return Ok(()) };
        let mut live = match self.live(first)? {
            Some(live) => live,
            None => self.begin(first)?,
        };
        let mut lines = std::mem::take(&mut live.header);
        let is_new = !lines.is_empty();
        events.iter().for_each(|event| lines.extend(live.chain.add(event)));
        let written = live.file.write_all(&lines).and_then(|()| flush(&live.file, fsync));
        if let Err(error) = written {
            // Half a line would be reported as torn; it is if this fails, too.
            let _cut = live.file.set_len(live.length);
            return Err(error);
        }
        if is_new { flush_folder(&self.folder, fsync) } else { Ok(()) }
    }

    /// One of the event's session, with a whole last line.
    fn live(&self, event: &Event) -> io::Result<Option<Live>> {
        for name in self.names_after(segment_of(event))? {
            let mut file = own_file::open(&self.folder, name.as_ref(), Access::Append)?;
            let length = file.metadata()?.len();
            if length == 0
                && let Some(name) = name.strip_suffix(EXTENSION).and_then(SegmentName::new)
            {
                // Its creator died, or the disk was full.
                return Ok(Some(Live::empty(file, &name, event)));
            }
            if let Some(chain) = chain_at_end(&mut file, length)? {
                return Ok(Some(Live { file, length, chain, header: Vec::new() }));
            }
        }
        Ok(None)
    }

    pub(in crate::commit) fn live_names(&self, session: Option<&str>) -> io::Result<Vec<String>> {
        self.names_after(segment_start(session))
    }

    fn names_after(&self, start: &str) -> io::Result<Vec<String>> {
        let prefix = format!("{start}-");
        let mut names = segment_names(&self.folder)?;
        // Hexadecimal digits follow the session's name, so no name is a prefix of another's.
        names.retain(|name| {
            name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(EXTENSION)).is_some_and(is_random)
        });
        Ok(names)
    }

    pub(in crate::commit) fn folder(&self) -> &Path {
        &self.folder
    }

    fn begin(&self, event: &Event) -> io::Result<Live> {
        for attempt in 0_u32.. {
            // The same event comes again if its segment is torn and its commit is finished.
            let random = FileHash::of(format!("{} {attempt}", event.id).as_bytes()).to_string();
            let random = random.get(..RANDOM_DIGITS).unwrap_or(&random);
            let name = format!("{}-{random}", segment_of(event));
            let name = SegmentName::new(&name)
                .ok_or_else(|| io::Error::other(format!("`{name}` cannot be the name of a segment")))?;
            let file = format!("{name}{EXTENSION}");
            match own_file::open(&self.folder, file.as_ref(), Access::Make) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => return Ok(Live::empty(file?, &name, event)),
            }
        }
        Err(io::Error::other("every name of a segment is taken"))
    }

    /// Searches live and sealed segments: a redo record may reappear after a power loss.
    pub(in crate::commit) fn holds(&self, event: EventId) -> io::Result<bool> {
        let text = format!("\"id\":\"{event}\"");
        let finder = memchr::memmem::Finder::new(text.as_bytes());
        for folder in [StateFolder::Journal, StateFolder::SealedCopies] {
            let folder = self.root.state().folder(folder)?;
            for name in segment_names(&folder)? {
                if holds(own_file::open(&folder, name.as_ref(), Access::Read)?, &finder)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl Live {
    fn empty(file: File, name: &SegmentName, event: &Event) -> Self {
        let (header, chain) = Header::new(name, event.session.as_deref()).line();
        Self { file, length: 0, chain, header }
    }
}

const RANDOM_DIGITS: usize = 12;

fn is_random(text: &str) -> bool {
    text.len() == RANDOM_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(in crate::commit) fn flush(file: &File, fsync: FsyncPolicy) -> io::Result<()> {
    match fsync {
        FsyncPolicy::Always => file.sync_data(),
        FsyncPolicy::Never => Ok(()),
    }
}

/// `None` if the last line is torn.
pub(in crate::commit) fn chain_at_end(file: &mut File, length: u64) -> io::Result<Option<HashChain>> {
    let mut tail_length = TAIL;
    loop {
        let start = length.saturating_sub(tail_length);
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.read_to_end(&mut tail)?;
        let Some(lines) = tail.strip_suffix(b"\n") else { return Ok(None) };
        match memchr::memrchr(b'\n', lines) {
            Some(before) => return Ok(Some(HashChain::behind(FileHash::of(&lines[before + 1..])))),
            None if start == 0 => return Ok(Some(HashChain::behind(FileHash::of(lines)))),
            None => tail_length *= 4,
        }
    }
}

/// Without what `doctor --repair` cut off.
pub(in crate::commit) fn segment_names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = names_in(folder)?;
    names.retain(|name| name.ends_with(EXTENSION) && !name.starts_with('.'));
    Ok(names)
}

/// Only whole lines count: a torn one was never acknowledged.
fn holds(mut file: File, finder: &memchr::memmem::Finder<'_>) -> io::Result<bool> {
    let overlap = finder.needle().len();
    let mut buffer = vec![0; 1 << 20];
    let mut kept = 0;
    let mut is_found = false;
    loop {
        let read = file.read(&mut buffer[kept..])?;
        let bytes = &buffer[..kept + read];
        let rest = match finder.find(bytes) {
            _ if is_found => bytes,
            Some(at) => &bytes[at..],
            None => &[],
        };
        is_found |= !rest.is_empty();
        if memchr::memchr(b'\n', rest).is_some() {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        let filled = kept + read;
        kept = filled.min(overlap);
        buffer.copy_within(filled - kept..filled, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{LiveSegments, Seal, scratch_project::ScratchProject, seal_segments};
    use stepmark_model::journal::{Actor, EventDraft, Kind};

    const FIRST: Seal = Seal { heads: Vec::new(), at: jiff::Timestamp::UNIX_EPOCH };

    fn event(reason: &str, session: Option<&str>) -> Event {
        let draft = EventDraft::new(Kind::CHANGE).with_reason(Some(reason.to_owned()));
        let mut event = Event::new(draft, Actor::human("Ada"), "2026-11-22T10:00:00Z".parse().unwrap());
        event.session = session.map(str::to_owned);
        event.sealed()
    }

    fn append(project: &ScratchProject, reason: &str, session: Option<&str>) -> EventId {
        let event = event(reason, session);
        append_events(&project.root, std::slice::from_ref(&event), FsyncPolicy::Never).unwrap();
        event.id
    }

    fn reasons(project: &ScratchProject, path: &str) -> Vec<String> {
        let bytes = project.read(path);
        let mut lines = bytes.strip_suffix(b"\n").unwrap_or(&bytes).split(|byte| *byte == b'\n');
        let (_, mut chain) = Header::read(lines.next().unwrap()).unwrap();
        let events = lines.map(|line| chain.read(line).unwrap());
        events.inspect(|event| assert!(event.is_genuine())).map(|event| event.reason.unwrap()).collect()
    }

    #[test]
    fn each_session_has_its_segment() {
        let project = ScratchProject::new();
        append(&project, "a", None);
        append(&project, "b", Some("s-1"));
        append(&project, "c", None);
        append(&project, "d", Some("s"));
        let names = project.names(".stepmark/local/journal");
        assert_eq!(names.len(), 3, "{names:?}");
        let main = names.iter().find(|name| name.starts_with("main-")).unwrap();
        assert_eq!(reasons(&project, &format!(".stepmark/local/journal/{main}")), ["a", "c"]);
        assert_eq!(
            seal_segments(&project.root, LiveSegments::OfSession(Some("s")), FIRST, FsyncPolicy::Always)
                .unwrap()
                .len(),
            1
        );
        let sealed = project.names(".stepmark/journal");
        assert_eq!(reasons(&project, &format!(".stepmark/journal/{}", sealed[0])), ["d"]);
        assert_eq!(project.names(".stepmark/local/journal").len(), 2);
        append(&project, "e", Some("s"));
        assert_eq!(project.names(".stepmark/local/journal").len(), 3, "a new one after sealing");
    }

    #[test]
    fn an_event_whose_session_can_name_no_file_stands_among_those_of_none() {
        let project = ScratchProject::new();
        for session in ["a/b", "../x", "", "main", ".x", "a\nb", &"x".repeat(500)] {
            append(&project, session, Some(session));
        }
        let names = project.names(".stepmark/local/journal");
        assert_eq!(names.len(), 1, "{names:?}");
        assert_eq!(reasons(&project, &format!(".stepmark/local/journal/{}", names[0])).len(), 7);
        assert_eq!(
            seal_segments(&project.root, LiveSegments::OfSession(None), FIRST, FsyncPolicy::Never)
                .unwrap()
                .len(),
            1
        );
    }

    #[test]
    fn a_torn_segment_is_left_as_it_is() {
        let project = ScratchProject::new();
        append(&project, "a", None);
        let name = format!(".stepmark/local/journal/{}", project.names(".stepmark/local/journal")[0]);
        let mut torn = project.read(&name);
        torn.truncate(torn.len() - 5);
        project.write(&name, &torn);
        append(&project, "b", None);
        append(&project, "c", None);
        assert_eq!(project.read(&name), torn);
        assert_eq!(project.names(".stepmark/local/journal").len(), 2);
        assert_eq!(
            seal_segments(&project.root, LiveSegments::OfSession(None), FIRST, FsyncPolicy::Never)
                .unwrap()
                .len(),
            1
        );
        assert_eq!(project.names(".stepmark/local/journal").len(), 1);
    }

    #[test]
    fn an_event_in_a_torn_line_is_not_held() {
        let project = ScratchProject::new();
        let whole = append(&project, "a", None);
        let torn = append(&project, "b", None);
        let name = format!(".stepmark/local/journal/{}", project.names(".stepmark/local/journal")[0]);
        let bytes = project.read(&name);
        project.write(&name, &bytes[..bytes.len() - 1]);
        let journal = JournalFile::open(&project.root).unwrap();
        assert!(journal.holds(whole).unwrap());
        assert!(!journal.holds(torn).unwrap(), "its line has no end: it was never told");
        project.write(".stepmark/local/journal/.torn-x", &bytes);
        assert!(!journal.holds(torn).unwrap(), "what was cut off does not count");
    }

    #[test]
    fn long_lines_and_many_are_chained_and_found() {
        let project = ScratchProject::new();
        let long = "x".repeat(3 << 20);
        let ids: Vec<EventId> =
            ["a", &long, "b"].into_iter().map(|reason| append(&project, reason, None)).collect();
        let name = format!(".stepmark/local/journal/{}", project.names(".stepmark/local/journal")[0]);
        assert_eq!(reasons(&project, &name).len(), 3);
        let journal = JournalFile::open(&project.root).unwrap();
        for id in ids {
            assert!(journal.holds(id).unwrap());
        }
        assert!(!journal.holds(event("absent", None).id).unwrap());
    }
}
