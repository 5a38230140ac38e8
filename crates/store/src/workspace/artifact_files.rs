//! Reading all artifacts in parallel.

use std::{io, ops::Range, sync::atomic::Ordering};

use crate::Error;
use crate::disk::{
    ResolveError, file_reading::read_within_limit, folder::EntryKind, folder::Folder, walk, walk::Visitor,
    walk::WalkProblem, walk::WalkProblemKind, walk::Walked,
};
use crate::workspace::{Artifacts, Workspace};
use stepmark_model::artifact::{Artifact, ProjectPath};
use stepmark_model::tracked_artifact::TrackedArtifact;

pub(crate) fn read_all(workspace: &Workspace) -> Result<Artifacts, Error> {
    read_where(workspace, &|_| true)
}

/// Only files with wanted bytes are parsed.
pub(crate) fn read_where(
    workspace: &Workspace,
    is_wanted: &(dyn Fn(&[u8]) -> bool + Sync),
) -> Result<Artifacts, Error> {
    let walked = walk_artifacts(workspace, &|| Reader::new(workspace, is_wanted))?;
    Ok(gathered(workspace, walked.visitors, walked.problems))
}

pub(crate) fn walk_artifacts<V: Visitor>(
    workspace: &Workspace,
    new_visitor: &(dyn Fn() -> V + Sync),
) -> Result<Walked<V>, Error> {
    let configuration = workspace.configuration();
    let enters = |path: &str, kind: EntryKind| {
        kind == EntryKind::Folder
            && ProjectPath::new(path).is_ok_and(|path| !configuration.skips_folder(&path))
    };
    walk::walk(workspace.root().path(), &enters, new_visitor)
}

pub(crate) fn gathered(
    workspace: &Workspace,
    readers: Vec<Reader<'_>>,
    problems: Vec<WalkProblem>,
) -> Artifacts {
    let configuration = workspace.configuration();
    let mut found = Artifacts { problems, ..Artifacts::default() };
    // Other files may have any name.
    found.problems.retain(|problem| {
        problem.kind != WalkProblemKind::NameNotUtf8
            || ProjectPath::new(&problem.path).is_ok_and(|path| configuration.is_artifact(&path))
    });
    for reader in readers {
        found.files += reader.looked_at;
        found.artifacts.extend(reader.tracked);
        found.stateless.extend(reader.stateless);
        found.unreadable.extend(reader.unreadable);
        found.problems.extend(reader.broken_links);
    }
    found.problems.sort();
    found.artifacts.sort_by(|one, other| one.path().cmp(other.path()));
    found.unreadable.sort_by_key(ToString::to_string);
    found
}

fn broken_link(path: &ProjectPath, reason: String) -> WalkProblem {
    WalkProblem { path: path.to_string(), kind: WalkProblemKind::BrokenLink { reason } }
}

pub(crate) struct Reader<'w> {
    workspace: &'w Workspace,
    is_wanted: &'w (dyn Fn(&[u8]) -> bool + Sync),
    looked_at: usize,
    tracked: Vec<TrackedArtifact>,
    stateless: Vec<ProjectPath>,
    unreadable: Vec<Error>,
    broken_links: Vec<WalkProblem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    Tracked,
    /// Without workflow state, a dangling link, or gone.
    Stateless,
    /// Unreadable, and noted.
    Failed,
}

impl Visitor for Reader<'_> {
    fn visit(&mut self, folder: &Folder, places: Range<usize>) {
        for place in places {
            if let Some(path) = self.candidate(folder, place) {
                self.look(folder, place, path);
            }
        }
    }
}

impl<'w> Reader<'w> {
    pub(crate) const fn new(workspace: &'w Workspace, is_wanted: &'w (dyn Fn(&[u8]) -> bool + Sync)) -> Self {
        Self {
            workspace,
            is_wanted,
            looked_at: 0,
            tracked: Vec::new(),
            stateless: Vec::new(),
            unreadable: Vec::new(),
            broken_links: Vec::new(),
        }
    }

    pub(crate) fn candidate(&self, folder: &Folder, place: usize) -> Option<ProjectPath> {
        if !matches!(folder.kind(place), EntryKind::File | EntryKind::Link) {
            return None;
        }
        let path = ProjectPath::new(folder.path_of(folder.name(place))).ok()?;
        self.workspace.configuration().is_artifact(&path).then_some(path)
    }

    pub(crate) fn look(&mut self, folder: &Folder, place: usize, path: ProjectPath) -> Looked {
        self.passed();
        match self.read(folder, place, path) {
            Ok(Some(artifact)) => {
                self.tracked.push(artifact);
                Looked::Tracked
            }
            Ok(None) => Looked::Stateless,
            Err(error) => {
                self.unreadable.push(error);
                Looked::Failed
            }
        }
    }

    pub(crate) fn passed(&mut self) {
        self.looked_at += 1;
        self.workspace.files_looked_at().fetch_add(1, Ordering::Relaxed);
    }

    fn read(
        &mut self,
        folder: &Folder,
        place: usize,
        path: ProjectPath,
    ) -> Result<Option<TrackedArtifact>, Error> {
        let is_link = folder.kind(place) == EntryKind::Link;
        if is_link && let Err(error) = self.workspace.root().resolve(&path) {
            let reason = match error {
                ResolveError::Unreachable { source, .. } => source.to_string(),
                _ => "it leads out of the project".to_owned(),
            };
            self.broken_links.push(broken_link(&path, reason));
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = folder.open_file(place).and_then(|file| read_within_limit(file, &mut bytes));
        match read {
            Ok(_) => {}
            Err(error) if is_link && error.kind() == io::ErrorKind::NotFound => {
                self.broken_links.push(broken_link(&path, error.to_string()));
                return Ok(None);
            }
            // Gone since its name was read, or a link to a folder.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => {
                return Ok(None);
            }
            Err(source) => return Err(Error::unreadable(&path, source)),
        }
        if !(self.is_wanted)(&bytes) {
            self.stateless.push(path);
            return Ok(None);
        }
        let artifact = Artifact::read(path, bytes);
        if !artifact.is_tracked() {
            self.stateless.push(artifact.path().clone());
            return Ok(None);
        }
        Ok(Some(self.workspace.track(artifact)?))
    }
}
