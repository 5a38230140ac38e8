//! Fixing artifacts: decided on the current bytes, committed and recorded like any change.

use std::cell::RefCell;

use crate::{
    Error,
    checking::{Known, Selection},
    commit::FileDecision,
    git::{
        GitVersion,
        index::{self, IndexEntry},
    },
    repository::ChangedArtifact,
    workspace::Workspace,
};
use stepmark_model::{
    artifact::ProjectPath,
    check::{self, FixedFile, Safety},
    journal::{EventDraft, Kind},
    tracked_artifact::TrackedArtifact,
};

#[derive(Clone, Copy, Debug)]
pub struct Fixes<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn fixes(&self) -> Fixes<'_> {
        Fixes { workspace: self }
    }
}

impl Fixes<'_> {
    pub fn preview(&self, path: &ProjectPath, bytes: &[u8], allowed: Safety) -> Result<FixedFile, Error> {
        check::apply_fixes(bytes, allowed, |bytes| {
            let artifact = self.workspace.read_again(path, bytes)?;
            let found =
                self.workspace.check(std::slice::from_ref(&artifact), Selection::Some, Known::LeftOut)?;
            // Gates on the disk follow when the file is committed.
            let findings = found.files.into_iter().flat_map(|file| file.findings);
            Ok(findings.filter(|finding| finding.rule.is_of_artifact()).collect())
        })
        .map_err(Error::unwritten)
    }

    /// Decides again if another program changes the file meanwhile; respects leases, updates gates, and
    /// records the fixes.
    pub fn make(&self, path: &ProjectPath, allowed: Safety) -> Result<FixedFile, Error> {
        let last: RefCell<Option<FixedFile>> = RefCell::new(None);
        let draft = |_: &ProjectPath| draft(last.borrow().as_ref(), allowed);
        self.workspace.change_files(std::slice::from_ref(path), draft, |found| {
            let Some(Some(bytes)) = found.first() else {
                return Err(Error::missing(path.clone()));
            };
            let fixed = self.preview(path, bytes, allowed)?;
            let is_changed = fixed.bytes != *bytes;
            let decision =
                if is_changed { FileDecision::Write(fixed.bytes.clone()) } else { FileDecision::Keep };
            last.replace(Some(fixed));
            Ok(vec![decision])
        })?;
        // A successful commit has decided at least once.
        last.into_inner().ok_or_else(|| Error::missing(path.clone()).unwritten())
    }
}

pub(crate) fn draft(fixed: Option<&FixedFile>, allowed: Safety) -> EventDraft {
    let command = match allowed {
        Safety::Safe => "check --fix",
        Safety::Unsafe => "check --fix --unsafe-fixes",
    };
    let fixes: Vec<String> = fixed
        .iter()
        .flat_map(|fixed| &fixed.made)
        .map(|remedy| format!("{}: {}", remedy.rule.id, remedy.title))
        .collect();
    EventDraft::new(Kind::CHANGE).with_command(command).with("fixes", fixes)
}

#[derive(Clone, Debug)]
pub struct StagedFix {
    pub path: ProjectPath,
    pub before: Vec<u8>,
    pub fixed: FixedFile,
    pub outcome: StagedOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagedOutcome {
    Unchanged,
    /// Index and work tree have the fixed file.
    Written,
    /// Nothing was written, since index and work tree differ: fixes would mix staged with unstaged changes.
    WorkTreeDiffers,
}

impl Fixes<'_> {
    /// Computes the `allowed` fixes of a changed artifact, checked as in
    /// [`Checks::check_changes`](crate::checking::Checks::check_changes). Writes nothing.
    pub fn preview_staged(
        &self,
        changed: &ChangedArtifact,
        version: &GitVersion,
        allowed: Safety,
    ) -> Result<Option<FixedFile>, Error> {
        let ChangedArtifact::Present { now, before } = changed else { return Ok(None) };
        let fixed = check::apply_fixes(now.artifact().bytes(), allowed, |bytes| {
            let now = self.workspace.read_again(now.path(), bytes)?;
            let again = ChangedArtifact::Present { now, before: before.clone() };
            let found = self.workspace.checks().check_changes(std::slice::from_ref(&again), version)?;
            Ok::<_, Error>(found.files.into_iter().flat_map(|file| file.findings).collect())
        });
        let fixed = fixed.map_err(Error::unwritten)?;
        Ok(Some(fixed))
    }

    /// Makes the `allowed` fixes in the work tree, as a normal change, and then in the index. Writes nothing
    /// if the two differ.
    pub fn make_staged(
        &self,
        changed: &ChangedArtifact,
        version: &GitVersion,
        allowed: Safety,
    ) -> Result<Option<StagedFix>, Error> {
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
    ) -> Result<StagedOutcome, Error> {
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
        written.map_err(|source| {
            let message = format!("`{path}` is fixed in the work tree, but not in the index: `git add` it");
            Error::io(message, source)
        })?;
        Ok(StagedOutcome::Written)
    }

    /// Returns false if the work tree does not hold `before`.
    fn replace_in_work_tree(
        &self,
        path: &ProjectPath,
        before: &[u8],
        fixed: &FixedFile,
        allowed: Safety,
    ) -> Result<bool, Error> {
        match self.workspace.read_file(path) {
            Ok(bytes) if bytes == before => {}
            Err(error) if !error.is_missing() => return Err(error.unwritten()),
            _ => return Ok(false),
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
