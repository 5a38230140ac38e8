//! Writing a projection's files.

use std::{collections::BTreeMap, io, path::PathBuf};

use super::{
    OnEdit, ProjectedFile, Projection, Witness,
    found_files::{FoundFiles, HashedFiles},
    pack_files::Files,
    record_files::lock,
};
use crate::{
    Error, ErrorKind,
    commit::{
        CommitOptions, Expected, FsyncPolicy, Outcome, create, read_whole, replace_state_file, replace_whole,
    },
    disk::{Root, local_state::StateFolder, own_file},
    git::{index::IndexEntry, process::is_repository},
    workspace::Workspace,
};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    projection::FileState,
    transition::Remark,
};

/// The suffix of copies of edited files: `AGENTS.md.edited`, then `….edited-2`.
const EDITED_SUFFIX: &str = ".edited";

/// The most copies beside a file.
const EDITED_VERSIONS: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    pub written: Vec<ProjectPath>,
    pub unchanged: usize,
    /// Written files that had been edited.
    pub edited: Vec<ProjectPath>,
    pub kept: Vec<ProjectPath>,
}

/// Writes the differing files one by one, each atomically, if unchanged since the projection read it.
pub fn publish<P: Projection>(
    root: &Root,
    options: &CommitOptions,
    projection: &P,
) -> Result<Published, Error> {
    // Without the lock each file is still compared before it is replaced.
    let _lock = lock(root, P::FACTS.name).ok();
    publish_locked(root, options, projection)
}

pub(super) fn publish_locked<P: Projection>(
    root: &Root,
    options: &CommitOptions,
    projection: &P,
) -> Result<Published, Error> {
    let files = projection.files();
    if let Some(file) = files.iter().find(|file| file.is_foreign) {
        return Err(foreign(&file.path));
    }
    let mut before = WrittenFiles::of(root, P::FACTS.name);
    let (mut done, mut digests) = (Published::default(), BTreeMap::new());
    let published = files.iter().try_for_each(|file| {
        let digest = publish_file(root, options, file, &before, &mut done)?;
        if file.witness == Witness::Memory {
            digests.insert(file.path.clone().into_owned(), digest);
        }
        Ok(())
    });
    // If it is lost, an edit may be mistaken for an older version.
    let _forgotten = before.intend(&digests, &BTreeMap::new());
    published.map(|()| done)
}

pub(crate) fn was_written(root: &Root, name: &'static str, path: &ProjectPath) -> bool {
    WrittenFiles::of(root, name).has(path)
}

fn publish_file(
    root: &Root,
    options: &CommitOptions,
    file: &ProjectedFile<'_>,
    before: &WrittenFiles<'_>,
    done: &mut Published,
) -> Result<FileHash, Error> {
    let wanted = FileHash::of(&file.bytes);
    let state = file.state(wanted, before.digest(&file.path));
    if state == FileState::Current {
        done.unchanged += 1;
    } else {
        if file.on_edit == OnEdit::Keep && state.may_be_edited() {
            done.kept.extend(keep_edited(root, options, &file.path)?);
        }
        let expected = file.found.map_or(Expected::Absent, Expected::Hash);
        match replace_whole(root, &file.path, expected, &file.bytes, options)? {
            Outcome::Unchanged => done.unchanged += 1,
            Outcome::Written { .. } | Outcome::Deleted { .. } => {
                done.written.push(file.path.clone().into_owned());
                done.edited.extend((state == FileState::Edited).then(|| file.path.clone().into_owned()));
            }
        }
    }
    Ok(wanted)
}

/// Uses a free name, or one with the same bytes; `None`: the file is gone.
fn keep_edited(
    root: &Root,
    options: &CommitOptions,
    path: &ProjectPath,
) -> Result<Option<ProjectPath>, Error> {
    let Some(bytes) = read_whole(root, path)? else { return Ok(None) };
    for number in 1..=EDITED_VERSIONS {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let copy = ProjectPath::new(format!("{path}{EDITED_SUFFIX}{number}"))?;
        match read_whole(root, &copy)? {
            Some(found) if found == bytes => return Ok(Some(copy)),
            Some(_) => {}
            None => {
                create(root, &copy, &bytes, options)?;
                return Ok(Some(copy));
            }
        }
    }
    Err(Error::refused(format!(
        "cannot write `{path}`: a hundred edited versions are kept beside it already; nothing was changed"
    )).help(format!(
        "look at `{path}.edited`, `{path}.edited-2`, …, move what is to stay into a component, and remove them"
    )))
}

/// Digests remembered for each file: git mostly restores recent versions.
const DIGESTS: usize = 16;

const LIMIT: u64 = 256 * 1024 * 1024;

/// Digests written to each file, the newest first, with a copy of the last bytes.
#[derive(Debug)]
pub(super) struct WrittenFiles<'r> {
    root: &'r Root,
    name: &'static str,
    digests: BTreeMap<ProjectPath, Vec<String>>,
}

impl<'r> WrittenFiles<'r> {
    /// Empty if there are none, or unreadable.
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

    /// True if the file is as last written here. Earlier versions count if the last write was interrupted, or
    /// if they are in git's index; otherwise somebody restored them.
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

    /// `None` if none was written.
    pub(super) fn last(&self, paths: &[ProjectPath]) -> Option<Files> {
        let written = paths.iter().filter(|path| self.digests.contains_key(*path));
        let copy = |path: &ProjectPath| Some((path.clone(), read(self.root, &self.copy_name(path))?));
        let files: Files = written.filter_map(copy).collect();
        (!files.is_empty()).then_some(files)
    }

    /// Records that files with these hashes will be written: such files are known from now on. Those of
    /// `mixed` with other hashes contain foreign changes, and are not known, even if equal to earlier ones.
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

    /// Keeps copies of `ours`; those of `adopted` as they were `found`.
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
    /// Updates other programs' files after a change of the artifact.
    pub(crate) fn follow_records(&self, path: &ProjectPath) -> Option<Remark> {
        let left = self.follow_tasks(path).or_else(|| self.follow_slices(path));
        left.or_else(|| self.follow_in_packs(path))
    }
}

pub(super) fn foreign(path: &ProjectPath) -> Error {
    Error::exists(format!(
        "cannot write `{path}`: a file is there that stepmark did not make; nothing was changed"
    ))
    .help("move the file away, or give the file of the pack another name")
}

pub(crate) fn with_help_of_foreign(error: Error, help: &str) -> Error {
    if error.kind() == ErrorKind::Exists { error.help(help) } else { error }
}
