//! The changes among the artifacts of a project between two looks at it.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use crate::{disk::WalkError, workspace::Workspace};
use stepmark_model::artifact::{FileHash, ProjectPath};
use stepmark_model::tracked_artifact::TrackedArtifact;

/// The artifacts of a project at one moment, to tell later what has changed since. It can be kept, as JSON
/// for example; the default is that of no artifacts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(BTreeMap<ProjectPath, FileHash>);

#[derive(Debug)]
#[non_exhaustive]
pub struct ArtifactChanges {
    /// The changes, in the order of the paths.
    pub changes: Vec<ArtifactChange>,
    pub revision: Revision,
}

/// A change of an artifact. One that was moved is removed and added.
#[derive(Debug)]
#[non_exhaustive]
pub enum ArtifactChange {
    Added(Box<TrackedArtifact>),
    Changed(Box<TrackedArtifact>),
    /// It is gone, or holds no workflow state any more.
    Removed(ProjectPath),
}

impl ArtifactChange {
    pub fn path(&self) -> &ProjectPath {
        match self {
            Self::Added(artifact) | Self::Changed(artifact) => artifact.path(),
            Self::Removed(path) => path,
        }
    }
}

impl Workspace {
    /// The changes among the artifacts since the project was at `since`. What cannot be read now is as it was
    /// then.
    ///
    /// ```
    /// # use std::fs;
    /// use stepmark_store::workspace::{ArtifactChange, Revision, Workspace};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let project = folder.path();
    /// fs::write(project.join("prd.md"), "---\nstatus: draft\n---\n")?;
    /// let workspace = Workspace::open(project)?;
    /// let first = workspace.changes(&Revision::default())?;
    /// assert!(matches!(&first.changes[..], [ArtifactChange::Added(prd)] if prd.path().as_str() == "prd.md"));
    /// fs::remove_file(project.join("prd.md"))?;
    /// let second = workspace.changes(&first.revision)?;
    /// assert!(matches!(&second.changes[..], [ArtifactChange::Removed(_)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn changes(&self, since: &Revision) -> Result<ArtifactChanges, WalkError> {
        let found = self.artifacts()?;
        let mut before = since.0.clone();
        let (mut changes, mut revision) = (Vec::new(), Revision::default());
        for artifact in found.artifacts {
            let hash = artifact.artifact().file_hash();
            revision.0.insert(artifact.path().clone(), hash);
            match before.remove(artifact.path()) {
                Some(known) if known == hash => {}
                Some(_) => changes.push(ArtifactChange::Changed(Box::new(artifact))),
                None => changes.push(ArtifactChange::Added(Box::new(artifact))),
            }
        }
        let is_unread = |path: &ProjectPath| {
            found.unreadable.iter().any(|error| error.path() == path)
                || found.problems.iter().any(|problem| Path::new(path.as_str()).starts_with(&problem.path))
        };
        for (path, hash) in before {
            if is_unread(&path) {
                revision.0.insert(path, hash);
            } else {
                changes.push(ArtifactChange::Removed(path));
            }
        }
        changes.sort_by(|one, other| one.path().cmp(other.path()));
        Ok(ArtifactChanges { changes, revision })
    }
}
