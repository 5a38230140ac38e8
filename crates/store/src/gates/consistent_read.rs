//! An artifact's bytes together with the stat that belongs to them.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: artifacts are read here, and the clock tells how young they are"
)]

use std::{
    fs, io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::disk::file_stat::FileStat;
use crate::disk::root::Root;
use crate::disk::{file_reading::open_file, file_reading::read_within_limit};
use crate::gates::GateError;
use stepmark_model::{artifact::ProjectPath, projection::gates::GateStat};

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
