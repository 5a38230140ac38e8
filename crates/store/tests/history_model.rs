//! Random commands, edits by other programs, checkouts and crashes, against a simple model in memory: what
//! history says is what happened, and every state can be found again.
#![expect(clippy::disallowed_methods, reason = "an edge: files are written here as other programs would")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{collections::HashMap, fs, path::PathBuf, time::SystemTime};
use stepmark_store::Error;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stepmark_model::transition::TransitionRefusal;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::{ArtifactKey, ArtifactState, Event, EventId, HistoryState, Kind, Lineage},
};
use stepmark_store::changes::{ChangeReason, EditFailure};
use stepmark_store::commit::CommitError;
use stepmark_store::workspace::Workspace;

const ARTIFACTS: usize = 2;

/// What somebody does to one artifact.
#[derive(Clone, Debug)]
enum Deed {
    /// stepmark sets a value.
    Set(u8),
    /// stepmark completes a step.
    Complete(u8),
    /// stepmark sets a value, and dies before the journal is told.
    SetAndDie(u8),
    /// An editor writes a value.
    Edit(u8),
    /// An editor changes the body only.
    EditBody(u8),
    /// A checkout: the file is what it was at an earlier time.
    CheckOut(prop::sample::Index),
    /// An editor breaks the frontmatter.
    Damage,
    /// stepmark takes back its last change.
    Undo,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0..4_u8).prop_map(Deed::Set),
        4 => (0..6_u8).prop_map(Deed::Complete),
        1 => (0..4_u8).prop_map(Deed::SetAndDie),
        2 => (0..4_u8).prop_map(Deed::Edit),
        1 => (0..4_u8).prop_map(Deed::EditBody),
        2 => any::<prop::sample::Index>().prop_map(Deed::CheckOut),
        1 => Just(Deed::Damage),
        2 => Just(Deed::Undo),
    ]
}

/// What the model knows of an artifact.
#[derive(Default)]
struct Known {
    /// All bytes that the file ever had, for checkouts.
    versions: Vec<String>,
    /// The state of every version that history was told of; `None` for a damaged one. The head comes last.
    told: Vec<(Option<Json>, String)>,
    /// Whether the head is the last of `told`, so that the current state stands there.
    last_change: Option<EventId>,
}

struct Project {
    folder: tempfile::TempDir,
    workspace: Workspace,
    known: Vec<Known>,
}

fn path(artifact: usize) -> ProjectPath {
    ProjectPath::new(format!("docs/{artifact}.md")).unwrap()
}

fn state(text: &str) -> Option<Json> {
    Artifact::read(path(0), text.as_bytes().to_vec()).state_value().ok()
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("docs")).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let mut project = Self { folder, workspace, known: Vec::new() };
        for artifact in 0..ARTIFACTS {
            project.known.push(Known::default());
            project.write(artifact, "---\nstepsCompleted: []\nvalue: 0 # a number\n---\n# Text\n");
        }
        project
    }

    fn place(&self, artifact: usize) -> PathBuf {
        self.folder.path().join(path(artifact).as_str())
    }

    fn read(&self, artifact: usize) -> String {
        fs::read_to_string(self.place(artifact)).unwrap()
    }

    /// Writes as another program, long ago, so that nobody waits for it to finish.
    fn write(&mut self, artifact: usize, text: &str) {
        fs::write(self.place(artifact), text).unwrap();
        let file = fs::File::options().write(true).open(self.place(artifact)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        self.known[artifact].versions.push(text.to_owned());
    }

    fn lineage(&self, artifact: usize) -> Lineage {
        let path = path(artifact);
        self.workspace.history().ask(|history| history.lineage(&ArtifactKey::of_path(&path), &path)).unwrap()
    }

    fn state(&self, artifact: usize) -> HistoryState {
        let text = self.read(artifact);
        self.lineage(artifact)
            .history_state(ArtifactState::of(&path(artifact), Some(text.as_bytes())).digests)
    }

    /// A journal that cannot be locked is what a process meets that dies before its last step.
    fn without_journal<T>(&self, act: impl FnOnce() -> T) -> T {
        let lock = self.folder.path().join(".stepmark/local/journal.lock");
        let aside = lock.with_extension("aside");
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        let was_there = fs::rename(&lock, &aside).is_ok();
        fs::create_dir(&lock).unwrap();
        let done = act();
        fs::remove_dir(&lock).unwrap();
        if was_there {
            fs::rename(aside, lock).unwrap();
        }
        done
    }

    fn set(&self, artifact: usize, value: u8) -> Result<(), Error> {
        let value = i64::from(value);
        self.workspace.update(path(artifact).as_str(), |found| found.set("value", value))?;
        Ok(())
    }

    fn act(&mut self, artifact: usize, deed: &Deed) {
        let before = self.read(artifact);
        let is_readable = state(&before).is_some();
        match deed {
            Deed::Set(value) => {
                let done = self.set(artifact, *value);
                assert_eq!(done.is_ok(), is_readable, "{done:?}");
            }
            Deed::Complete(step) => {
                let done = self
                    .workspace
                    .update(path(artifact).as_str(), |found| found.complete(&format!("step-{step}")));
                assert_eq!(done.is_ok(), is_readable, "{done:?}");
            }
            Deed::SetAndDie(value) => {
                let done = self.without_journal(|| self.set(artifact, *value));
                match done {
                    Ok(()) => {}
                    Err(error)
                        if matches!(
                            error.detail(),
                            Some(CommitError::History { .. } | CommitError::Recover { .. })
                        ) => {}
                    Err(error) if error.detail::<TransitionRefusal>().is_some() => assert!(!is_readable),
                    Err(error) => panic!("{error:?}"),
                }
                // The next one to open for writing finishes it.
                self.workspace.history().append(&[]).unwrap();
            }
            Deed::Edit(value) => {
                let edited = before.lines().map(|line| {
                    if line.starts_with("value:") {
                        format!("value: {value} # edited")
                    } else {
                        line.to_owned()
                    }
                });
                let edited = edited.collect::<Vec<_>>().join("\n") + "\n";
                self.write(artifact, &edited);
            }
            Deed::EditBody(value) => self.write(artifact, &format!("{before}More text {value}.\n")),
            Deed::CheckOut(which) => {
                let version = which.get(&self.known[artifact].versions).clone();
                self.write(artifact, &version);
            }
            Deed::Damage => self
                .write(artifact, &before.replace("---\nstepsCompleted", "---\n]broken: [\nstepsCompleted")),
            Deed::Undo => self.undo(artifact),
        }
        let after = self.read(artifact);
        self.known[artifact].versions.push(after.clone());
        let by_stepmark = matches!(deed, Deed::Set(_) | Deed::Complete(_) | Deed::SetAndDie(_) | Deed::Undo);
        if by_stepmark && before != after {
            self.tell(artifact, before, after);
        }
    }

    /// Takes back the last change; that works where its place is still as it left it.
    fn undo(&mut self, artifact: usize) {
        let lineage = self.lineage(artifact);
        let Some(last) = self.known[artifact].last_change.and_then(|id| lineage.get(id)) else { return };
        let before = state(&self.read(artifact));
        match (self.workspace.undo(last, ChangeReason::Unsaid), before) {
            (Ok(_), Some(before)) => {
                let after = state(&self.read(artifact)).unwrap();
                let mut expected = before;
                stepmark_frontmatter::make_changes(
                    &mut expected,
                    &stepmark_frontmatter::inverse(&last.changes),
                )
                .unwrap();
                assert_eq!(after, expected);
            }
            (Err(error), _)
                if error.detail::<TransitionRefusal>().is_some()
                    || error.detail::<EditFailure>().is_some() => {}
            (other, _) => panic!("{other:?}"),
        }
    }

    /// What the model expects history to have been told.
    fn tell(&mut self, artifact: usize, before: String, after: String) {
        let known = &mut self.known[artifact];
        let same = |left: &(Option<Json>, String)| match (&left.0, state(&before)) {
            (Some(left), Some(right)) => *left == right,
            (None, None) => left.1 == before,
            _ => false,
        };
        // Without git, what is not the state of the head was written by an editor, whenever it was there
        // before.
        if !known.told.last().is_some_and(same) {
            known.told.push((state(&before), before.clone()));
        }
        known.told.push((state(&after), after));
    }

    fn judge(&mut self, artifact: usize) {
        let lineage = self.lineage(artifact);
        assert_eq!(lineage.verify(), [], "every event leads to the state that it records");
        assert!(lineage.events().iter().all(Event::is_genuine));
        let interrupted = lineage.events().iter().filter(|event| event.kind == Kind::INTERRUPTED).count();
        assert_eq!(interrupted, 0, "nobody wrote into a commit");
        let known = &mut self.known[artifact];
        let mut expected: HashMap<String, usize> = HashMap::new();
        for (state, _) in &known.told {
            *expected.entry(json!(state).to_string()).or_default() += 1;
        }
        let mut found: HashMap<String, usize> = HashMap::new();
        for event in lineage.events() {
            let state = lineage.state_after(event.id).ok();
            *found.entry(json!(state).to_string()).or_default() += 1;
        }
        assert_eq!(found, expected, "each state that was told can be found again, and no other");
        known.last_change = lineage.events().last().map(|event| event.id);
        let text = self.read(artifact);
        let is_told = self.known[artifact].told.iter().any(|(told, version)| match (told, state(&text)) {
            (Some(told), Some(now)) => *told == now,
            (None, None) => *version == text,
            _ => false,
        });
        match self.state(artifact) {
            HistoryState::Current { .. } | HistoryState::Earlier { .. } => assert!(is_told),
            HistoryState::Unexplained { .. } | HistoryState::Merged { .. } => assert!(!is_told),
            HistoryState::NoHistory => assert!(self.known[artifact].told.is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn history_says_what_happened(deeds in prop::collection::vec((0..ARTIFACTS, deed()), 1..24)) {
        let mut project = Project::new();
        for (artifact, deed) in &deeds {
            project.act(*artifact, deed);
            project.judge(*artifact);
        }
        // Another process, and one without the index, see the same.
        let again = Workspace::open(project.folder.path()).unwrap();
        let _ = fs::remove_dir_all(project.folder.path().join(".stepmark/local/cache"));
        for artifact in 0..ARTIFACTS {
            let path = path(artifact);
            let lineage = again.history().ask(|history| history.lineage(&ArtifactKey::of_path(&path), &path)).unwrap();
            let here = project.lineage(artifact);
            prop_assert_eq!(lineage.events(), here.events());
        }
    }
}
