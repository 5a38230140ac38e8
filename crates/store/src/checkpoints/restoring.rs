//! Restoring a checkpoint's frontmatter.

use crate::checkpoints::Checkpoints;
use crate::commit::{self, CommitError, FileDecision, Outcome, PublishError};
use crate::{Error, changes::ChangeReason};
use stepmark_frontmatter::{Document, Fences, replace_region};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath, state_region},
    journal::{EventDraft, Kind},
    projection::checkpoint::{Checkpoint, damaged_copy_path, surviving_keys},
    transition::Remark,
};

#[derive(Debug)]
pub struct Restored {
    pub artifact: TrackedArtifact,
    pub checkpoint: Checkpoint,
    pub fences: Fences,
    /// The copy of the damaged file, if it was damaged.
    pub kept: Option<ProjectPath>,
    pub outcome: Outcome,
    pub remarks: Vec<Remark>,
}

impl Checkpoints<'_> {
    /// Restores the frontmatter to the byte above the current body. Keeps a damaged file beside it.
    pub fn restore(
        &self,
        path: &ProjectPath,
        place: &ProjectPath,
        reason: ChangeReason,
    ) -> Result<Restored, Error> {
        let (workspace, checkpoint) = (self.workspace, self.at(place)?);
        let bytes = workspace.read_file(path).map_err(Error::unwritten)?;
        let artifact = Artifact::read(path.clone(), bytes);
        if checkpoint.path != *path && !surviving_keys(&artifact).contains(&checkpoint.key) {
            return Err(Error::refused(format!(
                "the checkpoint `{place}` is one of `{}`, not of `{path}`",
                checkpoint.path
            )));
        }
        let draft = EventDraft::new(Kind::RESTORE)
            .with_command(format!("restore {path} --from {place}"))
            .with("checkpoint", place.as_str())
            .with("restored", checkpoint.event.to_string());
        let draft = reason.on(draft);
        let (mut fences, mut kept) = (Fences::Whole, None);
        let paths = std::slice::from_ref(path);
        let outcomes = workspace.change_files_asking(
            paths,
            |_| draft.clone(),
            |found| {
                let [Some(bytes)] = *found else {
                    let missing = Error::missing(path.clone());
                    return Err(missing.unwritten().into());
                };
                let (new, found_fences) = put_back(&checkpoint, path, bytes).ok_or_else(|| {
                    Error::refused(format!(
                        "cannot put the checkpoint `{place}` back into `{path}` faithfully; nothing was changed"
                    ))
                })?;
                let is_readable = Artifact::read(path.clone(), bytes.to_vec()).state_value().is_ok();
                kept = if is_readable { None } else { Some(self.keep_damaged(path, place, bytes)?) };
                fences = found_fences;
                Ok(vec![FileDecision::Write(new)])
            },
        )?;
        // The next command that changes a record reports what is not updated.
        workspace.follow_records(path);
        let artifact = workspace.artifact(path).map_err(Error::unwritten)?;
        let outcome = outcomes.into_iter().next().unwrap_or(Outcome::Unchanged);
        let remarks = match outcome {
            Outcome::Unchanged => Vec::new(),
            _ => workspace.ledgers().project(std::slice::from_ref(&artifact), false).remarks(),
        };
        Ok(Restored { artifact, checkpoint, fences, kept, outcome, remarks })
    }

    /// History knows only its hash.
    fn keep_damaged(
        &self,
        path: &ProjectPath,
        place: &ProjectPath,
        bytes: &[u8],
    ) -> Result<ProjectPath, Error> {
        let copy = damaged_copy_path(place, self.workspace.now(), FileHash::of(bytes))?;
        match commit::create(self.workspace.root(), &copy, bytes, self.workspace.commit_options()) {
            // The name holds the hash, so an earlier attempt made this file.
            Ok(_) | Err(CommitError::Publish(PublishError::Conflict(_))) => Ok(copy),
            Err(source) => {
                let message = format!("cannot keep a copy of the damaged `{path}`, so it is left as it is");
                Err(Error::io(message, source))
            }
        }
    }
}

/// `None` if the result would not be faithful; also returns the former fences.
fn put_back(checkpoint: &Checkpoint, path: &ProjectPath, bytes: &[u8]) -> Option<(Vec<u8>, Fences)> {
    let (region, frontmatter) = (state_region(path), &checkpoint.frontmatter);
    let is_last = region.find(&Document::scan(bytes)).is_ok_and(|span| span.end == bytes.len());
    // The block may have ended a file without a final line end.
    let has_end = is_last || frontmatter.is_empty() || frontmatter.ends_with('\n');
    let text = format!("{frontmatter}{}", if has_end { "" } else { "\n" });
    let replacement = replace_region(bytes, &region, &text);
    let span = region.find(&Document::scan(&replacement.bytes)).ok()?;
    (replacement.bytes[span.range()] == *text.as_bytes()).then_some((replacement.bytes, replacement.fences))
}
