//! Checks that a file is as expected, and that nobody is writing it.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the clock tells how old a file is; files are removed here"
)]

use crate::commit::file::{FileContent, Moment, flush_folder, read_file};
use crate::commit::lock::{Note, file_name, keep};
use crate::commit::{
    ArtifactLock, CommitError, Conflict, Expected, Found, FsyncPolicy, PublishError, Staged,
};
use std::time::{Duration, SystemTime};
use std::{fs, io, thread};
use stepmark_model::artifact::FileHash;

/// Many editors truncate a file and refill it in pieces. In between, two readings give the same, and the rest
/// would go to the displaced file. So a file that another program wrote less than this ago is read again
/// after the time. The pieces are microseconds apart; up to 4 ms were measured on a busy disk.
const SETTLING_TIME: Duration = Duration::from_millis(20);

/// For empty files, which are rarely meant: truncation took up to 26 ms on a busy disk.
const SETTLING_TIME_OF_EMPTY: Duration = Duration::from_millis(200);

const ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug)]
pub(in crate::commit) struct Unsettled {
    modified: SystemTime,
    /// The time until the other program has probably finished.
    pub(in crate::commit) rest: Duration,
}

impl FileContent {
    /// The remaining time if another program wrote recently; `last_published` is stepmark's, if known.
    pub(in crate::commit) fn unsettled(&self, last_published: Option<FileHash>) -> Option<Unsettled> {
        let settling = if self.bytes.is_empty() { SETTLING_TIME_OF_EMPTY } else { SETTLING_TIME };
        let modified = self.modified?;
        // A time in the future is another clock's; it counts as fresh.
        let age = SystemTime::now().duration_since(modified).unwrap_or_default();
        let rest = settling.checked_sub(age).filter(|rest| !rest.is_zero())?;
        let ours = last_published.is_some_and(|ours| ours == FileHash::of(&self.bytes));
        (!ours).then_some(Unsettled { modified, rest })
    }
}

impl Staged<'_> {
    /// Fails unless the file is as expected, and unwritten by others for its settling time.
    pub(in crate::commit) fn check_at_rest(
        &self,
        expected: Expected,
        reached: &mut dyn FnMut(Moment),
    ) -> Result<(), PublishError> {
        let mut waited_for = None;
        for _round in 0..=ROUNDS {
            match self.check(expected)? {
                // By another clock a file may stay fresh, but it was not written during the wait.
                Some(Unsettled { modified, .. }) if waited_for == Some(modified) => return Ok(()),
                None => return Ok(()),
                Some(Unsettled { modified, rest }) => {
                    reached(Moment::Fresh);
                    thread::sleep(rest);
                    waited_for = Some(modified);
                }
            }
        }
        Err(PublishError::Busy { path: self.path() })
    }

    fn check(&self, expected: Expected) -> Result<Option<Unsettled>, PublishError> {
        let found =
            self.lock.read_content().map_err(|source| PublishError::Check { path: self.path(), source })?;
        if Expected::of(found.as_ref().map(|found| &*found.bytes)) != expected {
            return Err(self.conflict(expected, Found::of(Ok(found.map(|found| found.bytes))), None));
        }
        Ok(found.and_then(|found| found.unsettled(self.lock.last_published)))
    }
}

/// Removes the file if it has this hash. Renames it first, so that a foreign write is found and restored; the
/// note tells the next holder.
pub(in crate::commit) fn remove(
    lock: &mut ArtifactLock,
    before: FileHash,
    fsync: FsyncPolicy,
) -> Result<(), CommitError> {
    let expected = Expected::Hash(before);
    let conflict = |lock: &ArtifactLock, found, kept| {
        let conflict = Conflict { path: lock.path.clone(), expected, found, kept };
        CommitError::Publish(PublishError::Conflict(Box::new(conflict)))
    };
    let failed =
        |lock: &ArtifactLock, source: io::Error| PublishError::Rename { path: lock.path.clone(), source };
    let found = lock.read()?;
    if found.as_deref().map(FileHash::of) != Some(before) {
        return Err(conflict(lock, Found::of(Ok(found)), None));
    }
    let temporary = lock.folder().join(lock.key.temporary_name(before));
    // The same hash twice: a file of that name has the artifact's old bytes, or foreign ones.
    let note = Note::Exchanging { name: file_name(&temporary), before, after: before };
    note.write(&lock.lock_file).map_err(|source| failed(lock, source))?;
    fs::rename(&lock.target, &temporary).map_err(|source| failed(lock, source))?;
    let displaced = read_file(&lock.path, &temporary).map(|file| file.map(|file| file.bytes));
    if !matches!(&displaced, Ok(Some(bytes)) if FileHash::of(bytes) == before) {
        let found = Found::of(displaced);
        // Never overwrites a newer file: hard links fail on a taken name.
        let kept = match fs::hard_link(&temporary, &lock.target).and_then(|()| fs::remove_file(&temporary)) {
            Ok(()) => None,
            Err(_) => Some(keep(&temporary, &lock.target).unwrap_or(temporary)),
        };
        return Err(conflict(lock, found, kept));
    }
    fs::remove_file(&temporary)
        .map_err(|source| PublishError::Remains { path: lock.path.clone(), source })?;
    flush_folder(lock.folder(), fsync)
        .map_err(|source| PublishError::Flush { path: lock.path.clone(), source })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::scratch_project::{OLD, PRD, ScratchProject};
    use crate::commit::{ArtifactLock, FsyncPolicy};
    use std::{fs, io::Write};

    #[test]
    fn an_editor_that_is_not_done_yet_is_waited_for() {
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let mut editor = fs::File::create(project.place(PRD)).unwrap();
        let staged = lock.stage(b"new", FsyncPolicy::Never).unwrap();
        let result = staged.publish_watched(Expected::of(Some(b"")), &mut |moment| {
            if moment == Moment::Fresh {
                editor.write_all(b"theirs").unwrap();
            }
        });
        let Err(PublishError::Conflict(conflict)) = result else { panic!("{result:?}") };
        assert!(matches!(conflict.found, Found::Bytes(bytes) if bytes == b"theirs"));
        assert_eq!(project.read(PRD), b"theirs");
    }

    #[test]
    fn a_file_that_does_not_come_to_rest_is_left() {
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let touch = |later: u64| {
            let file = fs::File::options().write(true).open(project.place(PRD)).unwrap();
            file.set_modified(SystemTime::now() + Duration::from_secs(later)).unwrap();
        };
        touch(1);
        let mut writes = 1;
        let staged = lock.stage(b"new", FsyncPolicy::Never).unwrap();
        let result = staged.publish_watched(Expected::of(Some(OLD)), &mut |moment| {
            if moment == Moment::Fresh {
                writes += 1;
                touch(writes);
            }
        });
        assert!(matches!(result, Err(PublishError::Busy { .. })), "{result:?}");
        assert_eq!((writes, project.read(PRD).as_slice()), (7, OLD));
        assert_eq!(project.names("docs"), ["prd.md"]);
    }

    fn waits(lock: &mut ArtifactLock, old: &[u8], new: &[u8]) -> bool {
        let mut waited = false;
        let staged = lock.stage(new, FsyncPolicy::Never).unwrap();
        staged
            .publish_watched(Expected::of(Some(old)), &mut |moment| waited |= moment == Moment::Fresh)
            .unwrap();
        waited
    }

    #[test]
    fn only_a_fresh_file_of_another_program_is_waited_for() {
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let modify =
            |time| fs::File::options().write(true).open(project.place(PRD)).unwrap().set_modified(time);
        modify(SystemTime::now()).unwrap();
        assert!(waits(&mut lock, OLD, b"1"), "written by another program");
        // Staged before the wait, so no longer fresh; and what follows is.
        assert!(!waits(&mut lock, b"1", b"2"), "published 20 ms ago");
        assert!(!waits(&mut lock, b"2", b"3"), "published under this lock just now");
        drop(lock);
        let mut lock = project.lock(PRD);
        assert!(!waits(&mut lock, b"3", b"4"), "published by the last holder just now");

        project.write(PRD, OLD);
        modify(SystemTime::now() + Duration::from_secs(3600)).unwrap();
        assert!(waits(&mut lock, OLD, b"5"), "written under another clock");
        project.write(PRD, OLD);
        modify(SystemTime::now() - Duration::from_secs(3600)).unwrap();
        assert!(!waits(&mut lock, OLD, b"6"), "written long ago");
    }

    #[test]
    fn removes_only_what_was_read() {
        let project = ScratchProject::new();
        let mut lock = project.lock(PRD);
        let refused = remove(&mut lock, FileHash::of(b"another"), FsyncPolicy::Never);
        assert!(matches!(refused, Err(CommitError::Publish(PublishError::Conflict(_)))));
        assert_eq!(project.read(PRD), OLD);
        remove(&mut lock, FileHash::of(OLD), FsyncPolicy::Always).unwrap();
        assert_eq!(project.names("docs"), [""; 0]);
        let refused = remove(&mut lock, FileHash::of(OLD), FsyncPolicy::Never);
        assert!(matches!(refused, Err(CommitError::Publish(PublishError::Conflict(_)))));
    }
}
