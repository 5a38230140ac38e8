//! Artifacts among the changed files of a repository.

use std::collections::BTreeSet;

use crate::{
    Error, ErrorKind,
    disk::{WalkProblem, WalkProblemKind, file_reading::too_large, root::Root},
    git::{
        ChangedFile, GitChanges, GitVersion, OverLimit,
        process::is_repository,
        version::{Object, ObjectReader},
    },
    repository::Repository,
};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    bmad::sprint::SprintStatus,
    journal::{ArtifactKey, ArtifactState, Digests},
    projection::files_manifest::DEFAULT_MANIFEST,
    tracked_artifact::TrackedArtifact,
};

#[derive(Clone, Debug)]
pub enum ChangedArtifact {
    Present {
        /// Without state if that was removed.
        now: TrackedArtifact,
        /// With its former path; `None` if it is new, or had no state.
        before: Option<Box<TrackedArtifact>>,
    },
    /// Unchanged, but its sprint status disagrees, or it names one that is gone.
    Unchanged {
        now: TrackedArtifact,
    },
    /// In addition to other changes: a merge took it from another state.
    Merged {
        now: TrackedArtifact,
        before: Box<TrackedArtifact>,
    },
    Deleted {
        before: TrackedArtifact,
    },
}

#[derive(Debug, Default)]
pub struct ChangedArtifacts {
    pub artifacts: Vec<ChangedArtifact>,
    /// Names that are not UTF-8.
    pub problems: Vec<WalkProblem>,
    /// Conflicts, and files too large to read.
    pub unreadable: Vec<Error>,
}

impl ChangedArtifact {
    /// The current one, or the old one if it is gone.
    pub const fn latest(&self) -> &TrackedArtifact {
        match self {
            Self::Present { now: latest, .. }
            | Self::Unchanged { now: latest }
            | Self::Merged { now: latest, .. }
            | Self::Deleted { before: latest } => latest,
        }
    }

    pub(crate) const fn now(&self) -> Option<&TrackedArtifact> {
        match self {
            Self::Present { now, .. } | Self::Unchanged { now } => Some(now),
            Self::Merged { .. } | Self::Deleted { .. } => None,
        }
    }

    pub(crate) fn left(&self) -> Option<&ProjectPath> {
        match self {
            Self::Present { now, before: Some(before) } => {
                Some(before.path()).filter(|path| *path != now.path())
            }
            Self::Deleted { before } => Some(before.path()),
            Self::Present { before: None, .. } | Self::Unchanged { .. } | Self::Merged { .. } => None,
        }
    }

    fn merged(self) -> Option<Self> {
        match self {
            Self::Present { now, before: Some(before) } => Some(Self::Merged { now, before }),
            _ => None,
        }
    }

    pub(crate) fn sides(&self) -> impl Iterator<Item = &TrackedArtifact> {
        let before = match self {
            Self::Present { before, .. } => before.as_deref(),
            Self::Deleted { before } => Some(before),
            Self::Unchanged { .. } | Self::Merged { .. } => None,
        };
        self.now().into_iter().chain(before)
    }
}

impl Repository<'_> {
    /// Selected by this workspace's configuration. Workflows are from the work tree: BMAD's own files are
    /// often not in git.
    pub fn changed_artifacts(&self, version: &GitVersion) -> Result<ChangedArtifacts, Error> {
        // Git is still listing: meanwhile, find the workflows.
        self.suppose_manifest(version);
        self.workspace.workflows();
        let GitChanges { files, unmerged, over_limit, not_utf8 } = version
            .changes(&|path| self.workspace.configuration().is_artifact(path) || SprintStatus::is_at(path))?;
        let mut found = ChangedArtifacts::default();
        let (ledgers, files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| SprintStatus::is_at(&file.path));
        for file in files {
            found.artifacts.extend(self.changed_artifact(file)?);
        }
        found.artifacts = join_moved(found.artifacts);
        let name_problem = |path| WalkProblem { path, kind: WalkProblemKind::NameNotUtf8 };
        found.problems = not_utf8.into_iter().map(name_problem).collect();
        let in_conflict = |path: ProjectPath| {
            let message = format!("a merge left `{path}` in conflict: resolve it, then `git add` it");
            Error::new(ErrorKind::Io, message).at(&path)
        };
        found.unreadable.extend(unmerged.into_iter().map(in_conflict));
        let too_large = |OverLimit { path, .. }| Error::unreadable(&path, too_large());
        found.unreadable.extend(over_limit.into_iter().map(too_large));
        for file in version.merged_changes(&|path| self.workspace.configuration().is_artifact(path))?.files {
            let merged = self.changed_artifact(file)?.into_iter().filter_map(ChangedArtifact::merged);
            found.artifacts.extend(merged);
        }
        found.artifacts.sort_by(|one, other| one.latest().path().cmp(other.latest().path()));
        let known: BTreeSet<ProjectPath> =
            found.artifacts.iter().map(|changed| changed.latest().path().clone()).collect();
        let stories = ledgers.iter().flat_map(|ledger| {
            SprintStatus::stories_that_differ(
                &ledger.path,
                [ledger.before.as_deref(), ledger.after.as_deref()],
            )
        });
        let mut beside: BTreeSet<ProjectPath> = stories.collect();
        let left = found.artifacts.iter().filter_map(ChangedArtifact::left);
        let names: Vec<&str> = left.map(ProjectPath::file_name).collect();
        if !names.is_empty() {
            beside.extend(version.files_with(&names)?);
        }
        for path in beside.difference(&known).filter(|path| self.workspace.configuration().is_artifact(path))
        {
            let Some(bytes) = version.read(path)? else { continue };
            let artifact = Artifact::read(path.clone(), bytes);
            if artifact.is_tracked() {
                found.artifacts.push(ChangedArtifact::Unchanged { now: self.workspace.track(artifact)? });
            }
        }
        Ok(found)
    }

    fn suppose_manifest(&self, version: &GitVersion) {
        let manifest = ProjectPath::new(DEFAULT_MANIFEST).ok();
        // Git may be able to read it.
        let read = manifest.and_then(|path| Some((self.workspace.read_file(&path).ok()?, path)));
        if let Some((bytes, path)) = read.filter(|(bytes, _)| bytes.len() >= WORTH_SUPPOSING) {
            version.suppose(&path, bytes);
        }
    }

    /// Two, if git took another artifact for the moved one.
    fn changed_artifact(&self, file: ChangedFile) -> Result<Vec<ChangedArtifact>, Error> {
        let ChangedFile { path, renamed_from, before, after } = file;
        let was_moved = renamed_from.is_some();
        let earlier_path = renamed_from.unwrap_or_else(|| path.clone());
        let before = before.map(|bytes| Artifact::read(earlier_path, bytes)).filter(Artifact::is_tracked);
        // Also files that lost their state.
        let is_looked_at = |after: &Artifact| before.is_some() || after.is_tracked();
        let after = after.map(|bytes| Artifact::read(path, bytes)).filter(is_looked_at);
        let track =
            |artifact: Option<Artifact>| artifact.map(|artifact| self.workspace.track(artifact)).transpose();
        Ok(match (track(before)?, track(after)?) {
            (Some(before), Some(now)) if was_moved && are_strangers(&before, &now) => {
                vec![ChangedArtifact::Deleted { before }, ChangedArtifact::Present { now, before: None }]
            }
            (before, Some(now)) => vec![ChangedArtifact::Present { now, before: before.map(Box::new) }],
            (Some(before), None) => vec![ChangedArtifact::Deleted { before }],
            (None, None) => Vec::new(),
        })
    }
}

/// In bytes: from here on, reading and hashing the file is faster than git's unpacking.
const WORTH_SUPPOSING: usize = 128 * 1024;

/// Joins a deleted and a new artifact with one id: moved, and changed so much that git sees two files.
fn join_moved(changed: Vec<ChangedArtifact>) -> Vec<ChangedArtifact> {
    let mut deleted = Vec::new();
    let mut joined = Vec::new();
    for changed in changed {
        match changed {
            ChangedArtifact::Deleted { before } => deleted.push(before),
            other => joined.push(other),
        }
    }
    for changed in &mut joined {
        if let ChangedArtifact::Present { now, before: before @ None } = changed {
            let key = ArtifactKey::of(now.artifact());
            let is_same =
                |deleted: &TrackedArtifact| !key.is_path() && ArtifactKey::of(deleted.artifact()) == key;
            *before = deleted.iter().position(is_same).map(|place| Box::new(deleted.remove(place)));
        }
    }
    joined.extend(deleted.into_iter().map(|before| ChangedArtifact::Deleted { before }));
    joined
}

/// True for different ids: git may take two files from one template for one.
fn are_strangers(one: &TrackedArtifact, other: &TrackedArtifact) -> bool {
    let keys = [one, other].map(|artifact| ArtifactKey::of(artifact.artifact()));
    keys[0] != keys[1] && keys.iter().all(|key| !key.is_path())
}

/// HEAD and the index. Git starts at the first query; without git all answers are no.
#[derive(Debug)]
pub struct CheckedOut {
    root: Root,
    /// `None` before the first query; `Some(None)` if git fails.
    objects: Option<Option<ObjectReader>>,
}

impl CheckedOut {
    pub(crate) fn of(root: &Root) -> Self {
        Self { root: root.clone(), objects: None }
    }

    /// True if HEAD or the index has the file in the state `file` (`None`: no file): a checkout may have
    /// brought it.
    pub fn explains(&mut self, path: &ProjectPath, file: Option<Digests>) -> bool {
        let Some(found) = self.read(path, &[format!("HEAD:./{path}"), format!(":./{path}")]) else {
            return false;
        };
        found.iter().any(|object| match object {
            Object::Blob(bytes) => {
                file.is_some() && Digests::are_same_state(ArtifactState::of(path, Some(bytes)).digests, file)
            }
            Object::Missing => file.is_none(),
            Object::OverLimit(_) | Object::Folder(_) | Object::Other => false,
        })
    }

    pub fn lacks(&mut self, path: &ProjectPath) -> bool {
        let found = self.read(path, &["HEAD".to_owned(), format!("HEAD:./{path}")]);
        found.is_some_and(|found| found == [Object::Other, Object::Missing])
    }

    pub fn has(&mut self, path: &ProjectPath) -> bool {
        let found = self.read(path, &[format!("HEAD:./{path}")]).unwrap_or_default();
        matches!(found.first(), Some(Object::Blob(_) | Object::OverLimit(_)))
    }

    /// Ignores line ends.
    #[cfg(feature = "write")]
    pub(crate) fn keeps(&mut self, path: &ProjectPath, bytes: &[u8]) -> bool {
        let found = self.read(path, &[format!("HEAD:./{path}"), format!(":./{path}")]).unwrap_or_default();
        let with_lf = crate::repository::git::with_lf(bytes);
        found
            .iter()
            .any(|object| matches!(object, Object::Blob(kept) if **kept == *bytes || **kept == *with_lf))
    }

    fn read(&mut self, path: &ProjectPath, names: &[String]) -> Option<Vec<Object>> {
        if path.as_str().contains('\n') {
            return None;
        }
        let start =
            || is_repository(&self.root).then(|| ObjectReader::start(self.root.path()).ok()).flatten();
        self.objects.get_or_insert_with(start).as_mut()?.read(names).ok()
    }
}

impl Repository<'_> {
    pub fn checked_out(&self) -> CheckedOut {
        CheckedOut::of(self.workspace.root())
    }
}
