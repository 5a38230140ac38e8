//! The manifest: written from the records, and imported into them.

use crate::{Error, ErrorKind, records::nothing_to_import};
use std::path::Path;

use super::{Asdd, changing::local};
use crate::disk::file_reading::read_file;
use crate::projection::{
    file_findings::{FileFindings, FollowingFile},
    found_files::FoundFiles,
    pack_files::{Files, Followed, Overwrite, RecordFormat},
    record_files,
};
use crate::records::{ChangedRecords, ImportSurvey, behind};
use crate::{signals::write_signal, workspace::Workspace};
use stepmark_model::{
    artifact::ProjectPath,
    asdd::{MANIFEST, SYSTEM, SliceKind, State, read, render, seen},
    records::{self, Signal, Signals, System, file_stem},
    transition::Remark,
};

type Drift = records::Drift<SliceKind>;

pub type AsddFiles = Followed<Drift>;

pub(crate) struct ManifestOf<'c, 'w> {
    asdd: &'c Asdd<'w>,
    path: ProjectPath,
    signals: Signals,
}

impl RecordFormat for ManifestOf<'_, '_> {
    type State = State;

    fn name(&self) -> &'static str {
        "asdd-manifest"
    }

    fn system(&self) -> &'static System {
        &SYSTEM
    }

    fn paths(&self) -> Vec<ProjectPath> {
        vec![self.path.clone()]
    }

    fn present(&self) -> Result<State, Error> {
        self.asdd.state()
    }

    fn render(&self, state: &State) -> Files {
        Files::from([(self.path.clone(), render(state, &self.signals))])
    }

    fn read(&self, files: &Files) -> Option<State> {
        read(files.get(&self.path)?).ok().map(|(state, _)| state)
    }

    fn seen(&self, state: &State) -> State {
        seen(state)
    }
}

impl ChangedRecords for Asdd<'_> {
    type Format<'f>
        = ManifestOf<'f, 'f>
    where
        Self: 'f;

    fn record_format(&self) -> Result<Self::Format<'_>, Error> {
        self.manifest()
    }

    fn write_files(&self, overwrite: &Overwrite) -> Result<AsddFiles, Error> {
        self.project(overwrite)
    }

    fn known_signals(&self) -> Signals {
        self.signals()
    }

    fn note_signal(&self, signal: &Signal) -> Result<(), Error> {
        write_signal(self.workspace.root(), (super::SYSTEM, &file_stem(&signal.agent)), signal)
            .map_err(|source| local("a sign of life", source))
    }
}

impl Workspace {
    pub(crate) fn follow_slices(&self, path: &ProjectPath) -> Option<Remark> {
        let asdd = self.asdd().filter(|own| path.starts_with(&own.settings.folder))?;
        Some(Remark::FilesLeft { reason: asdd.follow().behind? })
    }
}

impl<'w> Asdd<'w> {
    pub fn manifest_path(&self) -> Result<ProjectPath, Error> {
        Ok(self.settings.folder.join(MANIFEST)?)
    }

    /// Of two heartbeats the newer counts, whichever clone recorded it.
    pub(super) fn manifest(&self) -> Result<ManifestOf<'_, 'w>, Error> {
        let path = self.manifest_path()?;
        let mut signals = self.signals();
        let told = self.workspace.read_file(&path).ok().and_then(|bytes| read(&bytes).ok());
        records::take_newer(&mut signals, told.map(|(_, told)| told).unwrap_or_default());
        Ok(ManifestOf { asdd: self, path, signals })
    }

    /// Updates the manifest. The change is already made, so errors here are only reported.
    pub(super) fn follow(&self) -> AsddFiles {
        self.project(&Overwrite::None).unwrap_or_else(|error| behind(&error))
    }

    pub fn project(&self, overwrite: &Overwrite) -> Result<AsddFiles, Error> {
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

    pub fn drift(&self) -> Result<Vec<String>, Error> {
        let drift =
            record_files::drift(self.workspace.root(), self.workspace.commit_options(), &self.manifest()?)?;
        Ok(drift.into_iter().map(|drift| drift.id).collect())
    }

    /// The records, ready for a change: a manifest that already agrees counts as written.
    pub(super) fn state_to_change(&self) -> Result<State, Error> {
        let state = self.state()?;
        let (root, options) = (self.workspace.root(), self.workspace.commit_options());
        // Conflicts are reported when the manifest is updated.
        record_files::adopt(root, options, &self.manifest()?, &mut FoundFiles::default()).ok();
        Ok(state)
    }

    pub fn file_states(&self) -> Result<Vec<FollowingFile>, Error> {
        self.states_of_files()
    }

    pub(crate) fn file_findings(
        &self,
        state: &State,
        read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
    ) -> Vec<FileFindings> {
        self.findings_of_files(state, false, read)
    }
}

impl Asdd<'_> {
    /// Compares the records with the manifest at `place` (may be outside the project; `None`: its own).
    pub fn survey(&self, place: Option<&Path>) -> Result<ImportSurvey<SliceKind>, Error> {
        let own = self.workspace.root().path().join(self.manifest_path()?.as_str());
        let given = place.map_or_else(
            || own.clone(),
            |place| match place.extension().is_none_or(|extension| extension != "json") {
                true => place.join(MANIFEST),
                false => place.to_owned(),
            },
        );
        let shown = || given.display().to_string();
        let nothing = |_| nothing_to_import("manifest of ASDD at", &shown());
        let bytes = read_file(&given).map_err(nothing)?;
        let theirs = read(&bytes)
            .map_err(|source| Error::refused(format!("cannot read `{}`", shown())).because(source))?;
        let ours = match self.state() {
            Ok(state) => Some(state),
            Err(error) if error.kind() == ErrorKind::NotBegun => None,
            Err(error) => return Err(error),
        };
        let is_own = given == own;
        let last = if is_own { self.last_and_found()?.0 } else { None };
        Ok(ImportSurvey::of(&self.manifest()?, theirs, ours.as_ref(), (is_own, last)))
    }

    /// Imports `found`: new records, changed ones if `takes_file`; missing ones are removed if `removes`.
    /// Returns the number of changed records, and the manifest's state.
    pub fn import(
        &self,
        found: &ImportSurvey<SliceKind>,
        takes_file: bool,
        removes: bool,
    ) -> Result<(usize, AsddFiles), Error> {
        self.want_agents_to_be_custodian("an import by an agent")?;
        found.bring_in(self, (takes_file, removes), || self.last_and_found())
    }

    fn last_and_found(&self) -> Result<record_files::LastAndFound<State>, Error> {
        let options = self.workspace.commit_options();
        record_files::last_and_found(self.workspace.root(), options, &self.manifest()?)
    }
}
