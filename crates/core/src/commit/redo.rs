//! What a commit is about to do, on the disk before it does it.
//!
//! A record stands in a *slot*, a file in the local state that is kept, is locked by the process that uses it, and is
//! empty when it is free. A record in a slot that nobody locks is that of a process that died
//! (docs/adr/0006-journal.md). Under the locks of its files no living process has a record that names one of them.
//! A record is signed with the key of this clone: one that anybody else wrote is never carried out.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: redo records are written here, and a clock bounds a wait"
)]

use std::{
    fs::{self, File, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::{Expected, FsyncPolicy, clone_key::CloneKey, folder::flush_folder};
use crate::{
    artifact::ProjectPath,
    document::FileHash,
    journal::Event,
    local_state::StateFolder,
    own_file::{self, Access},
    root::Root,
    uninterrupted::uninterrupted,
};

/// The first word of a record: its format.
const FORMAT: &str = "stepmark-redo/2";

/// That of records which carry no signature, from before there were any.
const UNSIGNED: &str = "stepmark-redo/1";

/// How many bytes a record may have.
pub(super) const LIMIT: u64 = 256 * 1024 * 1024;

/// How many commits can be under way at once; others wait for one of them.
const SLOTS: usize = 1024;

/// How many slots are kept. Every commit looks at all that there are, so those beyond go when their commit is done.
const KEPT: usize = 16;

/// How long to wait before slots are asked again.
const PAUSE: Duration = Duration::from_millis(4);

/// A commit of one or several files with its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RedoRecord {
    pub(super) files: Vec<RedoFile>,
    pub(super) events: Vec<Event>,
}

/// What happens to one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RedoFile {
    pub(super) path: ProjectPath,
    /// The hash of what is there before; `None` for a file that is created.
    pub(super) before: Option<FileHash>,
    /// The hash of what is there after; `None` for a file that is deleted.
    pub(super) after: Option<FileHash>,
    /// The bytes of `after`. They stand behind the JSON in the slot.
    #[serde(skip)]
    pub(super) bytes: Vec<u8>,
    length: usize,
}

/// What stands in a slot.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// A record of this clone.
    Record(RedoRecord),
    /// A record that was not written to its end: nothing of it was done.
    Torn,
    /// A whole record that this clone did not write.
    Foreign,
}

/// A slot that this process has locked.
#[derive(Debug)]
pub(super) struct Slot {
    file: File,
    root: Root,
    /// Where it stands, if it goes when it is done.
    passing: Option<PathBuf>,
}

impl RedoFile {
    pub(super) fn new(path: ProjectPath, expected: Expected, new: Option<Vec<u8>>) -> Self {
        let before = match expected {
            Expected::Absent => None,
            Expected::Hash(hash) => Some(hash),
        };
        let after = new.as_deref().map(FileHash::of);
        let bytes = new.unwrap_or_default();
        Self { path, before, after, length: bytes.len(), bytes }
    }
}

impl RedoRecord {
    /// `FORMAT HASH SIGNATURE\n`, the JSON, a line feed, and the bytes of all files. The hash is that of all that follows the line.
    pub(super) fn to_bytes(&self, key: &CloneKey) -> io::Result<Vec<u8>> {
        if !self.is_allowed() {
            return Err(io::Error::other("its events do not name all of its files"));
        }
        let mut content = serde_json::to_vec(self)?;
        content.push(b'\n');
        self.files.iter().for_each(|file| content.extend_from_slice(&file.bytes));
        let hash = FileHash::of(&content);
        let mut bytes = format!("{FORMAT} {hash} {}\n", key.sign(hash)).into_bytes();
        bytes.append(&mut content);
        if bytes.len() as u64 > LIMIT {
            let reason = format!("its files have more than the {LIMIT} bytes that one commit may have");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
        }
        Ok(bytes)
    }

    /// Reads what stands in a slot. Without a key no record is this clone's.
    pub(super) fn parse(bytes: &[u8], key: Option<&CloneKey>) -> Found {
        let Some((first, content)) = split_line(bytes) else { return Found::Torn };
        let line = String::from_utf8_lossy(first);
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        let hash = FileHash::of(content);
        match words[..] {
            [FORMAT, found, _] | [UNSIGNED, found] if found.parse() != Ok(hash) => Found::Torn,
            [FORMAT, _, signature] if key.is_some_and(|key| signature.parse() == Ok(key.sign(hash))) => {
                Self::of_content(content).filter(Self::is_allowed).map_or(Found::Foreign, Found::Record)
            }
            [FORMAT, _, _] | [UNSIGNED, _] => Found::Foreign,
            _ => Found::Torn,
        }
    }

    /// Reads a record from before records were signed.
    pub(super) fn parse_unsigned(bytes: &[u8]) -> Option<Self> {
        let (first, content) = split_line(bytes)?;
        let hash = std::str::from_utf8(first).ok()?.trim_end().strip_prefix(UNSIGNED)?.trim_start();
        let is_whole = hash.parse() == Ok(FileHash::of(content));
        Self::of_content(content)
            .filter(|record| is_whole && !record.events.is_empty() && record.is_allowed())
    }

    /// Nothing of git's own is ever changed, and, where history is told, no file that no event names: as its artifact, or in its data.
    fn is_allowed(&self) -> bool {
        let is_told = |file: &RedoFile| {
            self.events.iter().any(|event| {
                event.artifact.as_ref().is_some_and(|artifact| artifact.path == file.path)
                    || event.data.values().any(|value| value.as_str() == Some(file.path.as_str()))
            })
        };
        let is_allowed =
            |file: &RedoFile| !file.path.is_in_git_folder() && (self.events.is_empty() || is_told(file));
        self.files.iter().all(is_allowed)
    }

    fn of_content(content: &[u8]) -> Option<Self> {
        let (json, mut rest) = split_line(content)?;
        let mut record: Self = serde_json::from_slice(json).ok()?;
        for file in &mut record.files {
            let (bytes, behind) = rest.split_at_checked(file.length)?;
            file.bytes = bytes.to_vec();
            rest = behind;
        }
        Some(record)
    }

    /// Whether it is about the file at `path`.
    pub(super) fn names(&self, path: &ProjectPath) -> bool {
        self.files.iter().any(|file| file.path == *path)
    }
}

/// Splits behind the first line feed.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    Some(bytes.split_at(memchr::memchr(b'\n', bytes)? + 1))
}

impl Slot {
    /// Locks a free slot, makes one where all are in use, and waits up to `patience` where there are enough.
    pub(super) fn take(root: &Root, fsync: FsyncPolicy, patience: Duration) -> io::Result<Self> {
        let started = Instant::now();
        loop {
            for number in 0..SLOTS {
                if let Some(slot) = Self::take_numbered(root, number, fsync)? {
                    return Ok(slot);
                }
            }
            if started.elapsed() >= patience {
                let reason = "too many commits are under way, or were cut off and wait for their recovery";
                return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Locks the slot with this number; `None` where it is in use.
    fn take_numbered(root: &Root, number: usize, fsync: FsyncPolicy) -> io::Result<Option<Self>> {
        let folder = root.state().folder(StateFolder::Redo)?;
        let name = number.to_string();
        let (file, is_new) = match own_file::open(&folder, name.as_ref(), Access::Change) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                root.state().make(StateFolder::Redo)?;
                (own_file::open(&folder, name.as_ref(), Access::ChangeOrMake)?, true)
            }
            opened => (opened?, false),
        };
        match crate::file_lock::try_exclusive(&file) {
            Ok(()) if is_free(&file.metadata()?) => {
                if is_new {
                    flush_folder(&folder, fsync)?;
                }
                let passing = (number >= KEPT).then(|| folder.join(name));
                Ok(Some(Self { file, root: root.clone(), passing }))
            }
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Writes the record, so that it survives a loss of power. After an error the slot must be cleared: what stands in it may be whole,
    /// and would be rolled forward against the caller's wish.
    pub(super) fn write(&mut self, record: &RedoRecord, fsync: FsyncPolicy) -> io::Result<()> {
        let key = CloneKey::read_or_make(self.root.state())?;
        record.to_bytes(&key).and_then(|bytes| self.file.write_all(&bytes)).and_then(|()| match fsync {
            FsyncPolicy::Always => self.file.sync_data(),
            FsyncPolicy::Never => Ok(()),
        })
    }

    /// Empties the slot, and removes it where it is one too many. Without a flush: a record that comes back after a loss of power has its events in the journal.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        #[cfg(unix)]
        if let Some(place) = self.passing.take() {
            // Who has it open already sees that it has no name any more.
            fs::remove_file(place)?;
        }
        Ok(())
    }

    /// What stands in it.
    pub(super) fn found(&mut self) -> io::Result<Found> {
        let key = CloneKey::read(self.root.state())?;
        Ok(RedoRecord::parse(&self.bytes()?, key.as_ref()))
    }

    /// All its bytes.
    pub(super) fn bytes(&mut self) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(0))?;
        own_file::read_bounded(&self.file, LIMIT)
    }
}

/// Whether a slot that this process has locked is empty, and has not lost its name to the one that had it before.
fn is_free(metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    let is_named = std::os::unix::fs::MetadataExt::nlink(metadata) > 0;
    #[cfg(not(unix))]
    let is_named = true;
    is_named && metadata.len() == 0
}

/// The slots of processes that died, locked by this one.
pub(super) fn pending(root: &Root) -> io::Result<Vec<Slot>> {
    let mut found = Vec::new();
    let (folder, names) = filled(root)?;
    for name in names {
        let Some(file) = unless_gone(own_file::open(&folder, name.as_ref(), Access::Change))? else {
            continue;
        };
        match crate::file_lock::try_exclusive(&file) {
            // No record is so large: it is none, and not worth reading.
            Ok(()) if file.metadata()?.len() > LIMIT => {
                let aside = root.state().make(StateFolder::RedoAside)?;
                fs::rename(folder.join(&name), aside.join(format!("too-large-{name}")))?;
            }
            Ok(()) if file.metadata()?.len() > 0 => {
                found.push(Slot { file, root: root.clone(), passing: None });
            }
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(found)
}

/// Whether a record names one of `paths`, whose locks the caller holds: then the process that wrote it died, if only just now.
pub(super) fn names_any(root: &Root, paths: &[&ProjectPath]) -> io::Result<bool> {
    let (folder, names) = filled(root)?;
    if names.is_empty() {
        return Ok(false);
    }
    let key = CloneKey::read(root.state())?;
    for name in names {
        let bytes = read_record(own_file::read(&folder, name.as_ref(), LIMIT))?;
        if let Found::Record(record) = RedoRecord::parse(&bytes, key.as_ref())
            && paths.iter().any(|path| record.names(path))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The paths that commits which were cut off are about, for readers, who only report them.
pub(crate) fn pending_paths(root: &Root) -> io::Result<Vec<ProjectPath>> {
    let mut paths = Vec::new();
    let (folder, names) = filled(root)?;
    let key = CloneKey::read(root.state())?;
    for name in names {
        let Some(file) = unless_gone(own_file::open(&folder, name.as_ref(), Access::Read))? else { continue };
        // A shared lock is refused while a living process has its own.
        if crate::file_lock::try_shared(&file).is_ok()
            && file.metadata()?.len() <= LIMIT
            && let Found::Record(record) =
                RedoRecord::parse(&own_file::read_bounded(&file, LIMIT)?, key.as_ref())
        {
            paths.extend(record.files.into_iter().map(|file| file.path));
        }
    }
    Ok(paths)
}

/// The bytes of a record; none where it is gone, or too large to be one.
fn read_record(read: io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    match read {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge) => {
            Ok(Vec::new())
        }
        read => read,
    }
}

/// The folder of the slots, and the names of those that hold something.
fn filled(root: &Root) -> io::Result<(PathBuf, Vec<String>)> {
    let folder = root.state().folder(StateFolder::Redo)?;
    let entries = match uninterrupted(|| fs::read_dir(&folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((folder, Vec::new())),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let metadata = unless_gone(fs::symlink_metadata(entry.path()))?;
        if metadata.is_some_and(|metadata| metadata.is_file() && metadata.len() > 0) {
            names.extend(entry.file_name().into_string());
        }
    }
    names.sort();
    Ok((folder, names))
}

/// What stands there, unless its commit is done and it went since it was listed.
fn unless_gone<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        commit::scratch_project::{OLD, PRD, ScratchProject, named},
        journal::{Actor, EventDraft, Kind},
    };

    fn record() -> RedoRecord {
        let at = "2026-11-22T10:00:00Z".parse().unwrap();
        let draft = EventDraft::new(Kind::CHANGE)
            .with("a", PRD)
            .with("b", "gone.md")
            .with("c", "empty.md")
            .with("d", ".git/config");
        let event = Event::new(draft, Actor::human("Ada"), at).sealed();
        let files = vec![
            RedoFile::new(named(PRD), Expected::of(Some(OLD)), Some(b"new\n\n".to_vec())),
            RedoFile::new(named("gone.md"), Expected::of(Some(OLD)), None),
            RedoFile::new(named("empty.md"), Expected::Absent, Some(Vec::new())),
        ];
        RedoRecord { files, events: vec![event] }
    }

    #[test]
    fn a_record_is_whole_or_none() {
        let project = ScratchProject::new();
        let key = CloneKey::read_or_make(project.root.state()).unwrap();
        let bytes = record().to_bytes(&key).unwrap();
        let parse = |bytes: &[u8]| RedoRecord::parse(bytes, Some(&key));
        assert_eq!(parse(&bytes), Found::Record(record()));
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), Found::Torn, "{length} bytes");
        }
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            assert!(!matches!(parse(&changed), Found::Record(_)), "byte {place}");
        }
    }

    #[test]
    fn only_what_this_clone_wrote_is_a_record() {
        let (project, stranger) = (ScratchProject::new(), ScratchProject::new());
        let key = |project: &ScratchProject| CloneKey::read_or_make(project.root.state()).unwrap();
        let bytes = record().to_bytes(&key(&stranger)).unwrap();
        assert_eq!(RedoRecord::parse(&bytes, Some(&key(&project))), Found::Foreign);
        assert_eq!(RedoRecord::parse(&bytes, None), Found::Foreign);
        let line = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let unsigned = format!("{UNSIGNED} {}\n", FileHash::of(&bytes[line + 1..]));
        let unsigned = [unsigned.as_bytes(), &bytes[line + 1..]].concat();
        assert_eq!(RedoRecord::parse(&unsigned, Some(&key(&project))), Found::Foreign);
        assert_eq!(RedoRecord::parse_unsigned(&unsigned), Some(record()));

        for path in [".git/config", "a/.GIT/hooks/pre-commit", "git~1/config", "docs/of-no-event.md"] {
            let mut record = record();
            record.files[0].path = named(path);
            assert!(record.to_bytes(&key(&project)).is_err(), "{path}");
        }
    }

    #[test]
    fn slots_beyond_those_that_are_kept_go_when_they_are_done() {
        let project = ScratchProject::new();
        let take = || Slot::take(&project.root, FsyncPolicy::Never, Duration::ZERO).unwrap();
        let mut slots: Vec<Slot> = (0..KEPT + 4).map(|_| take()).collect();
        let names = || project.names(".stepmark/local/redo").len();
        assert_eq!(names(), KEPT + 4);
        slots.iter_mut().for_each(|slot| slot.clear().unwrap());
        drop(slots);
        assert_eq!(names(), if cfg!(unix) { KEPT } else { KEPT + 4 });
    }

    #[cfg(unix)]
    #[test]
    fn who_locks_a_slot_that_was_removed_meanwhile_takes_another() {
        let project = ScratchProject::new();
        let take = || Slot::take(&project.root, FsyncPolicy::Never, Duration::ZERO).unwrap();
        let mut slots: Vec<Slot> = (0..=KEPT).map(|_| take()).collect();
        let opened = File::open(project.place(&format!(".stepmark/local/redo/{KEPT}"))).unwrap();
        assert!(is_free(&opened.metadata().unwrap()));
        slots.pop().unwrap().clear().unwrap();
        opened.try_lock().unwrap();
        assert!(!is_free(&opened.metadata().unwrap()));
        // The name is free for a new slot.
        let mut again = take();
        again.write(&record(), FsyncPolicy::Never).unwrap();
        assert!(names_any(&project.root, &[&named(PRD)]).unwrap());
    }

    #[test]
    fn a_slot_is_pending_when_its_process_is_gone() {
        let project = ScratchProject::new();
        assert!(pending(&project.root).unwrap().is_empty());
        let mut first = Slot::take(&project.root, FsyncPolicy::Never, Duration::ZERO).unwrap();
        let second = Slot::take(&project.root, FsyncPolicy::Never, Duration::ZERO).unwrap();
        first.write(&record(), FsyncPolicy::Always).unwrap();
        assert!(pending(&project.root).unwrap().is_empty(), "its process lives");
        assert!(pending_paths(&project.root).unwrap().is_empty());
        assert!(names_any(&project.root, &[&named(PRD)]).unwrap());
        assert!(!names_any(&project.root, &[&named("docs/ux.md")]).unwrap());
        drop((first, second));
        assert_eq!(pending_paths(&project.root).unwrap().len(), 3);
        let mut found = pending(&project.root).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].found().unwrap(), Found::Record(record()));
        found[0].clear().unwrap();
        drop(found);
        assert!(pending(&project.root).unwrap().is_empty());
        assert_eq!(project.names(".stepmark/local/redo"), ["0", "1"]);
    }
}
