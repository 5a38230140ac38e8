//! The reasons why git cannot say what changed.

use crate::git::version::git_version::{Listing, parse};
use crate::git::version::{GitChanges, GitVersion, Object, error, raw_diff::Wanted};
use crate::{Error, ErrorKind};
use crate::{disk::root::Root, git::process, git::process::is_object_name};
use std::{collections::HashSet, io, process::Stdio};
use stepmark_model::artifact::ProjectPath;

pub(crate) fn no_git(source: io::Error) -> Error {
    Error::io("cannot run `git`, which knows what changed: install it, or put it on the search path", source)
}

/// A reason why the answer of git cannot be read.
pub(crate) fn pipe(source: io::Error) -> Error {
    Error::io("cannot read what git answers", source)
}

pub(super) fn no_repository(root: &Root) -> Error {
    let folder = root.path().display();
    Error::usage(format!(
        "`{folder}` is in no git repository, so nothing can be compared: check files by their paths"
    ))
}

pub(crate) fn no_commit(name: &str) -> Error {
    Error::unknown(format!(
        "`{name}` names no commit of this clone: fetch it first (a shallow clone lacks older commits; in GitHub Actions, \
         `fetch-depth: 0`)"
    ))
}

pub(crate) fn failed_as(arguments: &[&str], reason: &str) -> Error {
    Error::new(ErrorKind::Io, format!("`git {}` failed: {reason}", arguments.join(" ")))
}

pub(crate) fn unknown_answer(answer: String) -> Error {
    let message = format!("git lists changes in a form that stepmark does not know: {answer}");
    Error::new(ErrorKind::Io, message)
}

/// The newer state, and what it is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The index (`GIT_INDEX_FILE` is respected), held against HEAD: what the next commit changes. During a
    /// merge, what comes from the other branch as it is there is no change.
    Index,
    /// The commit `to`, held against where it left `from`: their merge base, as in a pull request.
    Commits {
        /// Any name of a commit; all zeros stand for a branch that is new, as in a pre-push hook: then what
        /// no remote has yet is looked at.
        from: String,
        to: String,
    },
}

/// The output of a command of git that ended well, and nothing where it ended with 1, which says "no".
pub(super) fn ask(root: &Root, arguments: &[&str]) -> Result<Option<Vec<u8>>, Error> {
    let mut command = process::git(root.path(), arguments);
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
    let output = output.map_err(no_git)?;
    match output.status.code() {
        Some(0) => Ok(Some(output.stdout)),
        Some(1) => Ok(None),
        _ => Err(failed(root, arguments, &output.stderr)),
    }
}

pub(super) fn failed(root: &Root, arguments: &[&str], stderr: &[u8]) -> Error {
    let reason = String::from_utf8_lossy(stderr);
    // Git speaks the language of its user; where it stands does not depend on that.
    if !process::is_repository(root) {
        return no_repository(root);
    }
    let reason = reason.trim();
    let reason = if reason.is_empty() { "it does not say why" } else { reason };
    failed_as(arguments, reason)
}

pub(super) fn commit(root: &Root, name: &str) -> Result<String, Error> {
    let wanted = format!("{name}^{{commit}}");
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
    let answer = ask(root, &arguments)?.map(|answer| text(&answer));
    answer.filter(|answer| is_object_name(answer)).ok_or_else(|| no_commit(name))
}

/// The commit where `to` (an object name) left `from`: their merge base. For a `from` of zeros: the one where
/// it left what a remote has; the empty tree where no remote has any of it.
pub(super) fn left(root: &Root, from: &str, to: &str) -> Result<String, Error> {
    if is_nothing(from) {
        let listed = ask(root, &["rev-list", "--boundary", to, "--not", "--remotes"])?.unwrap_or_default();
        let listed = text(&listed);
        // The oldest boundary: newer ones came in by merges.
        let boundary = listed.lines().rev().find_map(|line| line.strip_prefix('-'));
        return match boundary.filter(|name| is_object_name(name)) {
            Some(name) => Ok(name.to_owned()),
            None if listed.is_empty() => Ok(to.to_owned()),
            None => empty_tree(root),
        };
    }
    let start = commit(root, from)?;
    let base = ask(root, &["merge-base", &start, to])?.map(|answer| text(&answer));
    base.filter(|base| is_object_name(base)).ok_or_else(|| {
        Error::usage(format!(
            "`{from}` and `{to}` have no common ancestor in this clone: fetch more of its history (in GitHub \
                 Actions, `fetch-depth: 0`)"
        ))
    })
}

/// Returns whether the name stands for no commit, as git tells pre-push hooks of what is new or deleted.
pub(super) fn is_nothing(name: &str) -> bool {
    is_object_name(name) && name.bytes().all(|byte| byte == b'0')
}

/// Returns whether a commit is checked out; `false` before the first one.
pub(super) fn has_head(root: &Root) -> Result<bool, Error> {
    Ok(ask(root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?.is_some())
}

/// The name of the tree without any file, which depends on the hash that the repository uses.
pub(super) fn empty_tree(root: &Root) -> Result<String, Error> {
    let arguments = ["hash-object", "-t", "tree", "--stdin"];
    let name = ask(root, &arguments)?.map(|answer| text(&answer)).unwrap_or_default();
    if is_object_name(&name) { Ok(name) } else { Err(failed(root, &arguments, &[])) }
}

fn text(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).trim().to_owned()
}

impl GitVersion {
    /// The files that a merged side changed and that are something else now, each as it was there and as it
    /// is: during a merge the other branch is looked at, of commits all sides of the merges among them.
    pub(crate) fn merged_changes(
        &self,
        is_wanted: &dyn Fn(&ProjectPath) -> bool,
    ) -> Result<GitChanges, Error> {
        let mut wanted = Wanted::default();
        for side in self.merged_sides()? {
            let own = self.changed_on(&side, &self.base)?;
            if own.is_empty() {
                continue;
            }
            let listing = match self.is_index() {
                true => Listing::start(&self.root, &["diff-index", "--cached"], &[&side])?,
                false => Listing::start(&self.root, &["diff-tree"], &[&side, &self.revision])?,
            };
            for change in parse(&listing.finish(&self.root)?)? {
                if own.contains(change.renamed_from.as_ref().unwrap_or(&change.path)) {
                    wanted.add(change, is_wanted);
                }
            }
        }
        wanted.read(&mut self.objects())
    }

    /// During a merge: the paths at which the index differs from the branch that is merged, or at which HEAD
    /// changed something. What is as it is there was looked at where it was committed.
    pub(super) fn looked_at_in_merge(&self) -> Result<Option<HashSet<Vec<u8>>>, Error> {
        if !self.is_merging()? {
            return Ok(None);
        }
        let theirs = Listing::start(&self.root, &["diff-index", "--cached"], &["MERGE_HEAD"])?;
        let theirs = parse(&theirs.finish(&self.root)?)?;
        let mut paths = self.changed_on(&self.base, "MERGE_HEAD")?;
        paths.extend(theirs.into_iter().map(|change| change.path));
        Ok(Some(paths))
    }

    pub(crate) fn is_merging(&self) -> Result<bool, Error> {
        let merged = self.objects().read(&["MERGE_HEAD^{tree}"])?;
        Ok(matches!(merged[..], [Object::Folder(_)]))
    }

    fn merged_sides(&self) -> Result<Vec<String>, Error> {
        if self.is_index() {
            return Ok(if self.is_merging()? { vec!["MERGE_HEAD".to_owned()] } else { Vec::new() });
        }
        if self.base == self.revision {
            return Ok(Vec::new());
        }
        let arguments = ["rev-list", "--merges", "--parents", &self.revision, "--not", &self.base];
        let listed = error::ask(&self.root, &arguments)?.unwrap_or_default();
        let mut sides: Vec<String> = Vec::new();
        for parent in String::from_utf8_lossy(&listed).lines().flat_map(|line| line.split(' ').skip(1)) {
            if parent != self.base && !sides.iter().any(|side| side == parent) {
                sides.push(parent.to_owned());
            }
        }
        Ok(sides)
    }

    /// The paths that `side` changed since it left `other`.
    fn changed_on(&self, side: &str, other: &str) -> Result<HashSet<Vec<u8>>, Error> {
        let fork = error::ask(&self.root, &["merge-base", other, side])?.unwrap_or_default();
        let fork = String::from_utf8_lossy(&fork).trim().to_owned();
        if fork.is_empty() {
            return Ok(HashSet::new());
        }
        let listing = Listing::start(&self.root, &["diff-tree"], &[&fork, side])?;
        Ok(parse(&listing.finish(&self.root)?)?.into_iter().map(|change| change.path).collect())
    }
}
