//! The two states of a repository that are compared, and what says which.

use std::process::Stdio;

use crate::disk::root::Root;
use crate::git::{process, process::is_object_name, version::GitVersionError};

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
        /// Any name of a commit.
        to: String,
    },
}

/// The output of a command of git that ended well, and nothing where it ended with 1, which says "no".
pub(super) fn ask(root: &Root, arguments: &[&str]) -> Result<Option<Vec<u8>>, GitVersionError> {
    let mut command = process::git(root.path(), arguments);
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
    let output = output.map_err(|source| GitVersionError::NoGit { source })?;
    match output.status.code() {
        Some(0) => Ok(Some(output.stdout)),
        Some(1) => Ok(None),
        _ => Err(failed(root, arguments, &output.stderr)),
    }
}

/// The error behind what a command of git says on stderr.
pub(super) fn failed(root: &Root, arguments: &[&str], stderr: &[u8]) -> GitVersionError {
    let reason = String::from_utf8_lossy(stderr);
    // Git speaks the language of its user; where it stands does not depend on that.
    if !process::is_repository(root) {
        return GitVersionError::NoRepository { folder: root.path().to_owned() };
    }
    let reason = reason.trim();
    let reason = if reason.is_empty() { "it does not say why" } else { reason };
    GitVersionError::Failed { command: arguments.join(" "), reason: reason.to_owned() }
}

/// The object name of the commit that `name` stands for.
pub(super) fn commit(root: &Root, name: &str) -> Result<String, GitVersionError> {
    let wanted = format!("{name}^{{commit}}");
    let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
    let answer = ask(root, &arguments)?.map(|answer| text(&answer));
    answer
        .filter(|answer| is_object_name(answer))
        .ok_or_else(|| GitVersionError::NoCommit { name: name.to_owned() })
}

/// The commit where `to` (an object name) left `from`: their merge base. For a `from` of zeros: the one where
/// it left what a remote has; the empty tree where no remote has any of it.
pub(super) fn left(root: &Root, from: &str, to: &str) -> Result<String, GitVersionError> {
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
    base.filter(|base| is_object_name(base))
        .ok_or_else(|| GitVersionError::NoMergeBase { from: from.to_owned(), to: to.to_owned() })
}

/// Returns whether the name stands for no commit, as git tells pre-push hooks of what is new or deleted.
pub(super) fn is_nothing(name: &str) -> bool {
    is_object_name(name) && name.bytes().all(|byte| byte == b'0')
}

/// Returns whether a commit is checked out; `false` before the first one.
pub(super) fn has_head(root: &Root) -> Result<bool, GitVersionError> {
    Ok(ask(root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?.is_some())
}

/// The name of the tree without any file, which depends on the hash that the repository uses.
pub(super) fn empty_tree(root: &Root) -> Result<String, GitVersionError> {
    let arguments = ["hash-object", "-t", "tree", "--stdin"];
    let name = ask(root, &arguments)?.map(|answer| text(&answer)).unwrap_or_default();
    if is_object_name(&name) { Ok(name) } else { Err(failed(root, &arguments, &[])) }
}

fn text(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).trim().to_owned()
}
