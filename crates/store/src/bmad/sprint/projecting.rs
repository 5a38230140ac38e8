//! Updates sprint status files one by one, so that a failure stops no other file.

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
        LedgerChange, LedgerEntry, LedgerLeft, Story, StoryState, differing_entries, project_ledger,
        project_line,
    },
    tracked_artifact::TrackedArtifact,
};

#[derive(Debug, Default)]
pub struct LedgerProjection {
    pub stories: usize,
    /// Stories without a status in their frontmatter; their sprint status is not changed.
    pub waiting: Vec<ProjectPath>,
    pub files: Vec<ProjectPath>,
    pub unchanged: usize,
    pub written: Vec<LedgerEntry>,
    /// Entries whose word is in no lifecycle.
    pub refused: Vec<LedgerEntry>,
    pub left: Vec<LedgerLeft>,
    pub broken: Vec<BrokenSprintStatus>,
    pub failed: Vec<Error>,
}

impl LedgerProjection {
    pub fn is_whole(&self) -> bool {
        self.refused.is_empty() && self.left.is_empty() && self.broken.is_empty() && self.failed.is_empty()
    }
}

impl StoryLedgers<'_> {
    /// Updates `sprint-status.yaml` and `Status:` lines from the frontmatter of `artifacts`; words that no
    /// lifecycle has only if `is_forced`. Errors of single files are part of the result.
    pub fn project(&self, artifacts: &[TrackedArtifact], is_forced: bool) -> LedgerProjection {
        let mut done = LedgerProjection::default();
        let (known, mut ledgers) = (Ledgers::default(), BTreeMap::<ProjectPath, Vec<Story>>::new());
        for artifact in artifacts {
            match story_state(artifact) {
                StoryState::Told(story) => {
                    done.stories += 1;
                    if story.key.is_story() && story.line.is_some() {
                        self.project_line(&story, is_forced, &mut done);
                    }
                    match known.listing_of(self.workspace, &story.path) {
                        Listing::Listed(ledger, ..) | Listing::Unlisted(ledger) => {
                            ledgers.entry(ledger).or_default().push(*story);
                        }
                        Listing::Unknown(_) | Listing::Nowhere => {}
                    }
                }
                StoryState::Waiting => {
                    // Read all the same, to report a broken sprint status.
                    let _unused = known.listing_of(self.workspace, artifact.path());
                    done.waiting.push(artifact.path().clone());
                }
                StoryState::Other => {}
            }
        }
        for (ledger, stories) in &ledgers {
            self.project_ledger(ledger, stories, is_forced, &mut done);
        }
        let (broken, unreadable) = known.into_unusable();
        done.broken.extend(broken);
        done.failed.extend(unreadable);
        done
    }

    fn project_line(&self, story: &Story, is_forced: bool, done: &mut LedgerProjection) {
        if story.other_line().is_none() {
            done.unchanged += 1;
            return;
        }
        let mut change = LedgerChange::default();
        let outcome = self.publish(&story.path, |bytes| {
            // The story may have changed since it was read.
            let now = self.workspace.read_again(&story.path, bytes)?;
            change = match story_state(&now) {
                StoryState::Told(story) => project_line(&story, bytes, is_forced),
                _ => LedgerChange::default(),
            };
            Ok(change.bytes.clone())
        });
        done.note(&story.path, outcome, change);
    }

    fn project_ledger(
        &self,
        path: &ProjectPath,
        stories: &[Story],
        is_forced: bool,
        done: &mut LedgerProjection,
    ) {
        let (mut change, mut broken) = (LedgerChange::default(), None);
        let now = self.workspace.local_time();
        let outcome = self.publish(path, |bytes| {
            (change, broken) = Default::default();
            match differing_entries(path, bytes, &stories.iter().collect::<Vec<_>>()) {
                Ok(differing) if differing.is_empty() => {}
                Ok(differing) => {
                    let fresh = self.fresh(stories, &differing)?;
                    let fresh: Vec<&Story> = fresh.iter().map(Cow::as_ref).collect();
                    let projected = project_ledger(path, bytes, &fresh, [is_forced, true], &now);
                    change = projected.unwrap_or_default();
                }
                Err(error) => broken = Some(BrokenSprintStatus::of(path, bytes.to_vec(), &error)),
            }
            Ok(change.bytes.clone())
        });
        match broken {
            Some(broken) => done.broken.push(broken),
            None => done.note(path, outcome, change),
        }
    }

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
        mut decide: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>, Error>,
    ) -> Result<Outcome, Error> {
        let decide = |found: &[Option<&[u8]>]| {
            let [Some(bytes)] = *found else {
                return Err(Halt::Refused(Error::missing(path.clone())));
            };
            let decision = decide(bytes)?.map_or(FileDecision::Keep, FileDecision::Write);
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
        outcome.map(|outcomes| outcomes.into_iter().next().unwrap_or(Outcome::Unchanged))
    }
}

impl LedgerProjection {
    fn note(&mut self, path: &ProjectPath, outcome: Result<Outcome, Error>, change: LedgerChange) {
        let is_right = change.refused.is_empty() && change.left.is_empty();
        self.refused.extend(change.refused);
        self.left.extend(change.left);
        match outcome {
            Ok(Outcome::Unchanged) => self.unchanged += usize::from(is_right),
            Ok(_) => {
                self.files.push(path.clone());
                self.written.extend(change.written);
            }
            Err(error) => self.failed.push(error),
        }
    }
}
