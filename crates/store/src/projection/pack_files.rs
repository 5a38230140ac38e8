//! Files in which packs list their artifacts.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    OnEdit, ProjectedFile, Projection, Published, Witness, publish::publish_locked, record_files::lock,
    was_written,
};
use crate::{
    Error,
    commit::{CommitError, make_folders_to, read_whole},
    workspace::{Workspace, claimed::kind_of},
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    check::{Finding, rules::systems::projection_behind_finding},
    packs::{FileDeclaration, Pack},
    projection::{ProjectionFacts, is_pack_file, order_of, render},
    records::{Drift, Merged, RecordSet, System, merge},
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

    pub(crate) fn pack_files(&self, claimed: Option<&[TrackedArtifact]>) -> Result<PackFiles, Error> {
        if !self.has_pack_files() {
            return Ok(PackFiles::default());
        }
        // Files before artifacts, so that another process's publication is noticed.
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

    pub fn publish_pack_files(&self) -> Result<Published, Error> {
        // The last writer has read the last artifacts.
        let _lock = lock(self.root(), ProjectionFacts::PACK_FILES.name).ok();
        let files = self.pack_files(None)?;
        for file in &files.0 {
            make_folders_to(self.root(), &file.path, self.commit_options().fsync)
                .map_err(CommitError::from)?;
        }
        publish_locked(self.root(), self.commit_options(), &files)
    }

    /// The change is already made: errors become a remark.
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

pub(crate) type Files = BTreeMap<ProjectPath, Vec<u8>>;

pub(crate) type DriftOf<F> = Drift<<<F as RecordFormat>::State as RecordSet>::Kind>;

pub(crate) trait RecordFormat {
    type State: RecordSet;

    fn name(&self) -> &'static str;

    fn system(&self) -> &'static System;

    fn paths(&self) -> Vec<ProjectPath>;

    fn locks(&self) -> Vec<ProjectPath> {
        Vec::new()
    }

    fn present(&self) -> Result<Self::State, Error>;

    fn render(&self, state: &Self::State) -> Files;

    fn read(&self, files: &Files) -> Option<Self::State>;

    /// The records as this format represents them.
    fn seen(&self, state: &Self::State) -> Self::State;

    fn is_same(&self, one: &Self::State, other: &Self::State) -> bool {
        self.merge((None, one, other), &|_| false).drift.is_empty()
    }

    /// Merges `theirs`, from another program, with `ours`; `base` is their common origin, if known. Records
    /// of `is_overwritten` are ours.
    fn merge(
        &self,
        (base, theirs, ours): (Option<&Self::State>, &Self::State, &Self::State),
        is_overwritten: &dyn Fn(&str) -> bool,
    ) -> Merged<Self::State> {
        merge((base, theirs), (ours, &self.seen(ours)), is_overwritten)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overwrite {
    None,
    Records(BTreeSet<String>),
    All,
}

impl Overwrite {
    pub(super) fn holds(&self, id: &str) -> bool {
        match self {
            Self::None => false,
            Self::Records(ids) => ids.contains(id),
            Self::All => true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Followed<D> {
    pub written: Vec<ProjectPath>,
    /// The records that other programs changed in the files, and which stay there as they are.
    pub drift: Vec<D>,
    pub overwritten: Vec<D>,
    /// Files that could not be read and were made again; the path of what stood there, in the local state.
    pub kept: Vec<String>,
    /// The reason why the files do not say yet what the records say; the records are changed all the same.
    pub behind: Option<String>,
}

impl<D> Default for Followed<D> {
    fn default() -> Self {
        Self {
            written: Vec::new(),
            drift: Vec::new(),
            overwritten: Vec::new(),
            kept: Vec::new(),
            behind: None,
        }
    }
}
