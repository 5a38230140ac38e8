//! The folder with the gates of one artifact.
#![expect(clippy::disallowed_methods, reason = "an edge module: gates are read here")]

use std::{
    fs,
    io::{self, Read},
    path::PathBuf,
    thread,
    time::Duration,
};

use crate::disk::{file_stat::FileStat, stat_cache::RunStart};
use crate::disk::{own_file, own_file::Access, root::Root, uninterrupted::uninterrupted};
use crate::gates::GateError;
use stepmark_model::{
    artifact::ProjectPath,
    projection::gates::{GATE_EXTENSION, GATES_FOLDER, Gate, StoredGate},
};

/// A gate is a few hundred bytes; what is larger is none.
const LARGEST: u64 = 64 * 1024;

/// Room for a gate, so that it is read in one go.
const USUAL: usize = 1024;

/// Writing a gate takes microseconds.
const WRITING: Duration = Duration::from_millis(1);

/// The folder of the gates of one artifact.
#[derive(Debug)]
pub(super) struct GateFolder {
    /// Seen from the root.
    pub(super) path: ProjectPath,
    pub(super) place: PathBuf,
}

impl GateFolder {
    /// The folder of `artifact`, which need not exist.
    #[expect(clippy::expect_used, reason = "a project path below a constant one is a project path")]
    pub(super) fn of(root: &Root, artifact: &ProjectPath) -> Result<Self, GateError> {
        let path = ProjectPath::new(format!("{GATES_FOLDER}/{artifact}")).expect("a relative path");
        let place = root.resolve_for_writing(&path)?;
        Ok(Self { path, place })
    }

    /// The names of all gates, sorted; `None` where there is no folder.
    pub(super) fn names(&self) -> Result<Option<Vec<String>>, GateError> {
        let failed = |source| GateError::Read { path: self.path.to_string(), source };
        let entries = match uninterrupted(|| fs::read_dir(&self.place)) {
            Ok(entries) => entries,
            // A file in the place of the folder, or of one above it, holds no gates.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(failed(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let is_file = entry.file_type().map_err(failed)?.is_file();
            if let Ok(name) = entry.file_name().into_string()
                && is_file
                && name.ends_with(GATE_EXTENSION)
            {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(Some(names))
    }

    /// The names and stats of all gates, as text: while it is the same, so are they. `None` where one may
    /// change without a trace in it.
    pub(super) fn stats(&self) -> Result<Option<String>, GateError> {
        let mut text = String::new();
        let now = RunStart::now().moment;
        for name in self.names()?.unwrap_or_default() {
            let path = || format!("{}/{name}", self.path);
            let metadata = fs::metadata(self.place.join(&name));
            let stat = metadata.map_err(|source| GateError::Read { path: path(), source })?;
            let stat = FileStat::of(&stat);
            if stat.may_hide_a_change(now) {
                return Ok(None);
            }
            text.push_str(&format!("{name} {stat:?}\n"));
        }
        Ok(Some(text))
    }

    /// All gates; `None` where there is no folder.
    pub(super) fn read(&self) -> Result<Option<Vec<StoredGate>>, GateError> {
        let Some(names) = self.names()? else { return Ok(None) };
        let stored = names.into_iter().filter_map(|file_name| match self.read_gate(&file_name) {
            Ok(gate) => Some(Ok(StoredGate::new(file_name, gate))),
            // Removed since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => Some(Err(GateError::Read { path: format!("{}/{file_name}", self.path), source })),
        });
        stored.collect::<Result<_, _>>().map(Some)
    }

    /// `None` where it is none, also after a moment in which its writer could have finished.
    fn read_gate(&self, file_name: &str) -> io::Result<Option<Gate>> {
        let read = || {
            let mut bytes = Vec::with_capacity(USUAL);
            own_file::open(&self.place, file_name.as_ref(), Access::Read)?
                .take(LARGEST)
                .read_to_end(&mut bytes)?;
            Ok(Gate::read(&bytes))
        };
        match read()? {
            Some(gate) => Ok(Some(gate)),
            None => {
                thread::sleep(WRITING);
                read()
            }
        }
    }
}
