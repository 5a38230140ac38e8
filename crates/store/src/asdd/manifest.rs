//! The manifest, which follows the records.

use super::Asdd;
use crate::git::{GitVersion, GitVersionError};
use crate::projection::{
    file_findings::{self, FileFindings, FollowingFile},
    found_files::FoundFiles,
    record_files,
    record_format::{Files, Followed, Overwrite, RecordFormat},
};
use crate::repository::ChangedArtifact;
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::ProjectPath,
    asdd::{MANIFEST, SliceKind, State, read, render, seen},
    records::{self, RecordSet as _, Signals},
    transition::Remark,
};

type Drift = records::Drift<SliceKind>;

/// The state of the manifest: what was written, and what other programs changed in it.
pub type AsddFiles = Followed<Drift>;

pub(super) struct ManifestOf<'c, 'w> {
    asdd: &'c Asdd<'w>,
    path: ProjectPath,
    signals: Signals,
}

impl RecordFormat for ManifestOf<'_, '_> {
    type State = State;
    type Drift = Drift;
    type Error = super::AsddError;

    fn name(&self) -> &'static str {
        "asdd-manifest"
    }

    fn import(&self) -> &'static str {
        "stepmark import asdd"
    }

    fn project(&self) -> &'static str {
        "stepmark asdd project"
    }

    fn paths(&self) -> Vec<ProjectPath> {
        vec![self.path.clone()]
    }

    fn locks(&self) -> Vec<ProjectPath> {
        Vec::new()
    }

    fn present(&self) -> Result<State, super::AsddError> {
        Ok(self.asdd.state()?)
    }

    fn render(&self, state: &State) -> Files {
        Files::from([(self.path.clone(), render(state, &self.signals))])
    }

    fn read(&self, files: &Files) -> Option<State> {
        read(files.get(&self.path)?).ok().map(|(state, _)| state)
    }

    fn is_same(&self, one: &State, other: &State) -> bool {
        records::merge((None, one), (other, &seen(other)), &|_| false).drift.is_empty()
    }

    fn merge(
        &self,
        (base, theirs, ours): (Option<&State>, &State, &State),
        is_overwritten: &dyn Fn(&str) -> bool,
    ) -> (State, Vec<Drift>) {
        let merged = records::merge((base, theirs), (ours, &seen(ours)), is_overwritten);
        (merged.state, merged.drift)
    }
}

impl Workspace {
    /// Makes the manifest follow a change of the artifact at `path`, where it is a record of ASDD.
    pub(crate) fn follow_slices(&self, path: &ProjectPath) -> Option<Remark> {
        let asdd = self.asdd().filter(|own| path.starts_with(&own.settings.folder))?;
        Some(Remark::FilesLeft { reason: asdd.follow().behind? })
    }
}

impl<'w> Asdd<'w> {
    pub fn manifest_path(&self) -> Result<ProjectPath, super::AsddError> {
        Ok(self.settings.folder.join(MANIFEST)?)
    }

    /// The manifest. Of heartbeats the newer one counts, also where another clone told it.
    pub(super) fn manifest(&self) -> Result<ManifestOf<'_, 'w>, super::AsddError> {
        let path = self.manifest_path()?;
        let mut signals = self.signals();
        let told = self.workspace.read_file(&path).ok().and_then(|bytes| read(&bytes).ok());
        records::take_newer(&mut signals, told.map(|(_, told)| told).unwrap_or_default());
        Ok(ManifestOf { asdd: self, path, signals })
    }

    /// Makes the manifest follow. The change is made: what goes wrong here is told beside it.
    pub(super) fn follow(&self) -> AsddFiles {
        self.project(&Overwrite::None).unwrap_or_else(|error| {
            let causes =
                std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
            let behind = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
            Followed { behind: Some(behind), ..Followed::default() }
        })
    }

    /// Writes the manifest; changes that other programs made in it are given up as `overwrite` says.
    pub fn project(&self, overwrite: &Overwrite) -> Result<AsddFiles, super::AsddError> {
        if !matches!(overwrite, Overwrite::None) {
            self.want_agents_to_be_custodian("giving up what others wrote, by an agent,")?;
        }
        let options = self.workspace.commit_options();
        record_files::follow(
            self.workspace.root(),
            options,
            &self.manifest()?,
            overwrite,
            &mut FoundFiles::default(),
        )
    }

    pub fn drift(&self) -> Result<Vec<String>, super::AsddError> {
        let drift =
            record_files::drift(self.workspace.root(), self.workspace.commit_options(), &self.manifest()?)?;
        Ok(drift.into_iter().map(|drift| drift.id).collect())
    }

    /// The records, as they are now, for a change of them: a manifest that says the same is taken for written
    /// here.
    pub(super) fn state_to_change(&self) -> Result<State, super::AsddError> {
        let state = self.state()?;
        let (root, options) = (self.workspace.root(), self.workspace.commit_options());
        // What cannot be compared is told when the manifest follows.
        record_files::adopt(root, options, &self.manifest()?, &mut FoundFiles::default()).ok();
        Ok(state)
    }

    pub fn file_states(&self) -> Result<Vec<FollowingFile>, super::AsddError> {
        let read = |path: &ProjectPath| self.workspace.read_file(path).ok();
        Ok(file_findings::states(self.workspace.root(), &self.manifest()?, &self.state()?, read))
    }

    /// The findings in the manifest, where the records are `state` and `read` gives a file.
    pub(crate) fn file_findings(
        &self,
        state: &State,
        read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
    ) -> Vec<FileFindings> {
        let Ok(format) = self.manifest() else { return Vec::new() };
        file_findings::findings(self.workspace.root(), (&format, false), state, read)
    }

    /// The records in `version`, where there are some that can be read, and one of them is `changed`, or the
    /// manifest.
    pub(crate) fn state_in(
        &self,
        changed: &[ChangedArtifact],
        version: &GitVersion,
    ) -> Result<Option<State>, GitVersionError> {
        let Ok(format) = self.manifest() else { return Ok(None) };
        let own = (&format, &self.settings.folder);
        let is_touched = changed.iter().any(|changed| changed.latest().path().starts_with(own.1));
        let Some(files) = file_findings::files_touched(own, is_touched, version)? else { return Ok(None) };
        let records: Result<Vec<_>, _> =
            files.into_iter().map(|(path, bytes)| self.read_bytes(&path, bytes)).collect();
        // One that is damaged has findings of its own.
        Ok(records.ok().and_then(|records| State::from_records(records.into_iter().flatten())))
    }
}
