//! Slots for redo records: files in the local state that are reused, locked by their process, and empty if
//! free.
//!
//! A record in an unlocked slot is a dead process's (docs/adr/0006-journal.md). While its files are locked,
//! no living process has a record that names them.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: redo records are written here, and a clock bounds a wait"
)]

use std::{
    fs::{self, File, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::commit::{
    FsyncPolicy, file::flush_folder, names_in, redo::Found, redo::LIMIT, redo::RedoRecord,
    redo::set_aside_unread,
};
use crate::disk::{local_state::StateFolder, own_file, own_file::Access, root::Root};
use stepmark_model::artifact::ProjectPath;

/// The most commits at once; others wait.
const SLOTS: usize = 1024;

/// Slots that stay: every commit looks at all, so more are removed after use.
const KEPT: usize = 16;

const PAUSE: Duration = Duration::from_millis(4);

#[derive(Debug)]
pub(in crate::commit) struct Slot {
    file: File,
    /// The path of a file that is removed after use.
    passing: Option<PathBuf>,
    /// A person or a backup made the file read-only.
    is_read_only: bool,
}

impl Slot {
    /// Locks a free slot, creates one if all are used, or waits up to `patience` for one of the maximum.
    pub(in crate::commit) fn take(root: &Root, fsync: FsyncPolicy, patience: Duration) -> io::Result<Self> {
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

    /// `None` if it is used.
    fn take_numbered(root: &Root, number: usize, fsync: FsyncPolicy) -> io::Result<Option<Self>> {
        let folder = root.state().folder(StateFolder::Redo)?;
        let name = number.to_string();
        let (file, is_new) = match own_file::open(&folder, name.as_ref(), Access::Change) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                root.state().make(StateFolder::Redo)?;
                let made = own_file::open(&folder, name.as_ref(), Access::ChangeOrMake);
                (made.map_err(|error| named(&folder, &name, error))?, true)
            }
            // Anything else there cannot be used as a slot.
            Err(error) if is_refused(&error) && fs::symlink_metadata(folder.join(&name)).is_ok() => {
                return Ok(None);
            }
            opened => (opened.map_err(|error| named(&folder, &name, error))?, false),
        };
        match crate::disk::file_lock::try_exclusive(&file) {
            Ok(()) if is_free(&file.metadata()?) => {
                if is_new {
                    flush_folder(&folder, fsync)?;
                }
                let passing = (number >= KEPT).then(|| folder.join(name));
                Ok(Some(Self { file, passing, is_read_only: false }))
            }
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Flushed, so that it survives a power loss. After an error the slot must be cleared: a whole record
    /// would be rolled forward against the caller's wish.
    pub(in crate::commit) fn write(&mut self, record: &RedoRecord, fsync: FsyncPolicy) -> io::Result<()> {
        record.to_bytes().and_then(|bytes| self.file.write_all(&bytes)).and_then(|()| match fsync {
            FsyncPolicy::Always => self.file.sync_data(),
            FsyncPolicy::Never => Ok(()),
        })
    }

    /// Removes a surplus slot. Not flushed: a record that reappears after a power loss has its events in the
    /// journal.
    pub(in crate::commit) fn clear(&mut self) -> io::Result<()> {
        if !self.is_read_only {
            self.file.set_len(0)?;
            self.file.seek(SeekFrom::Start(0))?;
        }
        #[cfg(unix)]
        if let Some(place) = self.passing.take() {
            // Who has it open sees that it has no name any more.
            fs::remove_file(place)?;
        }
        Ok(())
    }

    pub(in crate::commit) fn found(&mut self) -> io::Result<Found> {
        Ok(RedoRecord::parse(&self.bytes()?))
    }

    pub(in crate::commit) fn bytes(&mut self) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(0))?;
        own_file::read_bounded(&self.file, LIMIT)
    }
}

impl Drop for Slot {
    /// A child process being started by another thread has the file open too, and would keep the lock.
    fn drop(&mut self) {
        let _ends_with_the_file = self.file.unlock();
    }
}

/// True if a slot locked here is empty and still has its name.
fn is_free(metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    let is_named = std::os::unix::fs::MetadataExt::nlink(metadata) > 0;
    #[cfg(not(unix))]
    let is_named = true;
    is_named && metadata.len() == 0
}

pub(in crate::commit) fn pending(root: &Root) -> io::Result<Vec<Slot>> {
    let mut found = Vec::new();
    let (folder, names) = filled(root)?;
    for name in names {
        let Some((file, is_read_only)) = open_filled(&folder, &name)? else { continue };
        match crate::disk::file_lock::try_exclusive(&file) {
            // Too large to be a record, so it is not read.
            Ok(()) if file.metadata()?.len() > LIMIT => {
                set_aside_unread(root, &file, &folder.join(&name))
                    .map_err(|error| named(&folder, &name, error))?;
            }
            Ok(()) if file.metadata()?.len() > 0 => {
                let passing = is_read_only.then(|| folder.join(&name));
                found.push(Slot { file, passing, is_read_only });
            }
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(named(&folder, &name, error)),
        }
    }
    Ok(found)
}

/// Also returns whether it is read-only; `None` if it is gone.
fn open_filled(folder: &Path, name: &str) -> io::Result<Option<(File, bool)>> {
    let (opened, is_read_only) = match own_file::open(folder, name.as_ref(), Access::Change) {
        // Such a slot is removed after use, which only Unix allows.
        Err(error) if cfg!(unix) && error.kind() == io::ErrorKind::PermissionDenied => {
            (own_file::open(folder, name.as_ref(), Access::Read), true)
        }
        opened => (opened, false),
    };
    let opened = unless_gone(opened).map_err(|error| named(folder, name, error))?;
    Ok(opened.map(|file| (file, is_read_only)))
}

/// The caller must hold the locks of `paths`, so that the record's process is dead.
pub(in crate::commit) fn names_any(root: &Root, paths: &[&ProjectPath]) -> io::Result<bool> {
    let (folder, names) = filled(root)?;
    for name in names {
        let bytes = read_record(own_file::read(&folder, name.as_ref(), LIMIT))
            .map_err(|error| named(&folder, &name, error))?;
        if let Found::Record(record) = RedoRecord::parse(&bytes)
            && paths.iter().any(|path| record.names(path))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// For readers, which only report these commits.
pub(crate) fn pending_paths(root: &Root) -> io::Result<Vec<ProjectPath>> {
    let mut paths = Vec::new();
    let (folder, names) = filled(root)?;
    for name in names {
        let opened = unless_gone(own_file::open(&folder, name.as_ref(), Access::Read));
        let Some(file) = opened.map_err(|error| named(&folder, &name, error))? else { continue };
        // Fails while a living process holds its lock.
        if crate::disk::file_lock::is_free(&file)
            && file.metadata()?.len() <= LIMIT
            && let Found::Record(record) = RedoRecord::parse(&own_file::read_bounded(&file, LIMIT)?)
        {
            paths.extend(record.files.into_iter().map(|file| file.path));
        }
    }
    Ok(paths)
}

fn named(folder: &Path, name: &str, error: io::Error) -> io::Error {
    let place = folder.join(name);
    let text = format!(
        "cannot use `{}`, which may hold a commit that was cut off: {error}; let this user read and write it, and run the \
         command again",
        place.display()
    );
    io::Error::new(error.kind(), text)
}

fn is_refused(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, IsADirectory, PermissionDenied};
    matches!(error.kind(), InvalidInput | IsADirectory | PermissionDenied)
}

/// Empty if it is gone, or too large to be a record.
fn read_record(read: io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    match read {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge) => {
            Ok(Vec::new())
        }
        read => read,
    }
}

fn filled(root: &Root) -> io::Result<(PathBuf, Vec<String>)> {
    let folder = root.state().folder(StateFolder::Redo)?;
    let mut filled = Vec::new();
    for name in names_in(&folder)? {
        // Other names are not records of this clone.
        if name.parse().is_ok_and(|number: usize| number < SLOTS) {
            let found = unless_gone(fs::symlink_metadata(folder.join(&name)))?;
            filled.extend(found.filter(|found| found.is_file() && found.len() > 0).map(|_| name));
        }
    }
    Ok((folder, filled))
}

/// `None` if the commit finished and its slot was removed since the listing.
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
        redo::record::tests::record, scratch_project, scratch_project::PRD, scratch_project::ScratchProject,
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
        assert!(names_any(&project.root, &[&scratch_project::named(PRD)]).unwrap());
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
        assert!(names_any(&project.root, &[&scratch_project::named(PRD)]).unwrap());
        assert!(!names_any(&project.root, &[&scratch_project::named("docs/ux.md")]).unwrap());
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

    #[cfg(unix)]
    #[test]
    fn what_is_no_slot_is_passed_over_and_what_cannot_be_read_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let project = ScratchProject::new();
        let folder = project.root.state().make(StateFolder::Redo).unwrap();
        fs::create_dir(folder.join("0")).unwrap();
        std::os::unix::fs::symlink("elsewhere", folder.join("1")).unwrap();
        fs::write(folder.join("notes"), "a person's").unwrap();
        let mut slot = Slot::take(&project.root, FsyncPolicy::Never, Duration::ZERO).unwrap();
        slot.write(&record(), FsyncPolicy::Never).unwrap();
        drop(slot);
        let place = folder.join("2");
        let set_mode = |mode| fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();

        set_mode(0);
        // The superuser may read everything.
        if fs::read(&place).is_err() {
            let errors = [
                pending(&project.root).map(drop).unwrap_err(),
                pending_paths(&project.root).map(drop).unwrap_err(),
                names_any(&project.root, &[]).map(drop).unwrap_err(),
            ];
            assert!(errors.iter().all(|error| error.to_string().contains(place.to_str().unwrap())));
        }
        set_mode(0o444);
        let other = Slot::take(&project.root, FsyncPolicy::Never, Duration::ZERO).unwrap();
        let mut found = pending(&project.root).unwrap();
        assert_eq!(found.len(), 1, "of `notes` nobody knows");
        assert_eq!(found[0].found().unwrap(), Found::Record(record()));
        found[0].clear().unwrap();
        drop((found, other));
        assert!(pending(&project.root).unwrap().is_empty());
        assert!(folder.join("notes").exists());
    }

    /// As [`pending`] opens a slot whose file the user may not change.
    #[cfg(unix)]
    #[test]
    fn a_slot_that_can_only_be_read_goes_when_it_is_done() {
        let project = ScratchProject::new();
        let mut slot = Slot::take(&project.root, FsyncPolicy::Never, Duration::ZERO).unwrap();
        slot.write(&record(), FsyncPolicy::Never).unwrap();
        drop(slot);
        let place = project.place(".stepmark/local/redo/0");
        let file = File::open(&place).unwrap();
        let mut slot = Slot { file, passing: Some(place.clone()), is_read_only: true };
        assert_eq!(slot.found().unwrap(), Found::Record(record()));
        slot.clear().unwrap();
        assert!(!place.exists());
    }

    #[test]
    fn what_is_too_large_never_replaces_what_was_set_aside_earlier() {
        let project = ScratchProject::new();
        let folder = project.root.state().make(StateFolder::Redo).unwrap();
        for count in 1..=2 {
            File::create(folder.join("0")).unwrap().set_len(LIMIT + 1).unwrap();
            assert!(pending(&project.root).unwrap().is_empty());
            let names = project.names(".stepmark/local/redo-aside");
            assert!(names.len() == count && names.iter().all(|name| name.len() == 16), "{names:?}");
        }
    }
}
