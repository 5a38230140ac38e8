//! Changing several files and the history as one: all or nothing, whenever the process dies.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the clock bounds the wait for a dying process"
)]

use std::{
    io, thread,
    time::{Duration, Instant},
};

use crate::commit::{
    ArtifactLock, CommitError, CommitOptions, Expected, FileDecision, FileTransition, Halt, LockError,
    Outcome, PublishError, execute::execute, file::FileContent, file::read_file, lock::JournalStamp,
    lock::LastEvent, lock::is_ever_locked, lock::remember, redo::RedoFile, redo::RedoRecord,
    redo::acquire_all, redo::hindrance, redo::recover, redo::slot,
};
use crate::{disk::root::Root, git::process::WithoutGit};
use stepmark_model::{artifact::ProjectPath, journal::Event};

const DYING: Duration = Duration::from_millis(1);

/// Slow queries for an attempt at most. An unchanged file has two: is it in git, and who wrote it.
const QUESTIONS: u32 = 8;

/// Files that change together with the journal, or not at all (docs/adr/0006-journal.md).
#[derive(Clone, Copy, Debug)]
pub struct Transaction<'a> {
    root: &'a Root,
    paths: &'a [ProjectPath],
    options: &'a CommitOptions,
    looks_first: bool,
}

type Decide<'d, T, E> = dyn FnMut(&[Option<&[u8]>]) -> Result<(Vec<FileDecision>, T), Halt<E>> + 'd;
type Record<'r, T, E> = dyn FnMut(T, &[FileTransition<'_>]) -> Result<Vec<Event>, Halt<E>> + 'r;

enum Attempt<E> {
    Done(Vec<Outcome>),
    /// Another program interfered; the last attempt returns this.
    Again(E),
    /// To be run outside the locks.
    Ask(Box<dyn FnOnce()>),
}

impl<'a> Transaction<'a> {
    pub const fn new(root: &'a Root, paths: &'a [ProjectPath], options: &'a CommitOptions) -> Self {
        Self { root, paths, options, looks_first: false }
    }

    /// Decides once before locking: a refusal or no change leaves not even a lock file.
    #[must_use]
    pub const fn looking_first(self) -> Self {
        Self { looks_first: true, ..self }
    }

    /// Calls `decide` with the bytes of each file (`None`: no such file), and changes files and journal
    /// together; `record` makes the events under all locks, from what `decide` passes on. Begins again with
    /// reading if a program without our locks changes a file, or if `decide` refuses a half-written one. So
    /// both may run several times, and must depend only on their arguments; callers with slow decisions cache
    /// the last one. Finishes interrupted commits first.
    pub fn run<T, E: From<CommitError>>(
        &self,
        mut decide: impl FnMut(&[Option<&[u8]>]) -> Result<(Vec<FileDecision>, T), Halt<E>>,
        mut record: impl FnMut(T, &[FileTransition<'_>]) -> Result<Vec<Event>, Halt<E>>,
    ) -> Result<Vec<Outcome>, E> {
        if self.looks_first && self.is_unchanged(&mut decide)? {
            return Ok(vec![Outcome::Unchanged; self.paths.len()]);
        }
        let order = lock_order(self.root, self.paths)?;
        let ordered: Vec<&ProjectPath> = order.iter().map(|place| &self.paths[*place]).collect();
        let most = self.options.attempts.get();
        let (mut locks, mut attempts, mut questions, mut waited) = (Vec::new(), 1, 0, Duration::ZERO);
        let outcomes = loop {
            if locks.is_empty() {
                locks = lock_when_nothing_is_pending(self.root, &ordered, self.options, &mut waited)?;
            }
            match self.attempt(&mut locks, (&order, attempts), &mut decide, &mut record)? {
                Attempt::Done(outcomes) => break outcomes,
                Attempt::Again(_) if attempts < most => attempts += 1,
                Attempt::Again(last) => return Err(last),
                Attempt::Ask(question) => {
                    locks.clear();
                    if questions == most.saturating_mul(QUESTIONS) {
                        let paths = self.paths.to_vec();
                        return Err(CommitError::OutdatedAnswers { paths, questions }.into());
                    }
                    question();
                    questions += 1;
                }
            }
        };
        let mut by_path = vec![Outcome::Unchanged; self.paths.len()];
        for (place, outcome) in order.into_iter().zip(outcomes) {
            by_path[place] = outcome;
        }
        Ok(by_path)
    }

    /// Decides without the locks; only a holder can tell if another program is just writing.
    fn is_unchanged<T, E: From<CommitError>>(&self, decide: &mut Decide<'_, T, E>) -> Result<bool, E> {
        let resolve = |path| self.root.resolve(path).map_err(|error| LockError::Resolve(error).into());
        let places = self.paths.iter().map(resolve).collect::<Result<Vec<_>, CommitError>>()?;
        let read = || -> Result<Vec<Option<FileContent>>, CommitError> {
            self.paths.iter().zip(&places).map(|(path, place)| Ok(read_file(path, place)?)).collect()
        };
        let found = read()?;
        let bytes = bytes_of(&found);
        match decide(&bytes) {
            Ok((decisions, _)) => {
                let changes = decisions.iter().zip(&bytes).any(|(decision, old)| decision.changes(*old));
                // Another holder may have written these bytes, not flushed yet; then its lock file exists.
                Ok(!changes && !places.iter().any(|place| is_ever_locked(self.root, place)))
            }
            Err(Halt::Ask(_)) => Ok(false),
            Err(Halt::Refused(refusal)) => {
                let fresh = found.iter().flatten().filter_map(|content| content.unsettled(None));
                let Some(rest) = fresh.map(|fresh| fresh.rest).max() else {
                    return Err(refusal);
                };
                thread::sleep(rest);
                if bytes_of(&read()?) == bytes { Err(refusal) } else { Ok(false) }
            }
        }
    }

    fn attempt<T, E: From<CommitError>>(
        &self,
        locks: &mut [ArtifactLock],
        (order, attempts): (&[usize], u32),
        decide: &mut Decide<'_, T, E>,
        record: &mut Record<'_, T, E>,
    ) -> Result<Attempt<E>, E> {
        let _held_with_the_locks = WithoutGit::begin();
        let read = |lock: &ArtifactLock| Ok(lock.read_content()?);
        let found: Vec<Option<FileContent>> = locks.iter().map(read).collect::<Result<_, CommitError>>()?;
        // The caller's order may differ from ours.
        let mut given: Vec<Option<&[u8]>> = vec![None; found.len()];
        for (place, bytes) in order.iter().zip(bytes_of(&found)) {
            given[*place] = bytes;
        }
        let (decisions, carried) = match decide(&given) {
            Ok(decided) => decided,
            Err(Halt::Ask(question)) => return Ok(Attempt::Ask(question)),
            Err(Halt::Refused(refusal)) => {
                let mut contents = locks.iter().zip(&found);
                let is_half_written = contents.any(|(lock, content)| {
                    content.as_ref().is_some_and(|content| changes_soon(lock, content))
                });
                return if is_half_written { Ok(Attempt::Again(refusal)) } else { Err(refusal) };
            }
        };
        let files = changed_files(locks, order, &found, decisions);
        if files.is_empty() {
            return Ok(Attempt::Done(vec![Outcome::Unchanged; locks.len()]));
        }
        // Before the past is read: later appends make the next commit ask again.
        let journal = JournalStamp::now(self.root);
        let transitions: Vec<_> = files
            .iter()
            .map(|(place, file)| transition(file, found[*place].as_ref(), &locks[*place], journal.as_ref()))
            .collect();
        let events = match record(carried, &transitions) {
            Ok(events) => events,
            Err(Halt::Ask(question)) => return Ok(Attempt::Ask(question)),
            Err(Halt::Refused(refusal)) => return Err(refusal),
        };
        let outcomes = outcomes(&files, locks.len(), attempts);
        let (places, files): (Vec<usize>, Vec<RedoFile>) = files.into_iter().unzip();
        let record = RedoRecord { files, events };
        match execute(self.root, locks, &places, &record, self.options) {
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
}

fn bytes_of(found: &[Option<FileContent>]) -> Vec<Option<&[u8]>> {
    found.iter().map(|content| content.as_ref().map(|content| content.bytes.as_slice())).collect()
}

fn changes_soon(lock: &ArtifactLock, found: &FileContent) -> bool {
    found.unsettled(lock.last_published).is_some_and(|fresh| {
        thread::sleep(fresh.rest);
        // A file that became unreadable has changed too; the next reading says how.
        !matches!(lock.read(), Ok(Some(bytes)) if bytes == found.bytes)
    })
}

fn changed_files(
    locks: &[ArtifactLock],
    order: &[usize],
    found: &[Option<FileContent>],
    mut decisions: Vec<FileDecision>,
) -> Vec<(usize, RedoFile)> {
    let mut files = Vec::new();
    for (place, (lock, content)) in locks.iter().zip(found).enumerate() {
        let old = content.as_ref().map(|content| content.bytes.as_slice());
        let decision = decisions.get_mut(order[place]).filter(|decision| decision.changes(old));
        let new = match decision.map(|decision| std::mem::replace(decision, FileDecision::Keep)) {
            Some(FileDecision::Write(new)) => Some(new),
            Some(_) => None,
            None => continue,
        };
        files.push((place, RedoFile::new(lock.path().clone(), Expected::of(old), new)));
    }
    files
}

/// With the file's last event, if nothing was appended since.
fn transition<'a>(
    file: &'a RedoFile,
    found: Option<&'a FileContent>,
    lock: &ArtifactLock,
    journal: Option<&JournalStamp>,
) -> FileTransition<'a> {
    let is_last = |told: &&LastEvent| file.before == Some(told.file) && journal == Some(&told.journal);
    FileTransition {
        path: &file.path,
        old: found.map(|content| content.bytes.as_slice()),
        new: file.after.map(|_| file.bytes.as_slice()),
        last_event: lock.last_event.as_ref().filter(is_last).map(|told| told.event),
    }
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

/// The order by file in which every commit locks, so that none deadlock.
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

/// Finishes interrupted commits, and locks the files so that no such commit names them. `waited` is the time
/// spent waiting so far; one limit is for all locks.
fn lock_when_nothing_is_pending(
    root: &Root,
    paths: &[&ProjectPath],
    options: &CommitOptions,
    waited: &mut Duration,
) -> Result<Vec<ArtifactLock>, CommitError> {
    let (started, before) = (Instant::now(), *waited);
    loop {
        let left = options.lock_timeout.saturating_sub(before + started.elapsed());
        hindrance(recover(root, &CommitOptions { lock_timeout: left, ..*options })?, paths)?;
        let left = options.lock_timeout.saturating_sub(before + started.elapsed());
        let locks = match acquire_all(root, paths, left) {
            Err(CommitError::Lock(LockError::Timeout { path, .. })) => {
                let waited = before + started.elapsed();
                return Err(CommitError::Lock(LockError::Timeout { path, waited }));
            }
            locks => locks?,
        };
        *waited = before + started.elapsed();
        if !slot::names_any(root, paths).map_err(|source| CommitError::Recover { source })? {
            return Ok(locks);
        }
        // A dying process has released its locks, but not yet its record.
        drop(locks);
        if *waited > options.lock_timeout {
            let source = io::Error::new(io::ErrorKind::TimedOut, "a process that is ending does not end");
            return Err(CommitError::Recover { source });
        }
        thread::sleep(DYING);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::commit::{
        scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject, scratch_project::fast,
        scratch_project::named,
    };
    use stepmark_model::journal::{Actor, EventDraft, Kind};

    const UX: &str = "docs/ux.md";

    fn events(changed: &[FileTransition<'_>]) -> Vec<Event> {
        let at = "2026-11-22T10:00:00Z".parse().unwrap();
        let event = |change: &FileTransition<'_>| {
            let draft = EventDraft::new(Kind::CHANGE).with("path", change.path.as_str());
            Event::new(draft, Actor::human("Ada"), at).sealed()
        };
        changed.iter().map(event).collect()
    }

    /// Decides always the same, after a look at the project.
    fn run(
        project: &ScratchProject,
        paths: &[&str],
        decisions: &[FileDecision],
        meanwhile: &dyn Fn(u32),
    ) -> Result<Vec<Outcome>, CommitError> {
        let paths: Vec<ProjectPath> = paths.iter().map(|path| named(path)).collect();
        let mut asked = 0;
        let decide = |_: &[Option<&[u8]>]| {
            asked += 1;
            meanwhile(asked);
            Ok((decisions.to_vec(), ()))
        };
        Transaction::new(&project.root, &paths, &fast()).run(decide, |(), changed| Ok(events(changed)))
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
        assert!(matches!(refused, Err(CommitError::Publish(_))), "{refused:?}");
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
        assert!(matches!(refused, Err(CommitError::SameFile { .. })));
    }

    #[test]
    fn a_journal_that_takes_no_more_is_completed_by_the_next_commit() {
        let project = ScratchProject::new();
        fs::create_dir_all(project.place(".stepmark/local")).unwrap();
        // A folder where the lock file should be.
        fs::create_dir(project.place(".stepmark/local/journal.lock")).unwrap();
        let write = |bytes: &[u8]| run(&project, &[PRD], &[FileDecision::Write(bytes.to_vec())], &|_| {});
        let told = write(b"first");
        assert!(matches!(told, Err(CommitError::History { .. })), "{told:?}");
        assert_eq!(project.read(PRD), b"first");
        assert_eq!(slot::pending_paths(&project.root).unwrap(), [named(PRD)]);
        fs::remove_dir(project.place(".stepmark/local/journal.lock")).unwrap();
        write(b"second").unwrap();
        assert_eq!((project.read(PRD), journal_lines(&project)), (b"second".to_vec(), 2));
    }

    fn count(found: &[Option<&[u8]>]) -> Result<(Vec<FileDecision>, ()), Halt<CommitError>> {
        let next = |bytes: &Option<&[u8]>| {
            let number: u32 = bytes.map_or(0, |bytes| String::from_utf8_lossy(bytes).parse().unwrap());
            FileDecision::Write((number + 1).to_string().into_bytes())
        };
        Ok((found.iter().map(next).collect(), ()))
    }

    /// A question that takes long is asked while anybody else may have the locks.
    #[test]
    fn a_question_is_asked_without_the_locks() {
        let project = ScratchProject::new();
        let (paths, options) = ([named(PRD)], fast());
        let at_once = CommitOptions { lock_timeout: Duration::ZERO, ..fast() };
        let (root, place) = (project.root.clone(), project.place(PRD));
        let is_asked = std::rc::Rc::new(std::cell::Cell::new(false));
        let asking = is_asked.clone();
        let outcomes = Transaction::new(&project.root, &paths, &options).run(
            |found| Ok((vec![FileDecision::Write([found[0].unwrap(), b"ours"].concat())], ())),
            |(), changed| {
                if asking.get() {
                    return Ok(events(changed));
                }
                let (asking, root, place) = (asking.clone(), root.clone(), place.clone());
                Err::<_, Halt<CommitError>>(Halt::Ask(Box::new(move || {
                    let _lock = ArtifactLock::acquire(&root, &named(PRD), at_once.lock_timeout).unwrap();
                    fs::write(place, "theirs ").unwrap();
                    asking.set(true);
                })))
            },
        );
        assert!(matches!(outcomes.unwrap()[..], [Outcome::Written { attempts: 1, .. }]));
        assert_eq!((project.read(PRD), journal_lines(&project)), (b"theirs ours".to_vec(), 1));

        let options = CommitOptions { attempts: std::num::NonZeroU32::MIN, ..options };
        let endless = Transaction::new(&project.root, &paths, &options).run(
            |_| Err::<(_, ()), Halt<CommitError>>(Halt::Ask(Box::new(|| {}))),
            |(), changed| Ok(events(changed)),
        );
        let Err(error @ CommitError::OutdatedAnswers { .. }) = endless else { panic!("{endless:?}") };
        assert_eq!(error.write_state(), crate::commit::WriteState::NotWritten);
        assert!(error.to_string().contains("`docs/prd.md`"), "{error}");
    }

    /// Others may have the locks while something is asked; all waiting together has one bound.
    #[test]
    fn waits_no_longer_in_all_than_it_may_for_one_lock() {
        let project = ScratchProject::new();
        let (paths, root) = ([named(PRD)], project.root.clone());
        let options = CommitOptions { lock_timeout: Duration::from_millis(200), ..fast() };
        let refused = Transaction::new(&project.root, &paths, &options).run(
            |_| {
                let root = root.clone();
                Err::<(_, ()), Halt<CommitError>>(Halt::Ask(Box::new(move || {
                    let held = ArtifactLock::acquire(&root, &named(PRD), Duration::ZERO).unwrap();
                    thread::spawn(move || {
                        thread::sleep(Duration::from_millis(80));
                        drop(held);
                    });
                })))
            },
            |(), changed| Ok(events(changed)),
        );
        let Err(CommitError::Lock(LockError::Timeout { waited, .. })) = refused else {
            panic!("{refused:?}")
        };
        assert!(waited >= options.lock_timeout, "{waited:?}");
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
                        let transaction = Transaction::new(&project.root, &paths, patient);
                        transaction.run(count, |(), changed| Ok(events(changed))).unwrap();
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
