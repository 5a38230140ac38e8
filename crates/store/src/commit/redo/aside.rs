//! Redo records that cannot be executed; set aside so that no other file waits for them.
#![expect(clippy::disallowed_methods, reason = "an edge module: records are set aside here")]

use std::{
    error::Error,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::commit::{
    CommitError, CommitOptions, FsyncPolicy, LockError, local_state, names_in, redo::Found, redo::LIMIT,
    redo::RedoRecord, redo::finish,
};
use crate::disk::{local_state::StateFolder, own_file, root::Root};
use stepmark_model::artifact::{FileHash, ProjectPath};

/// The suffix of records that `doctor --repair` gave up.
const DROPPED: &str = ".dropped";

/// Bytes from the start that name a file too large to be a record.
const HEAD: u64 = 4096;

/// An interrupted commit that cannot be finished; its bytes are kept.
#[derive(Debug)]
pub struct CommitSetAside {
    pub record: PathBuf,
    /// Empty if this version did not write the record.
    pub files: Vec<ProjectPath>,
}

#[derive(Debug)]
pub enum SetAsideRepair {
    /// Finished now, its record removed.
    Finished(CommitSetAside),
    /// Still not finishable. Renamed so that no command looks at it.
    Dropped(CommitSetAside, String),
}

/// True if a later attempt may succeed: the disk is full, or a lock is held.
pub(in crate::commit) fn may_pass(error: &CommitError) -> bool {
    if matches!(error, CommitError::Lock(LockError::Timeout { .. } | LockError::Interrupted { .. })) {
        return true;
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return matches!(
                error.kind(),
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::PermissionDenied
                    | io::ErrorKind::TimedOut
                    | io::ErrorKind::Interrupted
                    | io::ErrorKind::OutOfMemory
            ) || matches!(error.raw_os_error(), Some(5 | 23 | 24));
        }
        cause = error.source();
    }
    false
}

pub(in crate::commit) fn set_aside(root: &Root, bytes: &[u8], fsync: FsyncPolicy) -> io::Result<()> {
    let folder = root.state().make(StateFolder::RedoAside)?;
    local_state::replace(&folder, &name_of(bytes), bytes, fsync)
}

/// Moves a file too large to be a record aside, under a free name of the usual form.
pub(in crate::commit) fn set_aside_unread(root: &Root, file: &File, place: &Path) -> io::Result<()> {
    let folder = root.state().make(StateFolder::RedoAside)?;
    let mut start = Vec::new();
    file.take(HEAD).read_to_end(&mut start)?;
    for attempt in 0_u32.. {
        let name = name_of(&[&attempt.to_le_bytes(), &start[..]].concat());
        let is_taken = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
        if !is_taken(&name) && !is_taken(&format!("{name}{DROPPED}")) {
            return fs::rename(place, folder.join(name));
        }
    }
    Err(io::Error::other("every name is taken"))
}

fn name_of(bytes: &[u8]) -> String {
    let mut name = FileHash::of(bytes).to_string();
    name.truncate(16);
    name
}

pub fn commits_set_aside(root: &Root) -> Result<Vec<CommitSetAside>, CommitError> {
    let found = read_all(root).map_err(|source| CommitError::Recover { source })?;
    Ok(found.into_iter().map(|(aside, _)| aside).collect())
}

/// Finishes the commits set aside, or gives them up and keeps their records.
pub fn repair_commits_set_aside(
    root: &Root,
    options: &CommitOptions,
) -> Result<Vec<SetAsideRepair>, CommitError> {
    let failed = |source| CommitError::Recover { source };
    let mut repairs = Vec::new();
    for (aside, found) in read_all(root).map_err(failed)? {
        let finished = match found {
            Found::Record(record) => match finish(root, &record, options) {
                // It stays, and the diagnosis keeps naming it.
                Err(error) if may_pass(&error) => continue,
                finished => finished.map_err(|error| chain_of(&error)),
            },
            Found::Torn | Found::Foreign => Err("this version did not write it".to_owned()),
        };
        repairs.push(match finished {
            Ok(()) => {
                fs::remove_file(&aside.record).map_err(failed)?;
                SetAsideRepair::Finished(aside)
            }
            Err(reason) => {
                let mut dropped = aside.record.clone().into_os_string();
                dropped.push(DROPPED);
                fs::rename(&aside.record, &dropped).map_err(failed)?;
                SetAsideRepair::Dropped(CommitSetAside { record: dropped.into(), ..aside }, reason)
            }
        });
    }
    Ok(repairs)
}

fn chain_of(error: &CommitError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// True if it is too large, or not a regular file.
fn is_no_record(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, InvalidInput, IsADirectory};
    matches!(error.kind(), FileTooLarge | InvalidInput | IsADirectory)
}

fn read_all(root: &Root) -> io::Result<Vec<(CommitSetAside, Found)>> {
    let folder = root.state().folder(StateFolder::RedoAside)?;
    let mut names = names_in(&folder)?;
    names.retain(|name| !name.starts_with('.') && !name.ends_with(DROPPED));
    let mut found = Vec::new();
    for name in names {
        let record = match own_file::read(&folder, name.as_ref(), LIMIT) {
            Err(error) if is_no_record(&error) => Found::Foreign,
            bytes => RedoRecord::parse(&bytes?),
        };
        let files = match &record {
            Found::Record(record) => record.files.iter().map(|file| file.path.clone()).collect(),
            Found::Torn | Found::Foreign => Vec::new(),
        };
        found.push((CommitSetAside { record: folder.join(name), files }, record));
    }
    Ok(found)
}
