//! Making fixes in artifacts of the project: decided on the bytes that are there, committed and recorded like
//! any change.

mod staged;

pub use staged::{StagedFix, StagedFixError, StagedOutcome};

use std::cell::RefCell;

use crate::changes::ChangeError;
use crate::checking::{Known, Selection};
use crate::commit::FileDecision;
use crate::workspace::{ArtifactError, Workspace};
use stepmark_model::{
    artifact::ProjectPath,
    check::{self, FixedFile, Safety},
    journal::{EventDraft, Kind},
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
    pub fn preview(
        &self,
        path: &ProjectPath,
        bytes: &[u8],
        allowed: Safety,
    ) -> Result<FixedFile, ChangeError> {
        check::apply_fixes(bytes, allowed, |bytes| {
            let artifact = self.workspace.read_again(path, bytes)?;
            let found =
                self.workspace.check(std::slice::from_ref(&artifact), Selection::Some, Known::LeftOut)?;
            // Gates on the disk are those of the file as it stands there; they follow when it is committed.
            let findings = found.files.into_iter().flat_map(|file| file.findings);
            Ok(findings.filter(|finding| finding.rule.is_of_artifact()).collect())
        })
    }

    /// Makes the fixes that are `allowed` in the artifact at `path`. They are decided again where another
    /// program changes the file meanwhile; a lease of somebody else is respected, gates follow, and history
    /// is told which fixes were made.
    pub fn make(&self, path: &ProjectPath, allowed: Safety) -> Result<FixedFile, ChangeError> {
        let last: RefCell<Option<FixedFile>> = RefCell::new(None);
        let draft = |_: &ProjectPath| draft(last.borrow().as_ref(), allowed);
        self.workspace.change_files(std::slice::from_ref(path), draft, |found| {
            let Some(Some(bytes)) = found.first() else {
                return Err(ArtifactError::Missing { path: path.clone() }.into());
            };
            let fixed = self.preview(path, bytes, allowed)?;
            let is_changed = fixed.bytes != *bytes;
            let decision =
                if is_changed { FileDecision::Write(fixed.bytes.clone()) } else { FileDecision::Keep };
            last.replace(Some(fixed));
            Ok(vec![decision])
        })?;
        // A commit that ends well has decided at least once.
        last.into_inner().ok_or_else(|| ArtifactError::Missing { path: path.clone() }.into())
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
