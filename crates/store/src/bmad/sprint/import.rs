//! Imports chosen statuses into the frontmatter of stories.

use super::{LedgerProjection, StoryLedgers};
use crate::commit::{FileDecision, Outcome};
use crate::{Error, changes::not_edited};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    bmad::sprint::{StorySide, StorySides, with_status},
    journal::{EventDraft, Kind},
};

/// Stories per commit; more would hold too many locks.
const BATCH: usize = 64;

#[derive(Clone, Debug)]
pub struct ImportDecision {
    pub sides: StorySides,
    pub winner: StorySide,
}

#[derive(Debug, Default)]
pub struct StoryImport {
    pub written: Vec<ProjectPath>,
    pub unchanged: usize,
    /// Stories that changed after they were shown, so the decision is void.
    pub changed_meanwhile: Vec<ProjectPath>,
    pub failed: Vec<Error>,
    pub ledgers: LedgerProjection,
}

impl ImportDecision {
    /// The word for the frontmatter; `None` if the chosen source has none.
    pub fn word(&self) -> Option<&str> {
        self.sides.chosen(self.winner)
    }

    pub fn is_needed(&self) -> bool {
        use StorySide::{Frontmatter, StatusLine};
        let (sides, word) = (&self.sides, self.word());
        let differs = |side| sides.word(side).is_some_and(|said| Some(said) != word);
        let is_silent = sides.word(Frontmatter).is_none();
        word.is_some() && (is_silent || sides.is_disputed() || differs(Frontmatter) || differs(StatusLine))
    }

    fn draft(&self, command: &str) -> EventDraft {
        let sides = &self.sides;
        let said = StorySide::ALL.into_iter().filter_map(|side| Some((side, sides.word(side)?)));
        let draft = EventDraft::new(Kind::IMPORT)
            .with_command(command)
            .with_reason(Some(format!("{} wins", self.winner.as_str())))
            .with("winner", self.winner.as_str());
        said.fold(draft, |draft, (side, word)| draft.with(&side.data_key(), word))
    }
}

impl StoryLedgers<'_> {
    /// Writes the chosen statuses into the frontmatter and updates the sprint status. History records
    /// `command`. Leases are checked; the lifecycle is not, since an import records what is already so.
    pub fn import(&self, decisions: &[ImportDecision], command: &str) -> StoryImport {
        let mut done = StoryImport::default();
        self.import_all(decisions, BATCH, command, &mut done);
        let is_done = |path: &&ProjectPath| !done.changed_meanwhile.contains(path);
        let paths = decisions.iter().map(|decision| &decision.sides.path).filter(is_done);
        let read: Vec<_> = paths.filter_map(|path| self.workspace.artifact(path).ok()).collect();
        done.ledgers = self.project(&read, true);
        done
    }

    /// Imports `size` stories per commit; a blocked batch is retried one by one.
    fn import_all(&self, all: &[ImportDecision], size: usize, command: &str, done: &mut StoryImport) {
        for batch in all.chunks(size) {
            match self.import_batch(batch, command, done) {
                Err(error) if batch.len() == 1 => done.failed.push(error),
                Err(_) => self.import_all(batch, 1, command, done),
                Ok(()) => {}
            }
        }
    }

    fn import_batch(
        &self,
        batch: &[ImportDecision],
        command: &str,
        done: &mut StoryImport,
    ) -> Result<(), Error> {
        let paths: Vec<ProjectPath> = batch.iter().map(|decision| decision.sides.path.clone()).collect();
        let mut stale = Vec::new();
        let draft = |path: &ProjectPath| {
            let decision = batch.iter().find(|decision| decision.sides.path == *path);
            decision.map_or_else(|| EventDraft::new(Kind::IMPORT), |decision| decision.draft(command))
        };
        let outcomes = self.workspace.change_files(&paths, draft, |found| {
            stale.clear();
            let decide = |(decision, bytes): (&ImportDecision, &Option<&[u8]>)| {
                let path = &decision.sides.path;
                let bytes = bytes.ok_or_else(|| Error::missing(path.clone()))?;
                if !is_as_shown(&decision.sides, bytes) {
                    stale.push(path.clone());
                    return Ok(FileDecision::Keep);
                }
                let Some(word) = decision.word() else { return Ok(FileDecision::Keep) };
                let written =
                    with_status(path, bytes, word).map_err(|source| not_edited(path, bytes, source))?;
                Ok(FileDecision::Write(written))
            };
            batch.iter().zip(found).map(decide).collect()
        })?;
        for (path, outcome) in paths.into_iter().zip(outcomes) {
            if outcome != Outcome::Unchanged {
                done.written.push(path);
            } else if !stale.contains(&path) {
                done.unchanged += 1;
            }
        }
        done.changed_meanwhile.extend(stale);
        Ok(())
    }
}

fn is_as_shown(sides: &StorySides, bytes: &[u8]) -> bool {
    let now = Artifact::read(sides.path.clone(), bytes.to_vec());
    let now = StorySides::read(&now, sides.lifecycle.clone(), sides.word(StorySide::SprintStatus));
    now.is_some_and(|now| now.is_same_file(sides))
}
