//! Errors of reading changes from git.

use crate::git::version::git_version::{Listing, parse};
use crate::git::version::{GitChanges, GitVersion, Object, error, raw_diff::Wanted};
use crate::{Error, ErrorKind};
use crate::{disk::root::Root, git::process, git::process::is_object_name};
use std::{collections::HashSet, io, process::Stdio};
use stepmark_model::artifact::ProjectPath;

pub(crate) fn no_git(source: io::Error) -> Error {
    Error::io("cannot run `git`, which knows what changed: install it, or put it on the search path", source)
}

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The index (or `GIT_INDEX_FILE`) against HEAD: the next commit's changes. During a merge, changes taken
    /// unchanged from the other branch do not count.
    Index,
    /// The commit `to` against the merge base with `from`, as in a pull request.
    Commits {
        /// Any commit name; all zeros for a new branch, as in a pre-push hook: then against what remotes
        /// have.
        from: String,
        to: String,
    },
}

/// Exit status 1 means "no": `None`.
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
    // Git's messages are localised, so the repository is looked for instead.
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

/// The merge base; for a `from` of zeros, where `to` left a remote's commits, or the empty tree if no remote
/// has any.
pub(super) fn left(root: &Root, from: &str, to: &str) -> Result<String, Error> {
    if is_nothing(from) {
        let listed = ask(root, &["rev-list", "--boundary", to, "--not", "--remotes"])?.unwrap_or_default();
        let listed = text(&listed);
        // The oldest boundary: newer ones came by merges.
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

/// All zeros, as pre-push hooks get for new or deleted refs.
pub(super) fn is_nothing(name: &str) -> bool {
    is_object_name(name) && name.bytes().all(|byte| byte == b'0')
}

/// `false` before the first commit.
pub(super) fn has_head(root: &Root) -> Result<bool, Error> {
    Ok(ask(root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?.is_some())
}

/// Depends on the repository's hash algorithm.
pub(super) fn empty_tree(root: &Root) -> Result<String, Error> {
    let arguments = ["hash-object", "-t", "tree", "--stdin"];
    let name = ask(root, &arguments)?.map(|answer| text(&answer)).unwrap_or_default();
    if is_object_name(&name) { Ok(name) } else { Err(failed(root, &arguments, &[])) }
}

fn text(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).trim().to_owned()
}

impl GitVersion {
    /// Files that a merged side changed and that differ now, with both versions. During a merge: of the other
    /// branch; for commits: of all sides of merges among them.
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

    /// During a merge: paths where the index differs from the other branch, or that HEAD changed. The rest
    /// was checked when it was committed.
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
