//! Records that were read before: those whose files have not changed since need not be read again.
//!
//! They are kept in the cache of the clone, which can be deleted at will. A line that is torn, or of another
//! version, is as if it were not there.
#![expect(clippy::disallowed_methods, reason = "an edge module: the stats of records are taken here")]

use std::{borrow::Cow, collections::HashMap, fs};

use serde::{Deserialize, Serialize};

use crate::disk::{
    Root,
    file_stat::{FileStat, KnownStat, now},
    in_parts::par_map,
    local_state::StateFolder,
    own_file,
};
use stepmark_model::{artifact::ProjectPath, coordination::Record};

/// The largest cache that is read.
const LIMIT: u64 = 256 * 1024 * 1024;

/// The file of the cache.
const FILE: &str = "coordination-records.1";

/// The number of records that have to be read anew before the cache is written again: writing it takes as
/// long as reading that many.
#[cfg(feature = "write")]
const WORTH_KEEPING: usize = 64;

/// The records that were read, by path.
#[derive(Debug, Default)]
pub(super) struct KnownRecords {
    records: HashMap<ProjectPath, (KnownStat, Record)>,
    is_loaded: bool,
    #[cfg(feature = "write")]
    read_since: usize,
}

/// A record as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Line<'a> {
    path: Cow<'a, str>,
    stat: (u64, i64, i64, u64),
    record: Cow<'a, Record>,
}

impl KnownRecords {
    /// Reads what was kept, once.
    pub(super) fn load(&mut self, root: &Root) {
        if std::mem::replace(&mut self.is_loaded, true) {
            return;
        }
        let folder = root.state().folder(StateFolder::Cache).ok();
        let bytes = folder.and_then(|folder| own_file::read(&folder, FILE.as_ref(), LIMIT).ok());
        let bytes = bytes.unwrap_or_default();
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let read = par_map(&lines, |line| {
            let Line { path, stat: (size, modified, changed, inode), record } =
                serde_json::from_slice(line).ok()?;
            let stat = KnownStat { stat: FileStat { size, modified, changed, inode }, is_settled: true };
            Some((ProjectPath::new(path.as_ref()).ok()?, (stat, record.into_owned())))
        });
        self.records.extend(read.into_iter().flatten());
    }

    /// The records in the files at `paths`: those that have not changed as they are known, the others by
    /// `read`, which gives `None` for a file that is gone.
    pub(super) fn read<E: Send>(
        &mut self,
        root: &Root,
        paths: &[ProjectPath],
        read: impl Fn(&ProjectPath) -> Result<Option<Record>, E> + Sync,
    ) -> Result<Vec<Record>, E> {
        let known = &self.records;
        let found = par_map(paths, |path| {
            let place = root.path().join(path.as_str());
            // A link may lead to a file that changes without it.
            let stat = fs::symlink_metadata(place)
                .ok()
                .filter(fs::Metadata::is_file)
                .map(|found| FileStat::of(&found));
            match (known.get(path), stat) {
                (Some((before, record)), Some(stat)) if before.proves(&stat) => {
                    Ok((None, Some(record.clone())))
                }
                (_, stat) => {
                    let stat = stat.map(|stat| stat.known_since(now()));
                    Ok((stat, read(path)?))
                }
            }
        });
        let mut records = Vec::with_capacity(paths.len());
        for (path, found) in paths.iter().zip(found) {
            let (stat, record) = found?;
            let Some(record) = record else { continue };
            if let Some(stat) = stat {
                self.records.insert(path.clone(), (stat, record.clone()));
                #[cfg(feature = "write")]
                {
                    self.read_since += 1;
                }
            }
            records.push(record);
        }
        Ok(records)
    }

    /// Keeps what is known, where enough of it is new. A failure costs time, nothing else.
    #[cfg(feature = "write")]
    pub(super) fn keep(&mut self, root: &Root) {
        if self.read_since < WORTH_KEEPING {
            return;
        }
        self.read_since = 0;
        let mut bytes = Vec::new();
        for (path, (known, record)) in self.records.iter().filter(|(_, (known, _))| known.is_settled) {
            let FileStat { size, modified, changed, inode } = known.stat;
            let record = Cow::Borrowed(record);
            let line = Line { path: path.as_str().into(), stat: (size, modified, changed, inode), record };
            if serde_json::to_writer(&mut bytes, &line).is_err() {
                return;
            }
            bytes.push(b'\n');
        }
        if let Ok(folder) = root.state().make(StateFolder::Cache) {
            let _kept =
                crate::commit::replace_state_file(&folder, FILE, &bytes, crate::commit::FsyncPolicy::Never);
        }
    }
}
