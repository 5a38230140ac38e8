//! Making fixes in what is staged: in the index and in the work tree where both hold the same, else in
//! neither.

use std::cell::RefCell;

use crate::fixing::{Fixes, draft};
use crate::git::{GitVersion, GitVersionError, index, index::IndexEntry};
use crate::{changes::ChangeError, commit::FileDecision};
use crate::{repository::ChangedArtifact, workspace::ArtifactError};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::ProjectPath,
    check::{self, FixedFile, Safety},
};

#[derive(Clone, Debug)]
pub struct StagedFix {
    pub path: ProjectPath,
    /// The bytes that the index held.
    pub before: Vec<u8>,
    pub fixed: FixedFile,
    pub outcome: StagedOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagedOutcome {
    Unchanged,
    /// The index and the work tree hold the fixed file.
    Written,
    /// The work tree holds another file than the index, so nothing was written: the fixes would mix what is
    /// staged with what is not.
    WorkTreeDiffers,
}

#[derive(Debug, thiserror::Error)]
pub enum StagedFixError {
    /// Its copy in the work tree was not changed; nothing was.
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error(transparent)]
    Git(#[from] GitVersionError),
    #[error("`{path}` is fixed in the work tree, but not in the index: `git add` it")]
    NotStaged { path: ProjectPath, source: GitVersionError },
}

impl Fixes<'_> {
    /// Applies the fixes that are `allowed` to a changed artifact, checked as in
    /// [`Checks::check_changes`](crate::checking::Checks::check_changes). Nothing is written.
    pub fn preview_staged(
        &self,
        changed: &ChangedArtifact,
        version: &GitVersion,
        allowed: Safety,
    ) -> Result<Option<FixedFile>, ChangeError> {
        let ChangedArtifact::Present { now, before } = changed else { return Ok(None) };
        let fixed = check::apply_fixes(now.artifact().bytes(), allowed, |bytes| {
            let now = self.workspace.read_again(now.path(), bytes)?;
            let again = ChangedArtifact::Present { now, before: before.clone() };
            let found = self.workspace.checks().check_changes(std::slice::from_ref(&again), version)?;
            Ok::<_, ChangeError>(found.files.into_iter().flat_map(|file| file.findings).collect())
        })?;
        Ok(Some(fixed))
    }

    /// Makes the fixes that are `allowed` in a staged artifact: in the work tree, as any change is made, and
    /// then in the index. Where the two differ to the byte, nothing is written.
    pub fn make_staged(
        &self,
        changed: &ChangedArtifact,
        version: &GitVersion,
        allowed: Safety,
    ) -> Result<Option<StagedFix>, StagedFixError> {
        let ChangedArtifact::Present { now, .. } = changed else { return Ok(None) };
        let Some(fixed) = self.preview_staged(changed, version, allowed)? else { return Ok(None) };
        let outcome = self.write_staged(now, &fixed, allowed)?;
        let (path, before) = (now.path().clone(), now.artifact().bytes().to_vec());
        Ok(Some(StagedFix { path, before, fixed, outcome }))
    }

    fn write_staged(
        &self,
        staged: &TrackedArtifact,
        fixed: &FixedFile,
        allowed: Safety,
    ) -> Result<StagedOutcome, StagedFixError> {
        let (path, before) = (staged.path(), staged.artifact().bytes());
        if fixed.bytes == before {
            return Ok(StagedOutcome::Unchanged);
        }
        let entry = IndexEntry::find(self.workspace.root(), path)?;
        let Some(entry) = entry else { return Ok(StagedOutcome::WorkTreeDiffers) };
        if !entry.holds(self.workspace.root(), before)?
            || !self.replace_in_work_tree(path, before, fixed, allowed)?
        {
            return Ok(StagedOutcome::WorkTreeDiffers);
        }
        let written = entry
            .with_bytes(self.workspace.root(), &fixed.bytes)
            .and_then(|entry| index::write(self.workspace.root(), std::slice::from_ref(&entry)));
        written.map_err(|source| StagedFixError::NotStaged { path: path.clone(), source })?;
        Ok(StagedOutcome::Written)
    }

    /// Writes the fixed file where the work tree holds `before`; whether it did.
    fn replace_in_work_tree(
        &self,
        path: &ProjectPath,
        before: &[u8],
        fixed: &FixedFile,
        allowed: Safety,
    ) -> Result<bool, ChangeError> {
        match self.workspace.read_file(path) {
            Ok(bytes) if bytes == before => {}
            Ok(_) | Err(ArtifactError::Missing { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let is_same = RefCell::new(false);
        let draft = |_: &ProjectPath| draft(Some(fixed), allowed);
        self.workspace.change_files(std::slice::from_ref(path), draft, |found| {
            let holds = matches!(found.first(), Some(Some(bytes)) if *bytes == before);
            is_same.replace(holds);
            Ok(vec![if holds { FileDecision::Write(fixed.bytes.clone()) } else { FileDecision::Keep }])
        })?;
        Ok(is_same.into_inner())
    }
}
