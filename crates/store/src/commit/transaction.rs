//! Changing several files and the history as one: all of it or nothing, whenever the process dies.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the clock bounds the wait for a dying process"
)]

use std::{
    io, thread,
    time::{Duration, Instant},
};

use crate::commit::{
    ArtifactLock, CommitError, CommitOptions, Expected, FsyncPolicy, LockError, Outcome, PublishError,
    Staged, UpdateError, WriteState, file::FileContent, file::remove, journal::JournalFile,
    lock::JournalStamp, lock::remember, redo::RedoFile, redo::RedoRecord, redo::Slot, redo::acquire_all,
    redo::hindrance, redo::recover, redo::roll_forward, redo::slot, redo::told, redo::withdraw,
    update::changes_soon,
};
use crate::disk::root::Root;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::{Ancestor, Event},
};

/// The decision on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileDecision {
    /// Nothing.
    Keep,
    /// It gets these bytes; it is made where it is missing.
    Write(Vec<u8>),
    /// It goes.
    Delete,
}

/// A file before and after.
#[derive(Clone, Copy, Debug)]
pub struct FileTransition<'a> {
    /// The file.
    pub path: &'a ProjectPath,
    /// Its bytes before; `None` where there is no file.
    pub old: Option<&'a [u8]>,
    /// Its bytes after; `None` where there is none any more.
    pub new: Option<&'a [u8]>,
    /// The event after which it had the bytes of before, where its lock remembers it and nothing in the journal can follow.
    pub last_told: Option<Ancestor>,
}

/// The decisions and the events of a transaction, made from the bytes that it finds. It may be asked several times, and must
/// depend on what it is given alone.
pub trait Deliberation {
    /// The error of a refusal.
    type Refusal: std::error::Error + 'static;

    /// Decides on each file, given its bytes (`None`: there is no such file).
    ///
    /// # Errors
    /// When nothing is to be done at all.
    fn decide(&mut self, found: &[Option<&[u8]>]) -> Result<Vec<FileDecision>, Self::Refusal>;

    /// The events that tell of the changes, made under the locks of all files.
    ///
    /// # Errors
    /// When history cannot be read.
    fn record(&mut self, changed: &[FileTransition<'_>]) -> Result<Vec<Event>, Self::Refusal>;
}

/// The time to wait for a process that is dying with a record of our files.
const DYING: Duration = Duration::from_millis(1);

/// Reads the files at `paths`, lets them be decided on, and changes them and the journal together: see
/// docs/adr/0006-journal.md. It starts again from the reading when a program without our locks changes one of them meanwhile.
/// Commits that were cut off earlier are finished first.
///
/// # Errors
/// What is refused; or why the commit did not end well: [`CommitError::write_state`] says whether its files are changed.
pub fn transact<D: Deliberation>(
    root: &Root,
    paths: &[ProjectPath],
    options: &CommitOptions,
    deliberation: &mut D,
) -> Result<Vec<Outcome>, UpdateError<D::Refusal>> {
    let order = lock_order(root, paths)?;
    let ordered: Vec<&ProjectPath> = order.iter().map(|place| &paths[*place]).collect();
    let mut locks = lock_when_nothing_is_pending(root, &ordered, options)?;
    let mut attempts = 1;
    let outcomes = loop {
        match attempt(root, &mut locks, (&order, attempts), options, deliberation)? {
            Attempt::Done(outcomes) => break outcomes,
            Attempt::Again(_) if attempts < options.attempts.get() => attempts += 1,
            Attempt::Again(last) => return Err(last),
        }
    };
    let mut by_path = vec![Outcome::Unchanged; paths.len()];
    for (place, outcome) in order.into_iter().zip(outcomes) {
        by_path[place] = outcome;
    }
    Ok(by_path)
}

/// The result of one attempt.
enum Attempt<E: std::error::Error + 'static> {
    Done(Vec<Outcome>),
    /// Another program was in the way; this is what it comes to if it is the last attempt.
    Again(UpdateError<E>),
}

fn attempt<D: Deliberation>(
    root: &Root,
    locks: &mut [ArtifactLock],
    (order, attempts): (&[usize], u32),
    options: &CommitOptions,
    deliberation: &mut D,
) -> Result<Attempt<D::Refusal>, UpdateError<D::Refusal>> {
    let read = |lock: &ArtifactLock| Ok(lock.read_content()?);
    let found: Vec<Option<FileContent>> =
        locks.iter().map(read).collect::<Result<_, CommitError>>().map_err(UpdateError::Commit)?;
    // The caller's order of files is not ours.
    let mut given: Vec<Option<&[u8]>> = vec![None; found.len()];
    for (place, content) in order.iter().zip(&found) {
        given[*place] = content.as_ref().map(|content| content.bytes.as_slice());
    }
    let decisions = match deliberation.decide(&given) {
        Ok(decisions) => decisions,
        Err(refusal) => {
            let mut contents = locks.iter().zip(&found);
            let is_half_written = contents
                .any(|(lock, content)| content.as_ref().is_some_and(|content| changes_soon(lock, content)));
            let refused = UpdateError::Decide(refusal);
            return if is_half_written { Ok(Attempt::Again(refused)) } else { Err(refused) };
        }
    };
    let files = changed_files(locks, order, &found, decisions);
    if files.is_empty() {
        return Ok(Attempt::Done(vec![Outcome::Unchanged; locks.len()]));
    }
    // Before the past is asked for: what comes to the journal after this makes the next commit ask again.
    let journal = JournalStamp::now(root);
    let last_told = |place: usize, file: &RedoFile| {
        let told = locks[place].last_told.as_ref()?;
        let is_last = file.before == Some(told.file) && journal.as_ref() == Some(&told.journal);
        is_last.then_some(told.event)
    };
    let transitions: Vec<FileTransition<'_>> =
        files.iter().map(|(place, file)| transition(*place, file, &found, last_told(*place, file))).collect();
    let events = deliberation.record(&transitions).map_err(UpdateError::Decide)?;
    let outcomes = outcomes(&files, locks.len(), attempts);
    let (places, files): (Vec<usize>, Vec<RedoFile>) = files.into_iter().unzip();
    let record = RedoRecord { files, events };
    match carry_out(root, locks, &places, &record, options) {
        Ok(()) => {
            if let Some(journal) = journal {
                remember(locks, &record.events, &journal);
            }
            Ok(Attempt::Done(outcomes))
        }
        Err(CommitError::Publish(PublishError::Conflict(conflict))) if conflict.kept.is_none() => {
            Ok(Attempt::Again(CommitError::Publish(PublishError::Conflict(conflict)).into()))
        }
        Err(error) => Err(error.into()),
    }
}

/// The files that change, each with its place among the locks.
fn changed_files(
    locks: &[ArtifactLock],
    order: &[usize],
    found: &[Option<FileContent>],
    mut decisions: Vec<FileDecision>,
) -> Vec<(usize, RedoFile)> {
    let mut files = Vec::new();
    for (place, (lock, content)) in locks.iter().zip(found).enumerate() {
        let old = content.as_ref().map(|content| content.bytes.as_slice());
        let decision =
            decisions.get_mut(order[place]).map(|decision| std::mem::replace(decision, FileDecision::Keep));
        let new = match decision {
            Some(FileDecision::Write(new)) if old != Some(new.as_slice()) => Some(new),
            Some(FileDecision::Delete) if old.is_some() => None,
            _ => continue,
        };
        files.push((place, RedoFile::new(lock.path().clone(), Expected::of(old), new)));
    }
    files
}

fn transition<'a>(
    place: usize,
    file: &'a RedoFile,
    found: &'a [Option<FileContent>],
    last_told: Option<Ancestor>,
) -> FileTransition<'a> {
    let old = found[place].as_ref().map(|content| content.bytes.as_slice());
    FileTransition { path: &file.path, old, new: file.after.map(|_| file.bytes.as_slice()), last_told }
}

fn outcomes(files: &[(usize, RedoFile)], count: usize, attempts: u32) -> Vec<Outcome> {
    let mut outcomes = vec![Outcome::Unchanged; count];
    for (place, file) in files {
        let before = file.before.map_or(Expected::Absent, Expected::Hash);
        outcomes[*place] = match file.after {
            Some(after) => Outcome::Written { before, after, attempts },
            None => Outcome::Deleted { before, attempts },
        };
    }
    outcomes
}

/// Stages all files, writes the record, publishes, tells the journal. `places` says which lock each file of the record has.
fn carry_out(
    root: &Root,
    locks: &mut [ArtifactLock],
    places: &[usize],
    record: &RedoRecord,
    options: &CommitOptions,
) -> Result<(), CommitError> {
    let fsync = options.fsync;
    let Some(first) = record.files.first() else { return Ok(()) };
    if record.events.is_empty() && record.files.len() == 1 {
        let prepared = prepare_all(locks, places, record, fsync)?;
        return publish_in_order(prepared).map_err(|(_, error)| error);
    }
    let mut slot = Slot::take(root, fsync, options.lock_timeout)
        .map_err(|source| CommitError::Redo { path: first.path.clone(), source })?;
    let prepared = prepare_all(locks, places, record, fsync)?;
    if let Err(source) = slot.write(record, fsync) {
        let error = CommitError::Redo { path: first.path.clone(), source };
        return Err(withdraw(&mut slot, &first.path, error));
    }
    // From here on the record stays where something goes wrong: the next commit finishes this one.
    let unfinished = |error| CommitError::Unfinished { path: first.path.clone(), source: Box::new(error) };
    let published = publish_in_order(prepared);
    let overtaken = match published {
        Ok(()) => Vec::new(),
        // Nothing has happened yet, unless the first file has its new bytes.
        Err((0, error)) if error.write_state() != WriteState::Written => {
            return Err(withdraw(&mut slot, &first.path, error));
        }
        Err((_, CommitError::Publish(PublishError::Conflict(_) | PublishError::Busy { .. }))) => {
            roll_forward(&mut chosen(locks, places), record, fsync).map_err(unfinished)?
        }
        // Of one file it is known.
        Err((_, error)) if record.files.len() == 1 => return Err(error),
        Err((_, error)) => return Err(unfinished(error)),
    };
    let events = told(record, &overtaken);
    let told = JournalFile::open(root).and_then(|journal| journal.append(&events, fsync));
    told.map_err(|source| CommitError::History { path: first.path.clone(), source })?;
    slot.clear().map_err(|source| CommitError::Record { path: first.path.clone(), source })?;
    match overtaken.into_iter().next() {
        None => Ok(()),
        Some(overtaken) => Err(CommitError::Overtaken { path: overtaken.path }),
    }
}

/// A file that is ready to be published.
enum Prepared<'lock> {
    Write(Staged<'lock>, Expected),
    Remove(&'lock mut ArtifactLock, FileHash, FsyncPolicy),
}

/// The locks at these places, which grow.
fn chosen<'lock>(locks: &'lock mut [ArtifactLock], places: &[usize]) -> Vec<&'lock mut ArtifactLock> {
    let is_chosen = |place: &usize| places.binary_search(place).is_ok();
    locks.iter_mut().enumerate().filter(|(place, _)| is_chosen(place)).map(|(_, lock)| lock).collect()
}

fn prepare_all<'lock>(
    locks: &'lock mut [ArtifactLock],
    places: &[usize],
    record: &RedoRecord,
    fsync: FsyncPolicy,
) -> Result<Vec<Prepared<'lock>>, CommitError> {
    let pairs = chosen(locks, places).into_iter().zip(&record.files);
    pairs
        .map(|(lock, file)| {
            let expected = file.before.map_or(Expected::Absent, Expected::Hash);
            match (file.after, file.before) {
                (None, Some(before)) => Ok(Prepared::Remove(lock, before, fsync)),
                _ => Ok(Prepared::Write(lock.stage(&file.bytes, fsync)?, expected)),
            }
        })
        .collect()
}

/// Publishes one after the other; with the error, how many were published before.
fn publish_in_order(prepared: Vec<Prepared<'_>>) -> Result<(), (usize, CommitError)> {
    for (place, prepared) in prepared.into_iter().enumerate() {
        let done = match prepared {
            Prepared::Write(staged, expected) => {
                staged.publish(expected).map(drop).map_err(CommitError::from)
            }
            Prepared::Remove(lock, before, fsync) => remove(lock, before, fsync),
        };
        done.map_err(|error| (place, error))?;
    }
    Ok(())
}

/// The places of the paths in the order of their files, which every commit locks in.
fn lock_order(root: &Root, paths: &[ProjectPath]) -> Result<Vec<usize>, CommitError> {
    let mut targets = Vec::with_capacity(paths.len());
    for (place, path) in paths.iter().enumerate() {
        targets.push((root.resolve_for_writing(path).map_err(LockError::Resolve)?, place));
    }
    targets.sort();
    if let Some([(_, one), (_, other)]) = targets.array_windows().find(|[(one, _), (other, _)]| one == other)
    {
        return Err(CommitError::SameFile { path: paths[*one].clone(), other: paths[*other].clone() });
    }
    Ok(targets.into_iter().map(|(_, place)| place).collect())
}

/// Finishes what was cut off, and locks the files so that nothing that was cut off names them.
fn lock_when_nothing_is_pending(
    root: &Root,
    paths: &[&ProjectPath],
    options: &CommitOptions,
) -> Result<Vec<ArtifactLock>, CommitError> {
    let started = Instant::now();
    loop {
        hindrance(recover(root, options)?, paths)?;
        let locks = acquire_all(root, paths, options.lock_timeout)?;
        if !slot::names_any(root, paths).map_err(|source| CommitError::Recover { source })? {
            return Ok(locks);
        }
        // A process that is ending has let go of its locks, but not yet of its record.
        drop(locks);
        if started.elapsed() > options.lock_timeout {
            let source = io::Error::new(io::ErrorKind::TimedOut, "a process that is ending does not end");
            return Err(CommitError::Recover { source });
        }
        thread::sleep(DYING);
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, fs};

    use super::*;
    use crate::commit::{
        scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject, scratch_project::fast,
        scratch_project::named,
    };
    use stepmark_model::journal::{Actor, EventDraft, Kind};

    const UX: &str = "docs/ux.md";

    /// Decides always the same, after a look at the project.
    struct Fixed<'a> {
        decisions: Vec<FileDecision>,
        meanwhile: &'a dyn Fn(u32),
        asked: u32,
    }

    impl Deliberation for Fixed<'_> {
        type Refusal = Infallible;

        fn decide(&mut self, _found: &[Option<&[u8]>]) -> Result<Vec<FileDecision>, Infallible> {
            self.asked += 1;
            (self.meanwhile)(self.asked);
            Ok(self.decisions.clone())
        }

        fn record(&mut self, changed: &[FileTransition<'_>]) -> Result<Vec<Event>, Infallible> {
            let at = "2026-11-22T10:00:00Z".parse().unwrap();
            let event = |change: &FileTransition<'_>| {
                let draft = EventDraft::new(Kind::CHANGE).with("path", change.path.as_str());
                Event::new(draft, Actor::human("Ada"), at).sealed()
            };
            Ok(changed.iter().map(event).collect())
        }
    }

    fn run(
        project: &ScratchProject,
        paths: &[&str],
        decisions: &[FileDecision],
        meanwhile: &dyn Fn(u32),
    ) -> Result<Vec<Outcome>, UpdateError<Infallible>> {
        let paths: Vec<ProjectPath> = paths.iter().map(|path| named(path)).collect();
        let mut fixed = Fixed { decisions: decisions.to_vec(), meanwhile, asked: 0 };
        transact(&project.root, &paths, &fast(), &mut fixed)
    }

    fn journal_lines(project: &ScratchProject) -> usize {
        let folder = ".stepmark/local/journal";
        let lines = |name: &String| {
            project.read(&format!("{folder}/{name}")).split(|byte| *byte == b'\n').count() - 2
        };
        if project.place(folder).is_dir() { project.names(folder).iter().map(lines).sum() } else { 0 }
    }

    #[test]
    fn several_files_change_together_in_the_callers_order() {
        let project = ScratchProject::new();
        project.write("a.md", OLD);
        let decisions = [FileDecision::Write(b"made".to_vec()), FileDecision::Delete, FileDecision::Keep];
        let outcomes = run(&project, &[UX, PRD, "a.md"], &decisions, &|_| {}).unwrap();
        assert!(matches!(outcomes[0], Outcome::Written { before: Expected::Absent, .. }));
        assert!(matches!(outcomes[1], Outcome::Deleted { attempts: 1, .. }));
        assert_eq!(outcomes[2], Outcome::Unchanged);
        assert_eq!(project.names("docs"), ["ux.md"]);
        assert_eq!(project.read("a.md"), OLD);
        assert_eq!(journal_lines(&project), 2);
        assert!(slot::pending_paths(&project.root).unwrap().is_empty());
    }

    #[test]
    fn starts_again_when_a_program_without_our_locks_writes() {
        let project = ScratchProject::new();
        let writes = [FileDecision::Write(b"ours".to_vec()), FileDecision::Write(b"ours too".to_vec())];
        let outcomes = run(&project, &[PRD, UX], &writes, &|asked| {
            if asked < 3 {
                project.write(PRD, b"theirs");
            }
        });
        assert!(matches!(outcomes.unwrap()[0], Outcome::Written { attempts: 2 | 3, .. }));
        assert_eq!((project.read(PRD), project.read(UX)), (b"ours".to_vec(), b"ours too".to_vec()));
        assert_eq!(journal_lines(&project), 2);
    }

    #[test]
    fn gives_up_in_the_end_and_changes_nothing() {
        let project = ScratchProject::new();
        let writes = [FileDecision::Write(b"ours".to_vec()), FileDecision::Write(b"ours too".to_vec())];
        let refused = run(&project, &[PRD, UX], &writes, &|asked| {
            project.write(PRD, format!("theirs {asked}").as_bytes())
        });
        assert!(matches!(refused, Err(UpdateError::Commit(CommitError::Publish(_)))), "{refused:?}");
        assert_eq!(project.names("docs"), ["prd.md"]);
        assert_eq!(journal_lines(&project), 0);
        assert!(slot::pending_paths(&project.root).unwrap().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn one_file_by_two_names_is_refused() {
        let project = ScratchProject::new();
        std::os::unix::fs::symlink("prd.md", project.place(UX)).unwrap();
        let writes = [FileDecision::Keep, FileDecision::Keep];
        let refused = run(&project, &[PRD, UX], &writes, &|_| {});
        assert!(matches!(refused, Err(UpdateError::Commit(CommitError::SameFile { .. }))));
    }

    #[test]
    fn a_journal_that_takes_no_more_is_completed_by_the_next_commit() {
        let project = ScratchProject::new();
        fs::create_dir_all(project.place(".stepmark/local")).unwrap();
        // A folder where the lock file should be.
        fs::create_dir(project.place(".stepmark/local/journal.lock")).unwrap();
        let write = |bytes: &[u8]| run(&project, &[PRD], &[FileDecision::Write(bytes.to_vec())], &|_| {});
        let told = write(b"first");
        assert!(matches!(told, Err(UpdateError::Commit(CommitError::History { .. }))), "{told:?}");
        assert_eq!(project.read(PRD), b"first");
        assert_eq!(slot::pending_paths(&project.root).unwrap(), [named(PRD)]);
        fs::remove_dir(project.place(".stepmark/local/journal.lock")).unwrap();
        write(b"second").unwrap();
        assert_eq!((project.read(PRD), journal_lines(&project)), (b"second".to_vec(), 2));
    }

    /// Adds one to the number in each of its files.
    struct Count;

    impl Deliberation for Count {
        type Refusal = Infallible;

        fn decide(&mut self, found: &[Option<&[u8]>]) -> Result<Vec<FileDecision>, Infallible> {
            let next = |bytes: &Option<&[u8]>| {
                let number: u32 = bytes.map_or(0, |bytes| String::from_utf8_lossy(bytes).parse().unwrap());
                FileDecision::Write((number + 1).to_string().into_bytes())
            };
            Ok(found.iter().map(next).collect())
        }

        fn record(&mut self, changed: &[FileTransition<'_>]) -> Result<Vec<Event>, Infallible> {
            Fixed { decisions: Vec::new(), meanwhile: &|_| {}, asked: 0 }.record(changed)
        }
    }

    #[test]
    fn writers_of_the_same_files_in_any_order_neither_block_nor_lose_anything() {
        let project = ScratchProject::new();
        let orders: [&[&str]; 4] = [&["a", "b"], &["b", "a"], &["b", "c", "a"], &["c", "b"]];
        let patient = CommitOptions { attempts: std::num::NonZeroU32::MAX, ..fast() };
        thread::scope(|scope| {
            for order in orders {
                let (project, patient) = (&project, &patient);
                scope.spawn(move || {
                    let paths: Vec<ProjectPath> = order.iter().map(|path| named(path)).collect();
                    for _ in 0..25 {
                        transact(&project.root, &paths, patient, &mut Count).unwrap();
                    }
                });
            }
        });
        let counts = ["a", "b", "c"].map(|path| String::from_utf8(project.read(path)).unwrap());
        assert_eq!(counts, ["75", "100", "50"]);
        assert_eq!(journal_lines(&project), 225);
        assert!(slot::pending_paths(&project.root).unwrap().is_empty());
    }
}
