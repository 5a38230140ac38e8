//! The folder with the gates of one artifact.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: gates are read here; artifacts are read here, and the clock tells how young they are"
)]

use crate::disk::file_reading::{open_file, read_within_limit};
use crate::disk::file_stat::FileStat;
use crate::disk::own_file;
use crate::disk::own_file::Access;
use crate::disk::root::Root;
use crate::disk::stat_cache::RunStart;
use crate::disk::uninterrupted::uninterrupted;
use crate::gates::GateError;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io, thread};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::projection::gates::{GATE_EXTENSION, GATES_FOLDER, Gate, GateStat, StoredGate};

/// A gate is a few hundred bytes; what is larger is none.
const LARGEST: u64 = 64 * 1024;

/// Room for a gate, so that it is read in one go.
const USUAL: usize = 1024;

const WRITING: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct GateFolder {
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

/// The number of times that a file is read while another program is writing it, before it counts as changing.
const ATTEMPTS: u32 = 5;

/// An artifact as it was at one moment.
#[derive(Debug)]
pub(super) struct ConsistentRead {
    pub(super) bytes: Vec<u8>,
    pub(super) stat: GateStat,
}

impl ConsistentRead {
    /// Reads the artifact at `path`; `None` where there is no such file, or it changes all the time.
    pub(super) fn of(root: &Root, path: &ProjectPath) -> Result<Option<Self>, GateError> {
        let place = root.resolve(path)?;
        let failed = |source| GateError::Read { path: path.to_string(), source };
        for _ in 0..ATTEMPTS {
            match Self::once(&place) {
                Ok(Some(sight)) => return Ok(Some(sight)),
                Ok(None) => {}
                Err(error) if is_absent(&error) => return Ok(None),
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(None)
    }

    /// `None` where it changed while it was read.
    fn once(place: &Path) -> io::Result<Option<Self>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let file = open_file(place)?;
        let before = FileStat::of(&file.metadata()?);
        let mut bytes = Vec::new();
        read_within_limit(file.try_clone()?, &mut bytes)?;
        let after = FileStat::of(&file.metadata()?);
        let stat = gate_stat(after, !after.may_hide_a_change(now));
        Ok((before == after).then_some(Self { bytes, stat }))
    }
}

/// The stat of the artifact at `path`; `None` where there is no such file.
pub(super) fn stat(root: &Root, path: &ProjectPath) -> Result<Option<GateStat>, GateError> {
    let place = root.resolve(path)?;
    match fs::metadata(&place) {
        Ok(metadata) => Ok(metadata.is_file().then(|| gate_stat(FileStat::of(&metadata), false))),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(GateError::Read { path: path.to_string(), source }),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

const fn gate_stat(stat: FileStat, is_proof: bool) -> GateStat {
    let FileStat { size, modified, changed, inode } = stat;
    GateStat { size, modified, changed, inode, is_proof }
}
