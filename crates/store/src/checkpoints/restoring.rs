//! Putting the frontmatter of a checkpoint back.

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
    /// The place of the file as it was before: it is kept there, if it was damaged.
    pub kept: Option<ProjectPath>,
    pub outcome: Outcome,
    pub remarks: Vec<Remark>,
}

impl Checkpoints<'_> {
    /// Puts the checkpoint's frontmatter back, to the byte, above the body. A damaged file is kept beside it.
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
        // What the last decision did beside the file.
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
        // The next command that changes a record tells what is behind.
        workspace.follow_records(path);
        let artifact = workspace.artifact(path).map_err(Error::unwritten)?;
        let outcome = outcomes.into_iter().next().unwrap_or(Outcome::Unchanged);
        let remarks = match outcome {
            Outcome::Unchanged => Vec::new(),
            _ => workspace.ledgers().project(std::slice::from_ref(&artifact), false).remarks(),
        };
        Ok(Restored { artifact, checkpoint, fences, kept, outcome, remarks })
    }

    /// Keeps a damaged file beside the checkpoint: history knows its hash alone.
    fn keep_damaged(
        &self,
        path: &ProjectPath,
        place: &ProjectPath,
        bytes: &[u8],
    ) -> Result<ProjectPath, Error> {
        let copy = damaged_copy_path(place, self.workspace.now(), FileHash::of(bytes))?;
        match commit::create(self.workspace.root(), &copy, bytes, self.workspace.commit_options()) {
            // The name holds the hash: what stands there was kept in an earlier attempt.
            Ok(_) | Err(CommitError::Publish(PublishError::Conflict(_))) => Ok(copy),
            Err(source) => {
                let message = format!("cannot keep a copy of the damaged `{path}`, so it is left as it is");
                Err(Error::io(message, source))
            }
        }
    }
}

/// The file with the frontmatter of `checkpoint`, and its former fences; `None` where not faithful.
fn put_back(checkpoint: &Checkpoint, path: &ProjectPath, bytes: &[u8]) -> Option<(Vec<u8>, Fences)> {
    let (region, frontmatter) = (state_region(path), &checkpoint.frontmatter);
    let is_last = region.find(&Document::scan(bytes)).is_ok_and(|span| span.end == bytes.len());
    // A block may have stood at the end of a file whose last line has no end.
    let has_end = is_last || frontmatter.is_empty() || frontmatter.ends_with('\n');
    let text = format!("{frontmatter}{}", if has_end { "" } else { "\n" });
    let replacement = replace_region(bytes, &region, &text);
    let span = region.find(&Document::scan(&replacement.bytes)).ok()?;
    (replacement.bytes[span.range()] == *text.as_bytes()).then_some((replacement.bytes, replacement.fences))
}
