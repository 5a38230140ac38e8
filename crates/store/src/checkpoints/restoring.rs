//! Putting the frontmatter of a checkpoint back.

use std::cell::RefCell;

use crate::changes::{ChangeError, ChangeReason};
use crate::checkpoints::{CheckpointReadError, Checkpoints};
use crate::commit::{self, CommitError, FileDecision, Outcome, PublishError};
use crate::workspace::ArtifactError;
use stepmark_frontmatter::{Document, Fences, replace_region};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath, state_region},
    journal::{EventDraft, Kind},
    projection::checkpoint::{Checkpoint, damaged_copy_path, surviving_keys},
    transition::Remark,
};

/// A frontmatter that was put back.
#[derive(Debug)]
pub struct Restored {
    pub artifact: TrackedArtifact,
    pub checkpoint: Checkpoint,
    pub fences: Fences,
    /// The place of the file as it was before: it is kept there, if it was damaged.
    pub kept: Option<ProjectPath>,
    pub outcome: Outcome,
    pub remarks: Vec<Remark>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    #[error(transparent)]
    Checkpoint(#[from] CheckpointReadError),
    #[error("the checkpoint `{place}` is one of `{of}`, not of `{path}`")]
    OtherArtifact { place: ProjectPath, of: ProjectPath, path: ProjectPath },
    #[error("cannot put the checkpoint `{place}` back into `{path}` faithfully; nothing was changed")]
    NotProven { place: ProjectPath, path: ProjectPath },
    #[error("cannot keep a copy of the damaged `{path}`, so it is left as it is")]
    NotKept { path: ProjectPath, source: CommitError },
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// The result of the last decision.
struct Decided {
    fences: Fences,
    kept: Option<ProjectPath>,
}

impl Checkpoints<'_> {
    /// Puts the frontmatter of the checkpoint at `place` back into the artifact at `path`, to the byte, and
    /// keeps its body. A file whose frontmatter is damaged is kept whole beside the checkpoint first.
    pub fn restore(
        &self,
        path: &ProjectPath,
        place: &ProjectPath,
        reason: ChangeReason,
    ) -> Result<Restored, RestoreError> {
        let checkpoint = self.at(place)?;
        let bytes = self.workspace.read_file(path).map_err(ChangeError::from)?;
        let artifact = Artifact::read(path.clone(), bytes);
        if checkpoint.path != *path && !surviving_keys(&artifact).contains(&checkpoint.key) {
            let of = checkpoint.path.clone();
            return Err(RestoreError::OtherArtifact { place: place.clone(), of, path: path.clone() });
        }
        let decided: RefCell<Result<Option<Decided>, RestoreError>> = RefCell::new(Ok(None));
        let draft = EventDraft::new(Kind::RESTORE)
            .with_command(format!("restore {path} --from {place}"))
            .with("checkpoint", place.as_str())
            .with("restored", checkpoint.event.to_string());
        let draft = reason.on(draft);
        let outcomes = self.workspace.change_files(
            std::slice::from_ref(path),
            |_| draft.clone(),
            |found| {
                let [Some(bytes)] = *found else {
                    return Err(ArtifactError::Missing { path: path.clone() }.into());
                };
                let (decision, outcome) = match self.decide_restore(path, place, &checkpoint, bytes) {
                    Ok((bytes, decided)) => (FileDecision::Write(bytes), Ok(Some(decided))),
                    Err(error) => (FileDecision::Keep, Err(error)),
                };
                *decided.borrow_mut() = outcome;
                Ok(vec![decision])
            },
        )?;
        let missing = || ChangeError::from(ArtifactError::Missing { path: path.clone() });
        // A commit that ends well has decided at least once.
        let Decided { fences, kept } = decided.into_inner()?.ok_or_else(missing)?;
        let artifact = self.workspace.artifact(path).map_err(ChangeError::from)?;
        let outcome = outcomes.into_iter().next().unwrap_or(Outcome::Unchanged);
        let remarks = match outcome {
            Outcome::Unchanged => Vec::new(),
            _ => self.workspace.ledgers().project(std::slice::from_ref(&artifact), false).remarks(),
        };
        Ok(Restored { artifact, checkpoint, fences, kept, outcome, remarks })
    }

    /// The new bytes of the file, after the damaged ones are kept.
    fn decide_restore(
        &self,
        path: &ProjectPath,
        place: &ProjectPath,
        checkpoint: &Checkpoint,
        bytes: &[u8],
    ) -> Result<(Vec<u8>, Decided), RestoreError> {
        let region = state_region(path);
        // A block may have stood at the end of a file whose last line has no end.
        let end = if checkpoint.frontmatter.is_empty() || checkpoint.frontmatter.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let is_last = region.find(&Document::scan(bytes)).is_ok_and(|span| span.end == bytes.len());
        let text = format!("{}{}", checkpoint.frontmatter, if is_last { "" } else { end });
        let replacement = replace_region(bytes, &region, &text);
        let new = Document::scan(&replacement.bytes);
        let is_proven =
            region.find(&new).is_ok_and(|span| replacement.bytes[span.range()] == *text.as_bytes());
        if !is_proven {
            return Err(RestoreError::NotProven { place: place.clone(), path: path.clone() });
        }
        let is_readable = Artifact::read(path.clone(), bytes.to_vec()).state_value().is_ok();
        let kept = if is_readable { None } else { Some(self.keep_damaged(path, place, bytes)?) };
        Ok((replacement.bytes, Decided { fences: replacement.fences, kept }))
    }

    /// Keeps a damaged file beside the checkpoint: history knows its hash alone.
    fn keep_damaged(
        &self,
        path: &ProjectPath,
        place: &ProjectPath,
        bytes: &[u8],
    ) -> Result<ProjectPath, RestoreError> {
        let copy =
            damaged_copy_path(place, self.workspace.now(), FileHash::of(bytes)).map_err(ChangeError::from)?;
        match commit::create(self.workspace.root(), &copy, bytes, self.workspace.commit_options()) {
            // The name holds the hash: what stands there was kept in an earlier attempt.
            Ok(_) | Err(CommitError::Publish(PublishError::Conflict(_))) => Ok(copy),
            Err(source) => Err(RestoreError::NotKept { path: path.clone(), source }),
        }
    }
}
