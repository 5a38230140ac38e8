//! Finishing commits interrupted by a crash or by another program's write.
#![expect(clippy::disallowed_methods, reason = "an edge module: the clock bounds the wait for locks")]

use std::time::{Duration, Instant};

use crate::commit::{
    ArtifactLock, CommitError, CommitOptions, Expected, FsyncPolicy, PublishError, WriteState,
    file::flush_folder, file::remove, journal::JournalFile, redo::Found, redo::RedoFile, redo::RedoRecord,
    redo::Slot, redo::may_pass, redo::set_aside, redo::slot,
};
use crate::disk::root::Root;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::{Event, EventDraft, Kind},
};

#[derive(Debug)]
pub(in crate::commit) struct Unfinished {
    record: RedoRecord,
    error: CommitError,
}

impl Unfinished {
    /// For commits that must wait for this one: their own files are unchanged.
    fn into_error(self) -> CommitError {
        match self.error.write_state() {
            WriteState::NotWritten => self.error,
            WriteState::Written | WriteState::Unknown => {
                CommitError::Earlier { source: Box::new(self.error) }
            }
        }
    }
}

/// Finishes commits of dead processes, under the locks of their files. A record whose events are in the
/// journal is done; a torn one never began; one that cannot be finished is set aside. Returns those that may
/// be finished later: they block only their own files.
pub(in crate::commit) fn recover(
    root: &Root,
    options: &CommitOptions,
) -> Result<Vec<Unfinished>, CommitError> {
    let failed = |source| CommitError::Recover { source };
    let mut unfinished = Vec::new();
    for mut slot in slot::pending(root).map_err(failed)? {
        let is_done = match slot.found().map_err(failed)? {
            Found::Torn => true,
            Found::Foreign => false,
            Found::Record(record) => match finish(root, &record, options) {
                Ok(()) => true,
                Err(error) if may_pass(&error) => {
                    unfinished.push(Unfinished { record, error });
                    continue;
                }
                Err(_said_by_doctor) => false,
            },
        };
        if !is_done {
            let bytes = slot.bytes().map_err(failed)?;
            set_aside(root, &bytes, options.fsync).map_err(failed)?;
        }
        slot.clear().map_err(failed)?;
    }
    Ok(unfinished)
}

pub(in crate::commit) fn hindrance(
    unfinished: Vec<Unfinished>,
    paths: &[&ProjectPath],
) -> Result<(), CommitError> {
    let is_about = |one: &Unfinished| paths.iter().any(|path| one.record.names(path));
    unfinished.into_iter().find(is_about).map_or(Ok(()), |one| Err(one.into_error()))
}

/// Finishes commits of dead processes, as every commit does first. One that cannot be finished now blocks
/// only commits of its own files ([`interrupted_paths`]); one that never can is set aside
/// ([`commits_set_aside`](crate::commit::commits_set_aside)).
pub fn finish_interrupted(root: &Root, options: &CommitOptions) -> Result<(), CommitError> {
    recover(root, options).map(drop)
}

/// The files of interrupted, unfinished commits. Reads only.
pub fn interrupted_paths(root: &Root) -> Result<Vec<ProjectPath>, CommitError> {
    slot::pending_paths(root).map_err(|source| CommitError::Recover { source })
}

pub(in crate::commit) fn finish(
    root: &Root,
    record: &RedoRecord,
    options: &CommitOptions,
) -> Result<(), CommitError> {
    let failed = |source| CommitError::Recover { source };
    let paths: Vec<&ProjectPath> = record.files.iter().map(|file| &file.path).collect();
    let mut locks = acquire_all(root, &paths, options.lock_timeout)?;
    let journal = JournalFile::open(root).map_err(failed)?;
    if let Some(last) = record.events.last()
        && journal.holds(last.id).map_err(failed)?
    {
        return Ok(());
    }
    let overtaken = roll_forward(&mut locks.iter_mut().collect::<Vec<_>>(), record, options.fsync)?;
    let told = told(record, &overtaken);
    // The interruption is an event of its own, which may have been appended already.
    if let Some(last) = told.last().filter(|_| !overtaken.is_empty())
        && journal.holds(last.id).map_err(failed)?
    {
        return Ok(());
    }
    journal.append(&told, options.fsync).map_err(failed)
}

/// Locks all files within one `timeout`. `paths` must be different files, in order, so that commits cannot
/// deadlock.
pub(in crate::commit) fn acquire_all(
    root: &Root,
    paths: &[&ProjectPath],
    timeout: Duration,
) -> Result<Vec<ArtifactLock>, CommitError> {
    let started = Instant::now();
    let left = || timeout.saturating_sub(started.elapsed());
    paths.iter().map(|path| Ok(ArtifactLock::acquire(root, path, left())?)).collect()
}

#[derive(Debug)]
pub(in crate::commit) struct Overtaken {
    pub(in crate::commit) path: ProjectPath,
    /// `None` for a missing or unreadable file.
    found: Option<FileHash>,
}

/// Writes the record's bytes to every unchanged file; returns the files with foreign bytes.
pub(in crate::commit) fn roll_forward(
    locks: &mut [&mut ArtifactLock],
    record: &RedoRecord,
    fsync: FsyncPolicy,
) -> Result<Vec<Overtaken>, CommitError> {
    let mut overtaken = Vec::new();
    for (lock, file) in locks.iter_mut().zip(&record.files) {
        let found = lock.read().map(|bytes| bytes.as_deref().map(FileHash::of));
        match found {
            // Whoever wrote it may have died before flushing its folder.
            Ok(found) if found == file.after => {
                flush_folder(lock.folder(), fsync)
                    .map_err(|source| PublishError::Flush { path: file.path.clone(), source })?;
                continue;
            }
            Ok(found) if found == file.before => match publish(lock, file, fsync) {
                Err(CommitError::Publish(PublishError::Conflict(_) | PublishError::Busy { .. })) => {}
                Err(error) => return Err(error),
                Ok(()) => continue,
            },
            _ => {}
        }
        let found = lock.read().ok().flatten().as_deref().map(FileHash::of);
        overtaken.push(Overtaken { path: file.path.clone(), found });
    }
    Ok(overtaken)
}

fn publish(lock: &mut ArtifactLock, file: &RedoFile, fsync: FsyncPolicy) -> Result<(), CommitError> {
    let expected = file.before.map_or(Expected::Absent, Expected::Hash);
    match (file.after, file.before) {
        (Some(_), _) => lock.stage(&file.bytes, fsync)?.publish(expected).map(|_| ())?,
        (None, Some(before)) => remove(lock, before, fsync)?,
        (None, None) => {}
    }
    Ok(())
}

/// The record's events; for an overtaken file, one that its change was interrupted.
pub(in crate::commit) fn told(record: &RedoRecord, overtaken: &[Overtaken]) -> Vec<Event> {
    let told = |event: &Event| {
        let path = event.artifact.as_ref().map(|artifact| &artifact.path);
        match overtaken.iter().find(|overtaken| Some(&overtaken.path) == path) {
            Some(overtaken) if event.kind != Kind::EXTERNAL_EDIT && event.kind != Kind::FIRST_SEEN => {
                interrupted(event, overtaken)
            }
            _ => event.clone(),
        }
    };
    record.events.iter().map(told).collect()
}

/// Replaces `event` if its change did not reach the file: the state is the former one. The next commit finds
/// the foreign write, like any edit.
fn interrupted(event: &Event, overtaken: &Overtaken) -> Event {
    let found = overtaken.found.map(|hash| hash.to_string());
    let draft = EventDraft::new(Kind::INTERRUPTED)
        .with("event", event.id.to_string())
        .with("kind", event.kind.as_str())
        .with("found", found);
    let mut interrupted = Event::new(draft, event.actor.clone(), event.at);
    interrupted.session.clone_from(&event.session);
    interrupted.correlation.clone_from(&event.correlation);
    interrupted.command.clone_from(&event.command);
    interrupted.parents.clone_from(&event.parents);
    interrupted.n = event.n;
    interrupted.before = event.before;
    interrupted.after = event.before;
    interrupted.artifact = event.artifact.clone().map(|mut artifact| {
        artifact.key = artifact.was.take().unwrap_or(artifact.key);
        artifact
    });
    interrupted.sealed()
}

/// Removes the record of a commit that changed nothing; if that fails, the next command may execute it.
pub(in crate::commit) fn withdraw(slot: &mut Slot, path: &ProjectPath, error: CommitError) -> CommitError {
    match slot.clear() {
        Ok(()) => error,
        Err(_left) => CommitError::Unfinished { path: path.clone(), source: Box::new(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{
        LiveSegments, SetAsideRepair, append_events, commits_set_aside, repair_commits_set_aside,
        scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject, scratch_project::fast,
        scratch_project::named, seal_segments,
    };
    use stepmark_model::journal::{Actor, ArtifactKey, ArtifactRef};

    const FIRST: crate::commit::Seal =
        crate::commit::Seal { heads: Vec::new(), at: jiff::Timestamp::UNIX_EPOCH };

    const UX: &str = "docs/ux.md";
    const GONE: &str = "docs/zz.md";
    const THEIRS: &[u8] = b"theirs\n";

    fn event(path: &str) -> Event {
        let at = "2026-11-22T10:00:00Z".parse().unwrap();
        let mut event = Event::new(EventDraft::new(Kind::CHANGE), Actor::human("Ada"), at);
        let path = named(path);
        event.artifact = Some(ArtifactRef { key: ArtifactKey::of_path(&path), path, was: None });
        event.sealed()
    }

    /// A project whose last process died with a record of three files, all still as they were.
    fn cut_off() -> (ScratchProject, RedoRecord) {
        let project = ScratchProject::new();
        project.write(GONE, OLD);
        let files = vec![
            RedoFile::new(named(PRD), Expected::of(Some(OLD)), Some(b"new".to_vec())),
            RedoFile::new(named(UX), Expected::Absent, Some(b"made".to_vec())),
            RedoFile::new(named(GONE), Expected::of(Some(OLD)), None),
        ];
        let record = RedoRecord { files, events: vec![event(PRD), event(UX), event(GONE)] };
        let mut slot = Slot::take(&project.root, FsyncPolicy::Never, std::time::Duration::ZERO).unwrap();
        slot.write(&record, FsyncPolicy::Never).unwrap();
        (project, record)
    }

    fn journal(project: &ScratchProject) -> Vec<Event> {
        let folder = ".stepmark/local/journal";
        let mut events = Vec::new();
        for name in project.names(folder) {
            let bytes = project.read(&format!("{folder}/{name}"));
            let lines = bytes.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
            events
                .extend(lines.map(|line| {
                    serde_json::from_slice::<stepmark_model::journal::Line>(line).unwrap().event
                }));
        }
        events
    }

    #[test]
    fn is_finished_from_wherever_it_was_cut_off() {
        for done in 0..=3 {
            let (project, record) = cut_off();
            let steps: [&dyn Fn(); 3] =
                [&|| project.write(PRD, b"new"), &|| project.write(UX, b"made"), &|| {
                    std::fs::remove_file(project.place(GONE)).unwrap()
                }];
            steps[..done].iter().for_each(|step| step());
            assert_eq!(interrupted_paths(&project.root).unwrap().len(), 3);
            for _twice in 0..2 {
                finish_interrupted(&project.root, &fast()).unwrap();
                assert_eq!(project.names("docs"), ["prd.md", "ux.md"], "{done} done");
                assert_eq!((project.read(PRD), project.read(UX)), (b"new".to_vec(), b"made".to_vec()));
                assert_eq!(journal(&project), record.events);
            }
            assert_eq!(interrupted_paths(&project.root).unwrap(), []);
        }
    }

    #[test]
    fn what_was_told_already_is_not_done_again() {
        for is_sealed in [false, true] {
            let (project, record) = cut_off();
            JournalFile::open(&project.root).unwrap().append(&record.events, FsyncPolicy::Never).unwrap();
            if is_sealed {
                seal_segments(&project.root, LiveSegments::OfSession(None), FIRST, FsyncPolicy::Never)
                    .unwrap();
            }
            finish_interrupted(&project.root, &fast()).unwrap();
            assert_eq!(
                project.read(PRD),
                OLD,
                "somebody put it back since: a record that came back after a loss of power changes nothing"
            );
            assert_eq!(journal(&project), if is_sealed { Vec::new() } else { record.events });
        }
    }

    #[test]
    fn what_was_cut_off_is_told_once_if_its_record_comes_back() {
        let (project, record) = cut_off();
        project.write(GONE, THEIRS);
        for _comes_back in 0..2 {
            finish_interrupted(&project.root, &fast()).unwrap();
            let told = journal(&project);
            assert_eq!((told.len(), &told[2].kind), (3, &Kind::INTERRUPTED));
            let mut slot = Slot::take(&project.root, FsyncPolicy::Never, Duration::ZERO).unwrap();
            slot.write(&record, FsyncPolicy::Never).unwrap();
        }
    }

    #[test]
    fn what_may_be_finished_later_is_not_given_up() {
        let (project, record) = cut_off();
        let bytes = project.read(".stepmark/local/redo/0");
        set_aside(&project.root, &bytes, FsyncPolicy::Never).unwrap();
        project.write(".stepmark/local/redo/0", b"");
        let lock = project.lock(PRD);
        let impatient = CommitOptions { lock_timeout: Duration::ZERO, ..fast() };
        assert!(repair_commits_set_aside(&project.root, &impatient).unwrap().is_empty());
        drop(lock);
        let repaired = repair_commits_set_aside(&project.root, &fast()).unwrap();
        assert!(matches!(&repaired[..], [SetAsideRepair::Finished(_)]), "{repaired:?}");
        assert_eq!(journal(&project), record.events);
    }

    #[test]
    fn what_may_be_finished_later_stops_only_its_own_files() {
        let (project, record) = cut_off();
        let lock = project.lock(PRD);
        let impatient = CommitOptions { lock_timeout: Duration::ZERO, ..fast() };
        finish_interrupted(&project.root, &impatient).unwrap();
        assert_eq!(interrupted_paths(&project.root).unwrap().len(), 3);
        // History is written and sealed meanwhile, as `session start` and `checkpoint` do.
        let other = event("other.md");
        append_events(&project.root, std::slice::from_ref(&other), FsyncPolicy::Never).unwrap();
        let sealed =
            seal_segments(&project.root, LiveSegments::OfSession(None), FIRST, FsyncPolicy::Never).unwrap();
        assert_eq!(sealed.len(), 1);
        drop(lock);
        finish_interrupted(&project.root, &fast()).unwrap();
        assert_eq!((project.read(PRD), interrupted_paths(&project.root).unwrap()), (b"new".to_vec(), vec![]));
        assert_eq!(journal(&project), record.events);
    }

    #[test]
    fn what_cannot_be_finished_is_set_aside_and_stops_nobody() {
        let (project, record) = cut_off();
        std::fs::remove_dir_all(project.place("docs")).unwrap();
        project.write("docs", b"a file where the folder was");
        project.write("other.md", OLD);
        crate::commit::scratch_project::update(&project.root, &named("other.md"), &fast(), |_| {
            Ok::<_, std::convert::Infallible>(Some(b"new".to_vec()))
        })
        .unwrap();
        assert_eq!(project.read("other.md"), b"new");
        assert_eq!(interrupted_paths(&project.root).unwrap(), []);
        let aside = commits_set_aside(&project.root).unwrap();
        assert_eq!(aside.len(), 1);
        assert_eq!(aside[0].files, [named(PRD), named(UX), named(GONE)]);

        // The folder is back: now it is finished.
        std::fs::remove_file(project.place("docs")).unwrap();
        std::fs::create_dir(project.place("docs")).unwrap();
        project.write(PRD, OLD);
        project.write(GONE, OLD);
        let repaired = repair_commits_set_aside(&project.root, &fast()).unwrap();
        assert!(matches!(&repaired[..], [SetAsideRepair::Finished(_)]), "{repaired:?}");
        assert_eq!((project.read(PRD), project.read(UX)), (b"new".to_vec(), b"made".to_vec()));
        assert_eq!(journal(&project), record.events);
        assert!(commits_set_aside(&project.root).unwrap().is_empty());
    }

    #[test]
    fn a_record_of_an_earlier_version_is_kept_and_not_carried_out() {
        let project = ScratchProject::new();
        project.root.state().make(crate::disk::local_state::StateFolder::Redo).unwrap();
        let content = b"{\"files\":[],\"events\":[]}\n";
        let signed = format!("stepmark-redo/2 {} {}\n", FileHash::of(content), FileHash::of(b"key"));
        let signed = [signed.as_bytes(), content].concat();
        project.write(".stepmark/local/redo/0", &signed);
        finish_interrupted(&project.root, &fast()).unwrap();
        assert_eq!((project.names("docs"), project.read(PRD)), (vec!["prd.md".to_owned()], OLD.to_vec()));
        let aside = commits_set_aside(&project.root).unwrap();
        assert!(aside.len() == 1 && aside[0].files.is_empty(), "{aside:?}");
        let repaired = repair_commits_set_aside(&project.root, &fast()).unwrap();
        let [SetAsideRepair::Dropped(dropped, _)] = &repaired[..] else { panic!("{repaired:?}") };
        assert_eq!(std::fs::read(&dropped.record).unwrap(), signed);
    }

    #[test]
    fn foreign_bytes_win_and_history_says_so() {
        let (project, record) = cut_off();
        project.write(UX, THEIRS);
        finish_interrupted(&project.root, &fast()).unwrap();
        assert_eq!((project.read(PRD), project.read(UX)), (b"new".to_vec(), THEIRS.to_vec()));
        assert_eq!(project.names("docs"), ["prd.md", "ux.md"]);
        let told = journal(&project);
        assert_eq!((&told[0], &told[2]), (&record.events[0], &record.events[2]));
        assert_eq!(told[1].kind, Kind::INTERRUPTED);
        assert_eq!(told[1].data["found"], FileHash::of(THEIRS).to_string());
        assert!(told[1].is_genuine());
    }
}
