//! A drafted manifest as a projection.

use std::borrow::Cow;

use crate::manifest::{ManifestDraft, ManifestPlace};
use crate::projection::{self, OnEdit, ProjectedFile, Projection, Published, Witness};
use crate::{Error, commit::CommitOptions};
use stepmark_model::{artifact::ProjectPath, projection::ProjectionFacts};

struct ManifestFile<'d> {
    path: ProjectPath,
    place: &'d ManifestPlace,
    draft: &'d ManifestDraft,
}

impl Projection for ManifestFile<'_> {
    const FACTS: ProjectionFacts = ProjectionFacts::FILES_MANIFEST;

    fn files(&self) -> Vec<ProjectedFile<'_>> {
        vec![ProjectedFile {
            path: Cow::Borrowed(&self.path),
            bytes: Cow::Borrowed(&self.draft.bytes),
            found: self.draft.existing,
            witness: Witness::Memory,
            on_edit: OnEdit::Replace,
            is_foreign: self.place.is_named && !self.draft.is_over_manifest && !self.draft.is_up_to_date(),
        }]
    }
}

pub(super) fn publish(
    options: &CommitOptions,
    place: &ManifestPlace,
    draft: &ManifestDraft,
) -> Result<Published, Error> {
    let (root, path) = place.target()?;
    let help = "name another file with --file, or move this one away";
    projection::publish(root, options, &ManifestFile { path, place, draft })
        .map_err(|error| projection::with_help_of_foreign(error, help))
}
