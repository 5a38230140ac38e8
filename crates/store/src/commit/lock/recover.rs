//! Cleans up after a killed holder of the lock.
#![expect(clippy::disallowed_methods, reason = "an edge module: left-over temporary files are removed here")]

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    commit::{
        ArtifactLock, LockError,
        file::{exchange, read_file},
        lock::Note,
    },
    disk::{
        file_reading::{self, FileStat},
        local_state::StateFolder,
        own_file::remove_if_there,
        root::Root,
    },
    history::SEALED_FOLDER,
};
use stepmark_model::{
    artifact::FileHash,
    journal::{Ancestor, Event},
};

/// Finishes or undoes the noted step; keeps what may be foreign. Returns the hash that the holder published,
/// if the note has it.
pub(in crate::commit) fn recover(
    lock: &ArtifactLock,
    note: Option<&Note>,
) -> Result<Option<FileHash>, LockError> {
    let failed = |source| LockError::Recover { path: lock.path.clone(), source };
    match note {
        None => Ok(None),
        Some(Note::Told(told)) => Ok(Some(told.file)),
        Some(Note::Staging { name }) => {
            remove_if_there(&lock.folder().join(name)).map(|()| None).map_err(failed)
        }
        Some(Note::Exchanging { name, before, after }) => {
            let staged = lock.folder().join(name);
            let kept = settle_exchange(lock, &staged, *before, *after).map_err(failed)?;
            kept.map_or(Ok(Some(*after)), |kept| {
                Err(LockError::Interrupted { path: lock.path.clone(), kept })
            })
        }
    }
}

/// The exchange may be pending, done or reverted; only the bytes tell. Returns where foreign bytes are kept
/// if they could not be restored.
fn settle_exchange(
    lock: &ArtifactLock,
    staged: &Path,
    before: FileHash,
    after: FileHash,
) -> io::Result<Option<PathBuf>> {
    let hash_at =
        |place: &Path| read_file(&lock.path, place).map(|file| file.map(|file| FileHash::of(&file.bytes)));
    match hash_at(staged) {
        Ok(None) => return Ok(None),
        // Ours, or the bytes that ours were made from: safe to remove.
        Ok(Some(hash)) if hash == before || hash == after => return remove_if_there(staged).map(|()| None),
        Ok(Some(_)) | Err(_) => {}
    }
    // Foreign. If our unacknowledged bytes are in its place, it is restored there.
    let ours = |place: &Path| matches!(hash_at(place), Ok(Some(hash)) if hash == after);
    if ours(&lock.target) && exchange(staged, &lock.target).is_ok() && ours(staged) {
        return remove_if_there(staged).map(|()| None);
    }
    keep(staged, &lock.target).map(Some)
}

pub(in crate::commit) fn keep(staged: &Path, target: &Path) -> io::Result<PathBuf> {
    let kept = staged.with_file_name(kept_name(staged, target));
    // As random as the temporary name, so not taken.
    fs::rename(staged, &kept)?;
    Ok(kept)
}

/// `.stepmark-kept-RANDOM-prd.md` for `prd.md`; hidden, so that it is no artifact.
fn kept_name(staged: &Path, target: &Path) -> String {
    let text = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (staged, target) = (text(staged), text(target));
    let random = staged.rsplit('-').next().unwrap_or(&staged).trim_end_matches(".tmp");
    let named = format!(".stepmark-kept-{random}-{target}");
    // File systems allow 255 bytes.
    if named.len() <= 255 { named } else { format!(".stepmark-kept-{random}") }
}

/// The event that led to these bytes; since then only stepmark appended, under the file's lock. So no event
/// of this artifact follows it in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commit) struct LastEvent {
    pub(in crate::commit) file: FileHash,
    pub(in crate::commit) event: Ancestor,
    pub(in crate::commit) journal: JournalStamp,
}

/// The state of the journal's folders, without white space; it changes if segments come or go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commit) struct JournalStamp(pub(in crate::commit) String);

impl JournalStamp {
    /// `None` if it is unknown, or too new to prove anything.
    pub(in crate::commit) fn now(root: &Root) -> Option<Self> {
        // The folders of events: written by this clone, or brought by git.
        let now = file_reading::now();
        let live = folder_stat(&root.state().path(StateFolder::Journal), now)?;
        let sealed = folder_stat(&root.path().join(SEALED_FOLDER), now)?;
        Some(Self(format!("{live}/{sealed}")))
    }
}

/// `None` if it may change without a trace, so close to `now`.
fn folder_stat(folder: &std::path::Path, now: i64) -> Option<String> {
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some("none".to_owned()),
        found => {
            let stat = FileStat::of(&found.ok()?);
            (!stat.may_hide_a_change(now)).then(|| stat.to_string())
        }
    }
}

/// Notes each file's last event in its lock; `journal` is from before the past was read.
pub(in crate::commit) fn remember(locks: &[ArtifactLock], events: &[Event], journal: &JournalStamp) {
    for lock in locks {
        let is_about =
            |event: &&Event| event.artifact.as_ref().is_some_and(|artifact| artifact.path == *lock.path());
        let Some(event) = events.iter().rev().find(is_about) else { continue };
        let Some(after) = event.after else { continue };
        let told = LastEvent { file: after.file, event: Ancestor::of(event), journal: journal.clone() };
        // Otherwise the next commit asks the journal's index, which is slower with the same answer.
        let _forgotten = Note::Told(told).write(&lock.lock_file);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::commit::{
        scratch_project::OLD, scratch_project::PRD, scratch_project::ScratchProject, scratch_project::named,
    };

    const OURS: &[u8] = b"ours";
    const THEIRS: &[u8] = b"theirs";

    fn killed(target: &[u8], staged: Option<&[u8]>, exchanging: bool) -> (ScratchProject, String) {
        let project = ScratchProject::new();
        let lock = project.lock(PRD);
        let name = format!("{}R4nd0m.tmp", lock.key.temporary_prefix());
        let note = if exchanging {
            Note::Exchanging { name: name.clone(), before: FileHash::of(OLD), after: FileHash::of(OURS) }
        } else {
            Note::Staging { name: name.clone() }
        };
        note.write(&lock.lock_file).unwrap();
        drop(lock);
        project.write(PRD, target);
        if let Some(bytes) = staged {
            project.write(&format!("docs/{name}"), bytes);
        }
        (project, name)
    }

    #[test]
    fn what_was_being_staged_is_removed() {
        for staged in [None, Some(&b"ou"[..]), Some(OURS)] {
            let (project, _) = killed(OLD, staged, false);
            project.write("docs/.stepmark-0123-x.tmp", b"another artifact's");
            let _lock = project.lock(PRD);
            assert_eq!(project.names("docs"), [".stepmark-0123-x.tmp", "prd.md"]);
            assert_eq!(project.read(PRD), OLD);
        }
    }

    #[test]
    fn an_exchange_is_finished_wherever_it_was_interrupted() {
        for (target, staged, left) in [
            (OLD, Some(OURS), OLD),
            (OURS, Some(OLD), OURS),
            (OURS, None, OURS),
            (THEIRS, Some(OURS), THEIRS),
            (THEIRS, Some(OLD), THEIRS),
        ] {
            let (project, _) = killed(target, staged, true);
            let _lock = project.lock(PRD);
            assert_eq!(project.names("docs"), ["prd.md"]);
            assert_eq!(project.read(PRD), left);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_foreign_edit_gets_its_place_back() {
        let (project, _) = killed(OURS, Some(THEIRS), true);
        let _lock = project.lock(PRD);
        assert_eq!(project.read(PRD), THEIRS);
        assert_eq!(project.names("docs"), ["prd.md"]);
    }

    #[test]
    fn of_two_foreign_edits_both_are_kept_and_reported_once() {
        let (project, _) = killed(b"later theirs", Some(THEIRS), true);
        let refused = ArtifactLock::acquire(&project.root, &named(PRD), Duration::ZERO).unwrap_err();
        let LockError::Interrupted { kept, .. } = refused else { panic!("{refused:?}") };
        assert_eq!(kept, project.place("docs/.stepmark-kept-R4nd0m-prd.md"));
        assert_eq!(fs::read(kept).unwrap(), THEIRS);
        assert_eq!(project.read(PRD), b"later theirs");
        let _second_time = project.lock(PRD);
    }

    #[test]
    fn kept_names_fit_the_file_system() {
        let staged = Path::new("/p/.stepmark-0123-Abc123.tmp");
        assert_eq!(kept_name(staged, Path::new("/p/prd.md")), ".stepmark-kept-Abc123-prd.md");
        assert_eq!(kept_name(staged, &Path::new("/p").join("x".repeat(250))), ".stepmark-kept-Abc123");
    }
}

#[cfg(test)]
mod last_event_tests {
    use std::{thread, time::Duration};

    use super::*;
    use crate::commit::{
        CommitError, FileDecision, FileTransition, Halt, Transaction, scratch_project::PRD,
        scratch_project::ScratchProject, scratch_project::fast, scratch_project::named,
    };
    use crate::disk::file_reading::coarse_clock;
    use stepmark_model::journal::{Actor, ArtifactKey, ArtifactRef, Digests, EventDraft, Kind};

    /// Commits `text`; answers with the event that the commit is told was last, and the one that it tells.
    fn write(project: &ScratchProject, text: &'static str) -> (Option<Ancestor>, Option<Ancestor>) {
        let (mut last_event, mut tells) = (None, None);
        let record = |(), changed: &[FileTransition<'_>]| {
            let [change] = changed else { return Ok(Vec::new()) };
            last_event = change.last_event;
            let at = "2026-11-22T10:00:00Z".parse().unwrap();
            let mut event = Event::new(EventDraft::new(Kind::CHANGE), Actor::human("Ada"), at);
            let path = change.path.clone();
            event.artifact = Some(ArtifactRef { key: ArtifactKey::of_path(&path), path, was: None });
            event.after = change.new.map(|new| Digests { file: FileHash::of(new), state: None });
            event.n = change.last_event.map_or(1, |told| told.n + 1);
            let event = event.sealed();
            tells = Some(Ancestor::of(&event));
            Ok(vec![event])
        };
        let decide = |_: &[Option<&[u8]>]| {
            Ok::<_, Halt<CommitError>>((vec![FileDecision::Write(text.as_bytes().to_vec())], ()))
        };
        Transaction::new(&project.root, &[named(PRD)], &fast()).run(decide, record).unwrap();
        (last_event, tells)
    }

    fn let_the_clock_tick() {
        thread::sleep(Duration::from_millis(100));
    }

    #[test]
    fn a_lock_remembers_the_last_event_until_segments_come_or_another_program_writes() {
        let project = ScratchProject::new();
        assert_eq!(write(&project, "one").0, None);
        let_the_clock_tick();
        // The first commit made the live segment, so its folder is another now.
        let (told, second) = write(&project, "two");
        assert_eq!(told, None);
        let (told, third) = write(&project, "three");
        assert_eq!(told, second);
        assert_eq!(write(&project, "four").0, third);

        project.write(PRD, b"theirs");
        let_the_clock_tick();
        assert_eq!(write(&project, "five").0, None);

        fs::create_dir_all(project.place(".stepmark/journal")).unwrap();
        project.write(".stepmark/journal/merged.jsonl", b"");
        assert_eq!(write(&project, "six").0, None, "a folder that has just changed proves nothing");
        let_the_clock_tick();
        assert_eq!(write(&project, "seven").0, None);
        assert!(write(&project, "eight").0.is_some());
        project.write(".stepmark/journal/another.jsonl", b"");
        let_the_clock_tick();
        assert_eq!(write(&project, "nine").0, None);
    }

    #[test]
    fn a_folder_that_changed_within_one_step_of_a_coarse_clock_proves_nothing() {
        let project = ScratchProject::new();
        fs::create_dir_all(project.place(".stepmark/journal")).unwrap();
        write(&project, "one");
        let live = project.root.state().path(StateFolder::Journal);
        let step = coarse_clock::pretend();
        for folder in [&live, &project.place(".stepmark/journal")] {
            coarse_clock::set(&live, step - Duration::from_secs(9));
            coarse_clock::set(&project.place(".stepmark/journal"), step - Duration::from_secs(9));
            assert!(JournalStamp::now(&project.root).is_some());
            coarse_clock::set(folder, step);
            assert_eq!(JournalStamp::now(&project.root), None);
        }
    }
}
