//! Removing artifacts.

use std::{cell::Cell, rc::Rc};

use crate::changes::ChangeError;
use crate::commit::{FileDecision, Halt};
use crate::repository::CheckedOut;
use crate::workspace::{ArtifactError, Workspace};
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath},
    delegation::Member,
    journal::{EventDraft, Kind},
    tracked_artifact::TrackedArtifact,
};

/// Says in the event of a removal that git did not have the bytes.
pub(crate) const IN_GIT: &str = "in_git";

/// The hash of the bytes that git was asked about, and whether it has them.
type Answer = (FileHash, bool);

impl Workspace {
    /// Removes the file of an artifact; history keeps what its frontmatter said, who removed it and why, and
    /// git the bytes of the file. `force` also removes bytes that git does not have, and an artifact that
    /// work was delegated from.
    ///
    /// # Errors
    /// When it is not there, cannot be removed, or only by force.
    pub fn remove(&self, path: &ProjectPath, reason: Option<String>, force: bool) -> Result<(), ChangeError> {
        let draft = EventDraft::new(Kind::DELETE)
            .with_command(format!("remove {path}"))
            .insisting(force.then(|| reason.clone().unwrap_or_else(|| "removed by force".to_owned())))
            .with_reason(reason);
        let answer: Rc<Cell<Option<Answer>>> = Rc::default();
        let draft = |_: &ProjectPath| match answer.get() {
            Some((_, false)) => draft.clone().with(IN_GIT, false),
            _ => draft.clone(),
        };
        let outcomes = self.change_files_asking(std::slice::from_ref(path), draft, |found| {
            let [Some(bytes)] = *found else {
                return Err(ChangeError::from(ArtifactError::Missing { path: path.clone() }).into());
            };
            let hash = FileHash::of(bytes);
            let Some((_, is_in_git)) = answer.get().filter(|(asked, _)| *asked == hash) else {
                let (answer, root) = (Rc::clone(&answer), self.root().clone());
                let (path, bytes) = (path.clone(), bytes.to_vec());
                return Err(Halt::Ask(Box::new(move || {
                    answer.set(Some((hash, CheckedOut::of(&root).keeps(&path, &bytes))));
                })));
            };
            if !force && !is_in_git {
                return Err(ChangeError::NotInGit { path: path.clone() }.into());
            }
            let children = if force { Vec::new() } else { self.children(path, bytes)? };
            if children.is_empty() {
                Ok(vec![FileDecision::Delete])
            } else {
                Err(ChangeError::HasChildren { path: path.clone(), children }.into())
            }
        });
        outcomes?;
        self.follow_records(path);
        Ok(())
    }

    /// The artifacts that were delegated from the artifact of `bytes` and would have no parent without it.
    /// All artifacts are read.
    fn children(&self, path: &ProjectPath, bytes: &[u8]) -> Result<Vec<ProjectPath>, ChangeError> {
        let member = Member::of(&Artifact::read(path.clone(), bytes.to_vec()), None);
        let Some(id) = member.id() else { return Ok(Vec::new()) };
        let others: Vec<Member> = self.artifacts()?.artifacts.iter().map(TrackedArtifact::member).collect();
        let others = || others.iter().filter(|other| other.path != *path);
        if others().any(|other| other.id() == Some(id)) {
            return Ok(Vec::new());
        }
        Ok(others().filter(|other| other.parent_id() == Some(id)).map(|other| other.path.clone()).collect())
    }
}
