//! Projecting ledgers: one file after the other, each by itself, so that what stops one stops no other.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{BrokenSprintStatus, Ledgers, StoryLedgers, following::Listing, story_state};
use crate::Error;
use crate::commit::{FileDecision, FileTransition, Halt, Outcome, Transaction};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    bmad::sprint::{
        LedgerEntry, SprintStatus, Story, StoryState, line_entry, listed_entries, write_entries, write_line,
    },
    check::rules::status::sprint_status_not_yaml_finding,
    tracked_artifact::TrackedArtifact,
};

#[derive(Debug, Default)]
pub struct LedgerProjection {
    pub stories: usize,
    /// Stories without a status in their frontmatter: their ledgers are left alone.
    pub waiting: Vec<ProjectPath>,
    pub files: Vec<ProjectPath>,
    /// The number of ledgers, and of stories with a line, that said all that they should.
    pub unchanged: usize,
    pub written: Vec<LedgerEntry>,
    /// Those whose copy says a word that no lifecycle has.
    pub refused: Vec<LedgerEntry>,
    pub left: Vec<LedgerLeft>,
    pub broken: Vec<BrokenSprintStatus>,
    pub failed: Vec<Error>,
}

#[derive(Debug)]
pub struct LedgerLeft {
    pub entry: LedgerEntry,
    pub reason: String,
}

#[derive(Debug, Default)]
struct Attempt {
    written: Vec<LedgerEntry>,
    refused: Vec<LedgerEntry>,
    left: Vec<LedgerLeft>,
    broken: Option<BrokenSprintStatus>,
}

impl Attempt {
    /// Those of `entries` that may be written; the others are noted as refused.
    fn allowed(
        &mut self,
        entries: impl IntoIterator<Item = LedgerEntry>,
        is_forced: bool,
    ) -> Vec<LedgerEntry> {
        let (foreign, known) = entries.into_iter().partition(|entry| entry.is_foreign && !is_forced);
        self.refused = foreign;
        known
    }
}

impl LedgerProjection {
    pub fn is_whole(&self) -> bool {
        self.refused.is_empty() && self.left.is_empty() && self.broken.is_empty() && self.failed.is_empty()
    }
}

impl StoryLedgers<'_> {
    /// Brings `sprint-status.yaml` and the lines `Status:` to the frontmatter of the stories in `artifacts`;
    /// words that no lifecycle has, too, where `is_forced`. What stops a single file is told in the answer.
    pub fn project(&self, artifacts: &[TrackedArtifact], is_forced: bool) -> LedgerProjection {
        let mut done = LedgerProjection::default();
        let (known, mut ledgers) = (Ledgers::default(), BTreeMap::<ProjectPath, Vec<Story>>::new());
        for artifact in artifacts {
            match story_state(artifact) {
                StoryState::Told(story) => {
                    done.stories += 1;
                    if story.key.is_story() && story.line.is_some() {
                        done.note(self.project_line(&story, is_forced));
                    }
                    match known.listing_of(self.workspace, &story.path) {
                        Listing::Listed(ledger, _) | Listing::Unlisted(ledger) => {
                            ledgers.entry(ledger).or_default().push(*story);
                        }
                        Listing::Unknown(_) | Listing::Nowhere => {}
                    }
                }
                StoryState::Waiting => {
                    // Whether its ledger is broken is told all the same.
                    let _unused = known.listing_of(self.workspace, artifact.path());
                    done.waiting.push(artifact.path().clone());
                }
                StoryState::Other => {}
            }
        }
        for (ledger, stories) in &ledgers {
            done.note(self.project_ledger(ledger, stories, is_forced));
        }
        let (broken, unreadable) = known.into_unusable();
        done.broken.extend(broken);
        done.failed.extend(unreadable);
        done
    }

    fn project_line(&self, story: &Story, is_forced: bool) -> Projected {
        if line_entry(story).is_none() {
            return Projected::unchanged(&story.path);
        }
        self.publish(&story.path, |bytes, attempt| {
            // The story may have moved on since it was read.
            let StoryState::Told(story) = story_state(&self.workspace.read_again(&story.path, bytes)?) else {
                return Ok(None);
            };
            let Some(entry) = attempt.allowed(line_entry(&story), is_forced).pop() else { return Ok(None) };
            let new = write_line(&story.path, bytes, &entry.to);
            match new {
                Some(_) => attempt.written.push(entry),
                None => {
                    let reason = "the line would not say that afterwards".to_owned();
                    attempt.left.push(LedgerLeft { entry, reason });
                }
            }
            Ok(new)
        })
    }

    fn project_ledger(&self, path: &ProjectPath, stories: &[Story], is_forced: bool) -> Projected {
        self.publish(path, |bytes, attempt| {
            let ledger = match SprintStatus::read(bytes) {
                Ok(ledger) => ledger,
                Err(error) => {
                    let finding = sprint_status_not_yaml_finding(path, &error);
                    attempt.broken = Some(BrokenSprintStatus { bytes: bytes.to_vec(), finding });
                    return Ok(None);
                }
            };
            let differing = listed_entries(path, &ledger, &stories.iter().collect::<Vec<_>>());
            let fresh = self.fresh(stories, &differing)?;
            let fresh: Vec<&Story> = fresh.iter().map(Cow::as_ref).collect();
            let mut writable = Vec::new();
            for entry in listed_entries(path, &ledger, &fresh) {
                match entry.obstacle() {
                    Some(obstacle) => attempt.left.push(LedgerLeft { entry, reason: obstacle.to_owned() }),
                    None => writable.push(entry),
                }
            }
            let done = write_entries(bytes, attempt.allowed(writable, is_forced))
                .kept_up(&self.workspace.local_time());
            attempt.written = done.written;
            let left = done.left.into_iter();
            attempt.left.extend(left.map(|(entry, error)| LedgerLeft { entry, reason: error.to_string() }));
            Ok(Some(done.bytes))
        })
    }

    /// `stories`, read again where the ledger differs: the truth may have moved on since they were read.
    fn fresh<'s>(
        &self,
        stories: &'s [Story],
        differing: &[LedgerEntry],
    ) -> Result<Vec<Cow<'s, Story>>, Error> {
        let differing: BTreeSet<&ProjectPath> = differing.iter().map(|entry| &entry.story).collect();
        let mut fresh = Vec::new();
        for story in stories {
            if !differing.contains(&story.path) {
                fresh.push(Cow::Borrowed(story));
                continue;
            }
            match self.workspace.artifact(&story.path).map(|artifact| story_state(&artifact)) {
                Ok(StoryState::Told(story)) => fresh.push(Cow::Owned(*story)),
                Err(error) if !error.is_missing() => return Err(error),
                _ => {}
            }
        }
        Ok(fresh)
    }

    fn publish(
        &self,
        path: &ProjectPath,
        decide: impl Fn(&[u8], &mut Attempt) -> Result<Option<Vec<u8>>, Error>,
    ) -> Projected {
        let mut attempt = Attempt::default();
        // The last decision, with the bytes that it was made from: reading the stories takes long.
        let mut last: Option<(Vec<u8>, Option<Vec<u8>>)> = None;
        let decide = |found: &[Option<&[u8]>]| {
            let [Some(bytes)] = *found else {
                return Err(Halt::Refused(Error::missing(path.clone())));
            };
            let (_, new) = match last.take() {
                Some(same) if same.0 == bytes => last.insert(same),
                _ => {
                    attempt = Attempt::default();
                    let new = decide(bytes, &mut attempt)?;
                    last.insert((bytes.to_vec(), new))
                }
            };
            let decision = new.clone().map_or(FileDecision::Keep, FileDecision::Write);
            Ok((vec![decision], Vec::new()))
        };
        let record = |events, changed: &[FileTransition<'_>]| {
            let old = changed.iter().find_map(|change| change.old);
            let old = old.map(|old| Artifact::read(path.clone(), old.to_vec()));
            self.workspace.leases().admit(path, old.as_ref()).map_err(Error::unwritten)?;
            Ok(events)
        };
        let options = self.workspace.commit_options();
        let transaction = Transaction::new(self.workspace.root(), std::slice::from_ref(path), options);
        let outcome = transaction.looking_first().run(decide, record);
        let outcome = outcome.map(|outcomes| outcomes.into_iter().next().unwrap_or(Outcome::Unchanged));
        Projected { path: path.clone(), outcome, attempt }
    }
}

struct Projected {
    path: ProjectPath,
    outcome: Result<Outcome, Error>,
    attempt: Attempt,
}

impl Projected {
    fn unchanged(path: &ProjectPath) -> Self {
        Self { path: path.clone(), outcome: Ok(Outcome::Unchanged), attempt: Attempt::default() }
    }
}

impl LedgerProjection {
    fn note(&mut self, projected: Projected) {
        let Projected { path, outcome, attempt } = projected;
        let is_right = attempt.refused.is_empty() && attempt.left.is_empty() && attempt.broken.is_none();
        self.refused.extend(attempt.refused);
        self.left.extend(attempt.left);
        self.broken.extend(attempt.broken);
        match outcome {
            Ok(Outcome::Unchanged) => self.unchanged += usize::from(is_right),
            Ok(_) => {
                self.files.push(path);
                self.written.extend(attempt.written);
            }
            Err(error) => self.failed.push(error),
        }
    }
}
