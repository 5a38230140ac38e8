//! The files in which packs of the project list their artifacts.

use std::borrow::Cow;

use super::{OnEdit, ProjectedFile, Projection, ProjectionError, Published, Witness, was_written};
use super::{publish::publish_locked, record_files::lock};
use crate::commit::{CommitError, make_folders_to, read_whole};
use crate::workspace::Workspace;
use crate::workspace::claimed::kind_of;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    check::{Finding, rules::systems::projection_behind_finding},
    packs::{FileDeclaration, Pack},
    projection::{ProjectionFacts, is_pack_file, order_of, render},
    spelling::with_causes,
    tracked_artifact::TrackedArtifact,
    transition::Remark,
};

const COMMAND: &str = "stepmark project --pack-files";

#[derive(Debug, Default)]
pub struct PackFiles(Vec<PackFile>);

#[derive(Debug)]
struct PackFile {
    path: ProjectPath,
    bytes: Vec<u8>,
    found: Option<Vec<u8>>,
    is_foreign: bool,
}

impl Projection for PackFiles {
    const FACTS: ProjectionFacts = ProjectionFacts::PACK_FILES;

    fn files(&self) -> Vec<ProjectedFile<'_>> {
        let file = |own: &'_ PackFile| ProjectedFile {
            path: Cow::Owned(own.path.clone()),
            bytes: Cow::Owned(own.bytes.clone()),
            found: own.found.as_deref().map(FileHash::of),
            witness: Witness::Memory,
            on_edit: OnEdit::Keep,
            is_foreign: own.is_foreign,
        };
        self.0.iter().map(file).collect()
    }
}

impl PackFiles {
    /// The findings in those that do not say what the artifacts say.
    pub fn findings(&self) -> Vec<Finding> {
        let odd = self.0.iter().filter(|own| own.found.as_ref() != Some(&own.bytes));
        odd.map(|own| projection_behind_finding(&own.path, COMMAND)).collect()
    }
}

impl Workspace {
    fn declared_files(&self) -> impl Iterator<Item = (&Pack, &FileDeclaration)> {
        self.configuration()
            .packs()
            .iter()
            .flat_map(|own| own.pack.files.iter().map(|file| (&own.pack, file)))
    }

    pub fn has_pack_files(&self) -> bool {
        self.declared_files().next().is_some()
    }

    pub(crate) fn pack_files(
        &self,
        claimed: Option<&[TrackedArtifact]>,
    ) -> Result<PackFiles, ProjectionError> {
        if !self.has_pack_files() {
            return Ok(PackFiles::default());
        }
        // The files are read before the artifacts: another process that publishes meanwhile is noticed.
        let mut places = Vec::new();
        for (_, file) in self.declared_files() {
            let path = ProjectPath::new(&file.path.0)?;
            places.push((read_whole(self.root(), &path)?, path));
        }
        let claimed =
            claimed.map_or_else(|| self.claimed(|_| true).map(Cow::Owned), |own| Ok(Cow::Borrowed(own)))?;
        let mut files = Vec::new();
        for ((pack, file), (found, path)) in self.declared_files().zip(places) {
            let is_listed = |own: &&TrackedArtifact| {
                kind_of(own).is_some_and(|kind| kind.system == pack.name && kind.name == file.kind.0)
            };
            let listed = claimed.iter().filter(is_listed);
            let state = |own: &TrackedArtifact| own.artifact().state_value().unwrap_or_default();
            let states: Vec<_> = listed.map(|own| (own.path(), state(own))).collect();
            let mut rows: Vec<_> = states.iter().map(|(path, state)| (*path, state)).collect();
            if let Some(own) = pack.kinds.iter().find(|own| own.kind.name == file.kind.0) {
                rows.sort_by(|one, other| order_of(&own.kind, *one, *other));
            }
            let is_own = |bytes: &Vec<u8>| bytes.is_empty() || is_pack_file(file, bytes);
            let is_foreign = !found.as_ref().is_none_or(is_own)
                && !was_written(self.root(), ProjectionFacts::PACK_FILES.name, &path);
            files.push(PackFile { path, bytes: render(&pack.name, file, &rows), found, is_foreign });
        }
        Ok(PackFiles(files))
    }

    /// Writes those of them that say something else.
    pub fn publish_pack_files(&self) -> Result<Published, ProjectionError> {
        // Whoever comes last has read the last artifacts.
        let _lock = lock(self.root(), ProjectionFacts::PACK_FILES.name).ok();
        let files = self.pack_files(None)?;
        for file in &files.0 {
            make_folders_to(self.root(), &file.path, self.commit_options().fsync)
                .map_err(CommitError::from)?;
        }
        publish_locked(self.root(), self.commit_options(), &files)
    }

    /// Makes them follow a change of the artifact at `path`. It is made: what goes wrong is told beside it.
    pub(super) fn follow_in_packs(&self, path: &ProjectPath) -> Option<Remark> {
        let declared = self.configuration().lifecycles().declared();
        let is_listed = |own: &(&Pack, &FileDeclaration)| {
            let (pack, file) = own;
            declared.iter().any(|own| {
                let kind = own.kind.as_ref().filter(|_| own.may_apply_at(path));
                kind.is_some_and(|kind| kind.system == pack.name && kind.name == file.kind.0)
            })
        };
        self.declared_files().find(is_listed)?;
        let reason = with_causes(&self.publish_pack_files().err()?);
        Some(Remark::FilesLeft { reason })
    }
}
