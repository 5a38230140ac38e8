//! A drafted manifest made durable.

use std::path::PathBuf;

use crate::commit::{CommitError, CommitOptions, Expected, Outcome, replace_whole};
use crate::manifest::{ManifestDraft, ManifestPlace, ManifestPlaceError};

/// Why a drafted manifest was not written.
#[derive(Debug, thiserror::Error)]
pub enum ManifestPublishError {
    /// It has no place to go to.
    #[error(transparent)]
    Place(#[from] ManifestPlaceError),
    /// The file that was named is there and is no manifest.
    #[error("cannot write the manifest `{}`: a file is there that does not begin with a manifest's header; nothing was changed", manifest.display())]
    Foreign {
        /// The file.
        manifest: PathBuf,
    },
    /// It cannot be written, or somebody else wrote it meanwhile.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// Writes `draft` to its place, atomically, if its place still holds what the draft was made from. Nothing is written
/// where these bytes are there already.
///
/// # Errors
/// When the place is outside of the project or not to be written, or the commit fails; then nothing is changed.
pub fn publish(place: &ManifestPlace, draft: &ManifestDraft) -> Result<Outcome, ManifestPublishError> {
    let (project, path) = place.target()?;
    if draft.is_up_to_date() {
        return Ok(Outcome::Unchanged);
    }
    if place.is_named && !draft.is_over_manifest {
        return Err(ManifestPublishError::Foreign { manifest: place.manifest().to_owned() });
    }
    let expected = draft.existing.map_or(Expected::Absent, Expected::Hash);
    Ok(replace_whole(project, &path, expected, &draft.bytes, &CommitOptions::default())?)
}
