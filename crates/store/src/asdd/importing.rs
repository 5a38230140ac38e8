//! A manifest that becomes records.

use std::path::Path;

use super::{Asdd, AsddFiles};
use crate::records::{ImportSurvey, RecordsError, SystemError};
use crate::{disk::file_reading::read_file, projection::record_files};
use stepmark_model::asdd::{MANIFEST, SliceKind, State, read};

impl Asdd<'_> {
    /// Compares the manifest at `place` (outside of the project, too; the project's own where nothing is
    /// given) with the records.
    pub fn survey(&self, place: Option<&Path>) -> Result<ImportSurvey<SliceKind>, SystemError> {
        let own = self.workspace.root().path().join(self.manifest_path()?.as_str());
        let given = place.map_or_else(
            || own.clone(),
            |place| match place.extension().is_none_or(|extension| extension != "json") {
                true => place.join(MANIFEST),
                false => place.to_owned(),
            },
        );
        let shown = || given.display().to_string();
        let nothing = |_| SystemError::NothingToImport { wanted: "manifest of ASDD at", place: shown() };
        let bytes = read_file(&given).map_err(nothing)?;
        let theirs = read(&bytes).map_err(|source| SystemError::Manifest { place: shown(), source })?;
        let ours = match self.state() {
            Ok(state) => Some(state),
            Err(RecordsError::NotBegun { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let is_own = given == own;
        let last = if is_own { self.last_and_found()?.0 } else { None };
        Ok(ImportSurvey::of(&self.manifest()?, theirs, ours.as_ref(), (is_own, last)))
    }

    /// Brings in what `found` holds: new records always, changed ones where `takes_file`, and takes away
    /// those that the manifest has no more only with `removes`. Returns the number of records that changed,
    /// and the state of the manifest.
    pub fn import(
        &self,
        found: &ImportSurvey<SliceKind>,
        takes_file: bool,
        removes: bool,
    ) -> Result<(usize, AsddFiles), SystemError> {
        self.want_agents_to_be_custodian("an import by an agent")?;
        found.bring_in(self, (takes_file, removes), || self.last_and_found())
    }

    fn last_and_found(&self) -> Result<record_files::LastAndFound<State>, SystemError> {
        let options = self.workspace.commit_options();
        Ok(record_files::last_and_found(self.workspace.root(), options, &self.manifest()?)?)
    }
}
