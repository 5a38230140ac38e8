//! The facts that slices are held against.

use super::Asdd;
use crate::{Error, configuration::AsddSettings};
use std::collections::BTreeMap;
use stepmark_model::artifact::{FileHash, ProjectPath};
#[cfg(feature = "write")]
use stepmark_model::asdd::AsddRefusal;
use stepmark_model::asdd::{
    AsddFacts, Record, Rules, SliceFacts, State, Thresholds, drifted, inconsistencies, timeouts,
};
use stepmark_model::records::Signals;

impl Asdd<'_> {
    pub(super) fn files_of(&self, slice: &Record, others: impl IntoIterator<Item = String>) -> SliceFacts {
        let paths = SliceFacts::paths_of(slice).into_iter().chain(others);
        SliceFacts { files: paths.map(|path| (path.clone(), self.hash(&path))).collect() }
    }

    /// `None` for paths outside the project and for files of git or stepmark.
    #[cfg(feature = "write")]
    pub(super) fn hash_of_work(&self, path: &str) -> Result<FileHash, AsddRefusal> {
        match ProjectPath::new(path).is_ok_and(|path| self.is_own_file(&path)) {
            true => Err(AsddRefusal::NoWork { path: path.to_owned() }),
            false => self.hash(path).ok_or_else(|| AsddRefusal::NoFile { path: path.to_owned() }),
        }
    }

    #[cfg(feature = "write")]
    pub(super) fn is_own_file(&self, path: &ProjectPath) -> bool {
        let below = path.as_str().strip_prefix(self.settings.folder.as_str());
        let below = below.and_then(|rest| rest.strip_prefix('/')).unwrap_or_default().to_lowercase();
        let is_record = ["slices/", "state/", "project.md"].iter().any(|own| below.starts_with(own));
        is_record || path.is_in_git_folder() || path.is_in_own_folder()
    }

    pub(super) fn hash(&self, path: &str) -> Option<FileHash> {
        let path = ProjectPath::new(path).ok()?;
        Some(FileHash::of(&self.workspace.read_file(&path).ok()?))
    }

    /// The configuration's rules; `steering/agent-thresholds.md` fills in what it leaves out.
    pub(super) fn rules(&self) -> Rules {
        let AsddSettings { thresholds, ccs_floor, steering, .. } = self.settings.clone();
        let mut rules = Rules { thresholds, ccs_floor, steering };
        if rules.thresholds.0.is_empty()
            && let Ok(path) = self.settings.folder.join("steering/agent-thresholds.md")
            && let Ok(bytes) = self.workspace.read_file(&path)
        {
            rules.thresholds = Thresholds::of_table(&String::from_utf8_lossy(&bytes));
        }
        rules
    }

    pub fn held_up(&self) -> Result<BTreeMap<String, String>, Error> {
        let state = self.state()?;
        let reason = |slice: &Record| {
            let files = self.files_of(slice, []);
            let drifted = drifted(slice, &state, &files).into_iter().map(|path| format!("{path} changed"));
            let inconsistent = inconsistencies(slice, &files).into_iter().map(|found| found.to_string());
            inconsistent.chain(drifted).next()
        };
        let held = state.slices.iter().filter_map(|slice| Some((slice.id.clone(), reason(slice)?)));
        Ok(held.collect())
    }

    pub(crate) fn facts(&self) -> Option<AsddFacts> {
        let state = self.state().ok()?;
        let paths = state.slices.iter().flat_map(SliceFacts::paths_of);
        let files = SliceFacts { files: paths.map(|path| (path.clone(), self.hash(&path))).collect() };
        let mut silent: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let seconds = self.settings.monitor.timeout_seconds;
        for timeout in timeouts(&self.signals(), &state, self.workspace.now(), seconds) {
            if let Some(slice) = timeout.slice {
                silent.entry(slice).or_default().push(timeout.agent);
            }
        }
        Some(AsddFacts { rules: self.rules(), files, state, silent })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct AsddStatus {
    pub state: State,
    pub signals: Signals,
    /// The slices that others changed in the manifest; empty without the feature `write`, which finds them.
    pub drift: Vec<String>,
    pub held_up: BTreeMap<String, String>,
}

impl Asdd<'_> {
    pub fn status(&self) -> Result<AsddStatus, Error> {
        #[cfg(feature = "write")]
        let drift = self.drift().unwrap_or_default();
        #[cfg(not(feature = "write"))]
        let drift = Vec::new();
        Ok(AsddStatus { state: self.state()?, signals: self.signals(), drift, held_up: self.held_up()? })
    }
}
