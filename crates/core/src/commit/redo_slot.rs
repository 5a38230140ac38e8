//! Where redo records stand: a *slot* is a file in the local state that is kept, is locked by the process that uses it, and is
//! empty when it is free.
//!
//! A record in a slot that nobody locks is that of a process that died (docs/adr/0006-journal.md). Under the locks of its files no
//! living process has a record that names one of them.
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

use super::{
    FsyncPolicy,
    clone_key::CloneKey,
    folder::flush_folder,
    redo_record::{Found, LIMIT, RedoRecord},
    state_file::names_in,
};
use crate::{
    artifact::ProjectPath,
    local_state::StateFolder,
    own_file::{self, Access},
    root::Root,
};

/// How many commits can be under way at once; others wait for one of them.
const SLOTS: usize = 1024;

/// How many slots are kept. Every commit looks at all that there are, so those beyond go when their commit is done.
const KEPT: usize = 16;

/// How long to wait before slots are asked again.
const PAUSE: Duration = Duration::from_millis(4);

/// A slot that this process has locked.
#[derive(Debug)]
pub(super) struct Slot {
    file: File,
    root: Root,
    /// Where it stands, if it goes when it is done.
    passing: Option<PathBuf>,
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
    let mut filled = Vec::new();
    for name in names_in(&folder)? {
        let found = unless_gone(fs::symlink_metadata(folder.join(&name)))?;
        filled.extend(found.filter(|found| found.is_file() && found.len() > 0).map(|_| name));
    }
    Ok((folder, filled))
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
    use crate::commit::{
        redo_record::tests::record,
        scratch_project::{PRD, ScratchProject, named},
    };

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
