//! The way up to the root of a chain, reading only its files.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use crate::{Error, workspace::Workspace};
use serde::{Deserialize, Serialize};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    delegation::Member,
    tracked_artifact::TrackedArtifact,
};

#[derive(Clone, Debug)]
pub struct ChainLink {
    pub id: String,
    /// `None` if no artifact has the id.
    pub artifact: Option<TrackedArtifact>,
}

/// Longer chains count as cycles.
const LONGEST: usize = 1000;

pub(crate) const FOLDER_SUFFIX: &str = ".delegations";

#[derive(Clone, Copy, Debug)]
pub struct Delegations<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn delegations(&self) -> Delegations<'_> {
        Delegations { workspace: self }
    }

    fn find_by_id(
        &self,
        id: &str,
        child: &ProjectPath,
        all: &mut Option<HashMap<String, ProjectPath>>,
    ) -> Option<TrackedArtifact> {
        let read = |path: &ProjectPath| {
            let artifact = self.artifact(path).ok()?;
            (Member::of(artifact.artifact(), None).id() == Some(id)).then_some(artifact)
        };
        let guessed = parent_of_folder(child);
        if let Some(found) = guessed.as_ref().and_then(read) {
            return Some(found);
        }
        #[cfg(feature = "history")]
        if let Some(found) = self.history().last_path(id, child).as_ref().and_then(read) {
            return Some(found);
        }
        let all = all.get_or_insert_with(|| {
            let artifacts = self.artifacts().map(|found| found.artifacts).unwrap_or_default();
            let named = |artifact: &TrackedArtifact| {
                let member = Member::of(artifact.artifact(), None);
                Some((member.id()?.to_owned(), member.path.clone()))
            };
            artifacts.iter().filter_map(named).collect()
        });
        all.get(id).and_then(read)
    }
}

impl Delegations<'_> {
    /// The root first. Searches a parent where delegation puts it, then where history last saw it, then in
    /// all artifacts; its id is always read, since a path proves nothing.
    pub fn chain(&self, path: &ProjectPath) -> Result<Vec<ChainLink>, Error> {
        let mut artifact = self.workspace.artifact(path)?;
        let mut links = Vec::new();
        let mut all = None;
        loop {
            let member = Member::of(artifact.artifact(), None);
            let id = member.id().unwrap_or_default().to_owned();
            let parent = member.parent_id().map(str::to_owned);
            let here = artifact.path().clone();
            let is_known = links.iter().any(|link: &ChainLink| link.id == id) || links.len() >= LONGEST;
            links.push(ChainLink { id, artifact: Some(artifact) });
            let Some(parent) = parent.filter(|_| !is_known) else { break };
            match self.workspace.find_by_id(&parent, &here, &mut all) {
                Some(found) => artifact = found,
                None => {
                    links.push(ChainLink { id: parent, artifact: None });
                    break;
                }
            }
        }
        links.reverse();
        Ok(links)
    }
}

fn parent_of_folder(child: &ProjectPath) -> Option<ProjectPath> {
    let folder = child.parent()?;
    let stem = folder.file_name().strip_suffix(FOLDER_SUFFIX)?;
    let name = format!("{stem}.md");
    folder.parent().map_or_else(|| ProjectPath::new(&name), |above| above.join(&name)).ok()
}

/// A snapshot of artifacts, to find later changes. Can be stored; the default is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(BTreeMap<ProjectPath, FileHash>);

#[derive(Debug)]
#[non_exhaustive]
pub struct ArtifactChanges {
    /// In path order.
    pub changes: Vec<ArtifactChange>,
    pub revision: Revision,
}

/// A move is a removal and an addition.
#[derive(Debug)]
#[non_exhaustive]
pub enum ArtifactChange {
    Added(Box<TrackedArtifact>),
    Changed(Box<TrackedArtifact>),
    /// Gone, or without workflow state now.
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
    /// The changes among the artifacts since `since`; what cannot be read now is as it was then.
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
    pub fn changes(&self, since: &Revision) -> Result<ArtifactChanges, Error> {
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
            found.unreadable.iter().any(|error| error.path() == Some(path))
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
