//! One state of a project's files in its repository, with its changes.

use crate::Error;
use crate::git::version::error::{no_git, no_repository, pipe, unknown_answer};
use std::{
    collections::{HashMap, HashSet},
    process::{Child, Stdio},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use crate::{
    disk::root::Root,
    git::{
        process,
        version::{
            Comparison, GitChanges, Object, error,
            raw_diff::{self, ObjectReader, RawChange, Wanted, hexadecimal},
        },
    },
};
use jiff::Timestamp;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use stepmark_model::artifact::ProjectPath;

/// Fixes what configuration could change in `--raw`, and runs no program of a file's attributes.
const LISTING: [&str; 9] = [
    "-r",
    "--raw",
    "-z",
    "--find-renames",
    "--no-abbrev",
    "--relative",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
];

/// A project's files in the index or in a commit. Two git processes, started at once, answer everything.
#[derive(Debug)]
pub struct GitVersion {
    pub(super) root: Root,
    /// The part of an object name before `:./PATH`; empty for the index.
    pub(super) revision: String,
    pub(super) base: String,
    objects: Mutex<ObjectReader>,
    /// `git diff-…`, already running.
    listing: Mutex<Option<Listing>>,
    /// Cached, since artifacts name the same few documents.
    held: Mutex<HashMap<ProjectPath, bool>>,
    /// Files of the index and their folders, listed on the first miss: folders are no objects of the index.
    indexed: OnceLock<HashSet<Vec<u8>>>,
    pub(super) supposed: Mutex<HashMap<ProjectPath, Supposed>>,
    /// All changed paths under both names, once read.
    #[cfg(feature = "write")]
    changed: OnceLock<Vec<ProjectPath>>,
}

#[derive(Debug)]
pub(super) struct Listing {
    process: Child,
    arguments: Vec<String>,
}

impl GitVersion {
    pub fn open(root: &Root, comparison: &Comparison) -> Result<Self, Error> {
        if !process::is_repository(root) {
            return Err(no_repository(root));
        }
        let head = || "HEAD".to_owned();
        let (revision, base, listing) = match comparison {
            Comparison::Index => {
                (String::new(), head(), Some(Listing::start(root, &["diff-index", "--cached"], &["HEAD"])?))
            }
            Comparison::Commits { to, .. } if error::is_nothing(to) => (head(), head(), None),
            Comparison::Commits { from, to } => {
                let to = error::commit(root, to)?;
                let from = error::left(root, from, &to)?;
                let listing = Listing::start(root, &["diff-tree"], &[&from, &to])?;
                (to, from, Some(listing))
            }
        };
        let objects = Mutex::new(ObjectReader::start(root.path())?);
        Ok(Self {
            root: root.clone(),
            revision,
            base,
            objects,
            listing: Mutex::new(listing),
            held: Mutex::default(),
            indexed: OnceLock::new(),
            supposed: Mutex::default(),
            #[cfg(feature = "write")]
            changed: OnceLock::new(),
        })
    }

    pub const fn root(&self) -> &Root {
        &self.root
    }

    pub(crate) const fn is_index(&self) -> bool {
        self.revision.is_empty()
    }

    /// `None` if missing, or not a file.
    pub fn read(&self, path: &ProjectPath) -> Result<Option<Vec<u8>>, Error> {
        if let Some(bytes) = self.supposed_bytes(path)? {
            return Ok(Some(bytes));
        }
        Ok(match self.object(path)? {
            Object::Blob(bytes) => Some(bytes),
            _ => None,
        })
    }

    pub fn holds(&self, path: &ProjectPath) -> Result<bool, Error> {
        // Entries are inserted whole, so a poisoned lock is valid.
        let held = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = held().get(path) {
            return Ok(*answer);
        }
        let is_object = self.object(path)? != Object::Missing;
        let is_there = is_object || self.is_index() && self.indexed()?.contains(path.as_str().as_bytes());
        held().insert(path.clone(), is_there);
        Ok(is_there)
    }

    #[cfg(feature = "write")]
    pub(crate) fn is_changed(&self, path: &ProjectPath) -> Result<bool, Error> {
        Ok(self.object(path)? != self.object_in(&self.base, path)?)
    }

    #[cfg(feature = "write")]
    pub(crate) fn changed(&self) -> &[ProjectPath] {
        self.changed.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// Includes files of the state compared with.
    #[cfg(feature = "write")]
    pub(crate) fn files_in(
        &self,
        (folder, is_wanted): (&ProjectPath, impl Fn(&ProjectPath) -> bool),
        is_before: bool,
    ) -> Result<Vec<(ProjectPath, Vec<u8>)>, Error> {
        let revision = if is_before { &self.base } else { &self.revision };
        if revision == "HEAD" && !error::has_head(&self.root)? {
            return Ok(Vec::new());
        }
        let listing = match revision.as_str() {
            "" => vec!["ls-files", "--cached", "-z", "--", folder.as_str()],
            revision => vec!["ls-tree", "-r", "-z", "--name-only", revision, "--", folder.as_str()],
        };
        let listed = error::ask(&self.root, &listing)?.unwrap_or_default();
        let names = listed.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        // `cat-file` reads lines.
        let names = names.filter(|name| !name.contains('\n')).filter_map(|name| ProjectPath::new(name).ok());
        let paths: Vec<ProjectPath> = names.filter(is_wanted).collect();
        let objects: Vec<String> = paths.iter().map(|path| format!("{revision}:./{path}")).collect();
        let objects = self.objects().read(&objects)?;
        let file = |(path, object)| match object {
            Object::Blob(bytes) => Some((path, bytes)),
            _ => None,
        };
        Ok(paths.into_iter().zip(objects).filter_map(file).collect())
    }

    pub(crate) fn held_before(&self, path: &ProjectPath) -> Result<bool, Error> {
        Ok(self.object_in(&self.base, path)? != Object::Missing)
    }

    /// The file's last commit before the compared state, by its author's clock. The first commit of a shallow
    /// clone does not count: it seems to create all files.
    pub(crate) fn committed_before(&self, path: &ProjectPath) -> Result<Option<Timestamp>, Error> {
        let command = [
            "log",
            "-1",
            "--format=%at %P",
            "--no-ext-diff",
            "--end-of-options",
            &self.base,
            "--",
            path.as_str(),
        ];
        let answer = error::ask(&self.root, &command)?.unwrap_or_default();
        let answer = String::from_utf8_lossy(&answer);
        let (at, parents) = answer.trim_end_matches('\n').split_once(' ').unwrap_or_default();
        let is_shallow = || error::ask(&self.root, &["rev-parse", "--is-shallow-repository"]);
        if parents.is_empty() && is_shallow()?.is_some_and(|answer| answer.starts_with(b"true")) {
            return Ok(None);
        }
        Ok(at.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok()))
    }

    pub(crate) fn files_with(&self, words: &[&str]) -> Result<Vec<ProjectPath>, Error> {
        const ONLY_NAMES: [&str; 7] = [
            "grep",
            "--files-with-matches",
            "--null",
            "--fixed-strings",
            "--no-full-name",
            "--no-color",
            "--no-recurse-submodules",
        ];
        let mut arguments = ONLY_NAMES.to_vec();
        words.iter().for_each(|word| arguments.extend(["-e", *word]));
        let prefix = match self.revision.as_str() {
            "" => {
                arguments.push("--cached");
                String::new()
            }
            revision => {
                arguments.push(revision);
                format!("{revision}:")
            }
        };
        let listed = error::ask(&self.root, &arguments)?.unwrap_or_default();
        let names = listed.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(prefix.as_bytes()));
        // Artifacts' names are UTF-8.
        let names = names.filter_map(|name| std::str::from_utf8(name).ok());
        Ok(names.filter_map(|name| ProjectPath::new(name).ok()).collect())
    }

    fn indexed(&self) -> Result<&HashSet<Vec<u8>>, Error> {
        if let Some(names) = self.indexed.get() {
            return Ok(names);
        }
        let listed = error::ask(&self.root, &["ls-files", "--cached", "-z"])?.unwrap_or_default();
        let mut names = HashSet::new();
        for file in listed.split(|byte| *byte == 0).filter(|file| !file.is_empty()) {
            let mut name = file;
            // Folders above a known one are known, too.
            while names.insert(name.to_vec())
                && let Some(end) = memchr::memrchr(b'/', name)
            {
                name = &name[..end];
            }
        }
        Ok(self.indexed.get_or_init(|| names))
    }

    /// `cat-file` reads lines, so a name with a line end is not queried.
    fn object(&self, path: &ProjectPath) -> Result<Object, Error> {
        self.object_in(&self.revision, path)
    }

    fn object_in(&self, revision: &str, path: &ProjectPath) -> Result<Object, Error> {
        if path.as_str().contains('\n') {
            return Ok(Object::Missing);
        }
        let objects = self.objects().read(&[format!("{revision}:./{path}")])?;
        Ok(objects.into_iter().next().unwrap_or(Object::Missing))
    }

    /// Changed files that are wanted, by either name if moved. Call it once: the second time it is empty.
    pub fn changes(&self, is_wanted: &dyn Fn(&ProjectPath) -> bool) -> Result<GitChanges, Error> {
        let listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(listing) = listing else { return Ok(GitChanges::default()) };
        let output = listing.finish(&self.root)?;
        let raw = parse(&output)?;
        let is_index = self.is_index();
        if is_index {
            self.place_supposed(&raw);
        }
        let looked_at = if is_index && !raw.is_empty() { self.looked_at_in_merge()? } else { None };
        let is_own = |change: &RawChange| looked_at.as_ref().is_none_or(|paths| paths.contains(&change.path));
        #[cfg(feature = "write")]
        {
            let paths = raw
                .iter()
                .filter(|own| is_own(own))
                .flat_map(|own| [Some(&own.path), own.renamed_from.as_ref()].into_iter().flatten());
            let paths = paths.filter_map(|path| ProjectPath::new(std::str::from_utf8(path).ok()?).ok());
            self.changed.get_or_init(|| paths.collect());
        }
        let mut wanted = Wanted::default();
        raw.into_iter().filter(is_own).for_each(|change| wanted.add(change, is_wanted));
        wanted.read(&mut self.objects())
    }

    pub(super) fn objects(&self) -> MutexGuard<'_, ObjectReader> {
        // After a panic answers may be out of order, but each is matched by name or fails.
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listing {
    pub(super) fn start(root: &Root, command: &[&str], sides: &[&str]) -> Result<Self, Error> {
        let arguments = [command, &LISTING, sides, &["--"]].concat();
        let process = process::git(root.path(), &arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(no_git)?;
        Ok(Self { process, arguments: arguments.iter().map(|&argument| argument.to_owned()).collect() })
    }

    /// Before the first commit there is no HEAD: everything in the index is new.
    pub(super) fn finish(self, root: &Root) -> Result<Vec<u8>, Error> {
        let output = self.process.wait_with_output().map_err(pipe)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let mut arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let head = arguments.iter().position(|argument| *argument == "HEAD");
        if let Some(head) = head.filter(|_| matches!(error::has_head(root), Ok(false))) {
            let nothing = error::empty_tree(root)?;
            arguments[head] = &nothing;
            return Ok(error::ask(root, &arguments)?.unwrap_or_default());
        }
        Err(error::failed(root, &arguments, &output.stderr))
    }
}

pub(super) fn parse(output: &[u8]) -> Result<Vec<RawChange>, Error> {
    raw_diff::parse(output).map_err(unknown_answer)
}

#[derive(Debug)]
pub(super) struct Supposed {
    bytes: Vec<u8>,
    place: Place,
    /// Their SHA-1 object name, computed while git is listing.
    sha1: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// The index was not compared with HEAD yet.
    Unknown,
    /// In a tree: the file is unchanged.
    Tree,
    /// In the list of changes; `None` if it is not a file.
    Changed(Option<String>),
}

impl Supposed {
    fn new(bytes: Vec<u8>, place: Place) -> Self {
        Self { sha1: blob_name::<Sha1>(&bytes), bytes, place }
    }

    fn has_name(&self, name: &str) -> bool {
        match name.len() {
            40 => name == self.sha1,
            64 => name == blob_name::<Sha256>(&self.bytes),
            _ => false,
        }
    }
}

impl GitVersion {
    /// Hints that the file may have these bytes: for a long file, git's object name proves it much faster
    /// than unpacking. Call it before reading changes, while git is listing.
    pub(crate) fn suppose(&self, path: &ProjectPath, bytes: Vec<u8>) {
        let place = if self.revision.is_empty() { Place::Unknown } else { Place::Tree };
        self.supposed().insert(path.clone(), Supposed::new(bytes, place));
    }

    /// The hinted bytes, if proven.
    pub(super) fn supposed_bytes(&self, path: &ProjectPath) -> Result<Option<Vec<u8>>, Error> {
        let Some(supposed) = self.supposed().remove(path) else { return Ok(None) };
        let name = self.name_in(path, &supposed.place)?;
        Ok(name.is_some_and(|name| supposed.has_name(&name)).then_some(supposed.bytes))
    }

    fn name_in(&self, path: &ProjectPath, place: &Place) -> Result<Option<String>, Error> {
        match place {
            Place::Unknown => return Ok(None),
            Place::Changed(name) => return Ok(name.clone()),
            Place::Tree => {}
        }
        let revision = if self.revision.is_empty() { "HEAD" } else { &self.revision };
        let folder = path.parent().map_or_else(String::new, |folder| folder.to_string());
        if folder.contains('\n') {
            return Ok(None);
        }
        let tree = self.objects().read(&[format!("{revision}:./{folder}")])?;
        let [Object::Folder(tree)] = &tree[..] else { return Ok(None) };
        Ok(tree.object(path.file_name()))
    }

    /// Locates the hinted files, once the index's changes are known.
    pub(super) fn place_supposed(&self, changes: &[RawChange]) {
        for (path, supposed) in self.supposed().iter_mut() {
            let mut own = changes.iter().filter(|change| {
                let old = change.renamed_from.as_ref();
                change.path == path.as_str().as_bytes()
                    || old.is_some_and(|old| old == path.as_str().as_bytes())
            });
            supposed.place = match (own.next(), own.next()) {
                (None, _) => Place::Tree,
                (Some(change), None) if change.path == path.as_str().as_bytes() => {
                    Place::Changed(change.after.as_ref().map(|after| after.object.clone()))
                }
                // A conflict, or moved away.
                _ => Place::Changed(None),
            };
        }
    }

    fn supposed(&self) -> MutexGuard<'_, HashMap<ProjectPath, Supposed>> {
        // Entries are inserted whole, so a poisoned lock is valid.
        self.supposed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "write")]
pub(crate) fn is_blob_of(name: &str, bytes: &[u8]) -> bool {
    match name.len() {
        40 => name == blob_name::<Sha1>(bytes),
        64 => name == blob_name::<Sha256>(bytes),
        _ => false,
    }
}

/// The hash of `blob SIZE\0` and the bytes (gitformat-loose(5)), in hexadecimal.
fn blob_name<D: Digest>(bytes: &[u8]) -> String {
    let mut digest = D::new_with_prefix(format!("blob {}\0", bytes.len()));
    digest.update(bytes);
    hexadecimal(&digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_git() {
        // `printf 'a\n' | git hash-object --stdin`, in repositories of both hashes.
        let names = [
            "78981922613b2afb6025042ff6bd878ac1994e85",
            "f8625e43f9e04f24291f77cdbe4c71b3c2a3b0003f60419b3ed06a058d766c8b",
        ];
        let supposed = Supposed::new(b"a\n".to_vec(), Place::Tree);
        let other = Supposed::new(b"a\r\n".to_vec(), Place::Tree);
        for name in names {
            assert!(supposed.has_name(name) && !other.has_name(name), "{name}");
            assert!(!supposed.has_name(&name[1..]), "{name}");
            assert!(is_blob_of(name, b"a\n") && !is_blob_of(name, b"a"), "{name}");
        }
    }
}
