//! Digests of the files of projections, and copies of those that follow records, as they were written last,
//! in the local state of this clone.

use super::{
    found_files::{FoundFiles, HashedFiles},
    record_format::Files,
};
use crate::commit::{FsyncPolicy, replace_state_file};
use crate::disk::{Root, local_state::StateFolder, own_file};
use crate::git::{index::IndexEntry, process::is_repository};
use crate::workspace::Workspace;
use std::{collections::BTreeMap, io, path::PathBuf};
use stepmark_model::artifact::{FileHash, ProjectPath};
use stepmark_model::transition::Remark;

/// The number of digests of each file that are remembered: what git brings back was mostly written lately.
const DIGESTS: usize = 16;

const LIMIT: u64 = 256 * 1024 * 1024;

/// The digests of what was written to each file, the newest first, with a copy of the last bytes.
#[derive(Debug)]
pub(super) struct WrittenFiles<'r> {
    root: &'r Root,
    name: &'static str,
    digests: BTreeMap<ProjectPath, Vec<String>>,
}

impl<'r> WrittenFiles<'r> {
    /// Reads those of the projection `name`; none where there are none that can be read.
    pub(super) fn of(root: &'r Root, name: &'static str) -> Self {
        let bytes = read(root, &format!("{name}-digests.json"));
        let digests: BTreeMap<String, Vec<String>> =
            bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let digests: BTreeMap<ProjectPath, Vec<String>> = digests
            .into_iter()
            .filter_map(|(path, digests)| Some((ProjectPath::new(path).ok()?, digests)))
            .collect();
        Self { root, name, digests }
    }

    /// Returns whether the file at `path` holds what was written here last. An earlier version is known where
    /// the last writing was cut off, or git has it in its index; else somebody put it back.
    pub(super) fn knows(&self, path: &ProjectPath, digest: FileHash, bytes: &[u8]) -> bool {
        let (digest, digests) = (digest.to_string(), self.digests.get(path));
        let is_newest = |own: &String| digests.is_some_and(|all| all.first() == Some(own));
        let is_cut_off = || {
            let copy = read(self.root, &self.copy_name(path));
            !copy.is_some_and(|copy| is_newest(&FileHash::of(&copy).to_string()))
        };
        let is_staged = || {
            let entry = IndexEntry::find(self.root, path).ok().flatten();
            entry.is_some_and(|entry| entry.holds(self.root, bytes).unwrap_or(false))
        };
        digests.is_some_and(|all| all.contains(&digest))
            && (is_newest(&digest) || is_cut_off() || is_repository(self.root) && is_staged())
    }

    pub(super) fn digest(&self, path: &ProjectPath) -> Option<FileHash> {
        self.digests.get(path)?.first()?.parse().ok()
    }

    pub(super) fn has(&self, path: &ProjectPath) -> bool {
        self.digests.contains_key(path)
    }

    /// The bytes that were written last to those of `paths`; `None` where nothing was.
    pub(super) fn last(&self, paths: &[ProjectPath]) -> Option<Files> {
        let written = paths.iter().filter(|path| self.digests.contains_key(*path));
        let copy = |path: &ProjectPath| Some((path.clone(), read(self.root, &self.copy_name(path))?));
        let files: Files = written.filter_map(copy).collect();
        (!files.is_empty()).then_some(files)
    }

    /// Notes that files with these hashes are about to be written: from now on whatever of them stands there
    /// is known. Those of `mixed` that are others hold changes of other programs: they are not, even where
    /// earlier ones were the same.
    pub(super) fn intend(
        &mut self,
        files: &BTreeMap<ProjectPath, FileHash>,
        mixed: &BTreeMap<ProjectPath, FileHash>,
    ) -> io::Result<()> {
        let mut is_changed = false;
        for (path, digest) in mixed.iter().filter(|(path, digest)| files.get(*path) != Some(digest)) {
            if let Some(digests) = self.digests.get_mut(path) {
                let (digest, count) = (digest.to_string(), digests.len());
                digests.retain(|known| *known != digest);
                is_changed = is_changed || digests.len() < count;
            }
        }
        for (path, digest) in files {
            let digest = digest.to_string();
            let digests = self.digests.entry(path.clone()).or_default();
            if digests.first() != Some(&digest) {
                digests.retain(|known| *known != digest);
                digests.insert(0, digest);
                digests.truncate(DIGESTS);
                is_changed = true;
            }
        }
        if !is_changed {
            return Ok(());
        }
        let names: BTreeMap<&str, &Vec<String>> =
            self.digests.iter().map(|(path, digests)| (path.as_str(), digests)).collect();
        let text = serde_json::json!(names).to_string();
        let digests = format!("{}-digests.json", self.name);
        replace_state_file(&self.folder()?, &digests, text.as_bytes(), FsyncPolicy::Never)
    }

    /// Keeps copies of what stands there now: the files `ours`, apart from those of `adopted`, which stay as
    /// they were `found`.
    pub(super) fn keep(
        &self,
        ours: &HashedFiles,
        found: &FoundFiles,
        adopted: &BTreeMap<ProjectPath, FileHash>,
    ) -> io::Result<()> {
        let folder = self.folder()?;
        ours.iter().try_for_each(|(path, file)| {
            let file = found.get(path).filter(|_| adopted.contains_key(path)).unwrap_or(file);
            replace_state_file(&folder, &self.copy_name(path), &file.bytes, FsyncPolicy::Never)
        })
    }

    pub(super) fn keep_copy(&self, path: &ProjectPath, bytes: &[u8]) -> io::Result<String> {
        let folder = self.folder()?;
        let digest = FileHash::of(bytes).to_string();
        let name = format!("{}-kept-{}-{}", self.name, digest.get(..12).unwrap_or(&digest), path.file_name());
        replace_state_file(&folder, &name, bytes, FsyncPolicy::Always)?;
        Ok(folder.join(name).display().to_string())
    }

    fn folder(&self) -> io::Result<PathBuf> {
        self.root.state().make(StateFolder::Projections).map_err(io::Error::other)
    }

    fn copy_name(&self, path: &ProjectPath) -> String {
        format!("{}-last-{}", self.name, path.as_str().replace('/', "%"))
    }
}

fn read(root: &Root, name: &str) -> Option<Vec<u8>> {
    own_file::read(&root.state().folder(StateFolder::Projections).ok()?, name.as_ref(), LIMIT).ok()
}

impl Workspace {
    /// Makes the files of other programs follow a change of the artifact at `path`.
    pub(crate) fn follow_records(&self, path: &ProjectPath) -> Option<Remark> {
        let left = self.follow_tasks(path).or_else(|| self.follow_slices(path));
        left.or_else(|| self.follow_in_packs(path))
    }
}
