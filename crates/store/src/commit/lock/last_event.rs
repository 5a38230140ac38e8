//! The last event that the journal was told of a file, as far as the file's lock remembers.
#![expect(clippy::disallowed_methods, reason = "an edge module: folders are looked at")]

use std::{fs, io};

use crate::commit::{ArtifactLock, lock::Note};
use crate::disk::{file_stat, file_stat::FileStat, local_state::StateFolder, root::Root};
use crate::history::SEALED_FOLDER;
use stepmark_model::{
    artifact::FileHash,
    journal::{Ancestor, Event},
};

/// The event after which the file had these bytes, and nothing came to the journal since but by stepmark,
/// under the file's lock: so nothing of this artifact is in the journal that follows the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commit) struct LastEvent {
    pub(in crate::commit) file: FileHash,
    pub(in crate::commit) event: Ancestor,
    pub(in crate::commit) journal: JournalStamp,
}

/// The state of the folders of the journal: other segments came or went where it differs. Without white
/// space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commit) struct JournalStamp(pub(in crate::commit) String);

impl JournalStamp {
    /// The state of now; `None` where it is too new to prove anything, or cannot be told.
    pub(in crate::commit) fn now(root: &Root) -> Option<Self> {
        // The folders that events come from: those that this clone writes, and those that git may bring.
        let now = file_stat::now();
        let live = folder_stat(&root.state().path(StateFolder::Journal), now)?;
        let sealed = folder_stat(&root.path().join(SEALED_FOLDER), now)?;
        Some(Self(format!("{live}/{sealed}")))
    }
}

/// The stat of `folder` as one word; `None` where it changed so shortly before `now` that it may change again
/// without a trace.
fn folder_stat(folder: &std::path::Path, now: i64) -> Option<String> {
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some("none".to_owned()),
        found => {
            let stat = FileStat::of(&found.ok()?);
            (!stat.may_hide_a_change(now)).then(|| stat.to_string())
        }
    }
}

/// Remembers in each lock what `events`, which are in the journal, tell last of its file. `journal` is the
/// state of before the past of these events was asked for.
pub(in crate::commit) fn remember(locks: &[ArtifactLock], events: &[Event], journal: &JournalStamp) {
    for lock in locks {
        let is_about =
            |event: &&Event| event.artifact.as_ref().is_some_and(|artifact| artifact.path == *lock.path());
        let Some(event) = events.iter().rev().find(is_about) else { continue };
        let Some(after) = event.after else { continue };
        let told = LastEvent { file: after.file, event: Ancestor::of(event), journal: journal.clone() };
        // Without it the next commit asks the index of the journal, which takes longer and says the same.
        let _forgotten = Note::Told(told).write(&lock.lock_file);
    }
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;
    use crate::commit::{
        CommitError, FileDecision, FileTransition, Halt, Transaction, scratch_project::PRD,
        scratch_project::ScratchProject, scratch_project::fast, scratch_project::named,
    };
    use crate::disk::file_stat::coarse_clock;
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
