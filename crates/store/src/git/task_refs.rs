//! Commits of tasks by plumbing commands: own index, no work tree, no hooks
//! (docs/adr/0031-flows-hold-one-lock.md).

use crate::Error;
use crate::git::{failed_as, no_commit, no_git, pipe};
use std::io;
use std::{
    collections::HashSet,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::disk::{Root, local_state::StateFolder};
use crate::git::process;

/// Merge commits that no ref names yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PreparedMerge {
    /// One for each merged tip, in order.
    pub(crate) commits: Vec<String>,
    pub(crate) conflicts: Vec<String>,
}

/// A private index, deleted on drop.
struct OwnIndex(PathBuf);

pub(crate) fn commit_of(root: &Root, name: &str) -> Option<String> {
    let wanted = format!("{name}^{{commit}}");
    let found = process::printed(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])?;
    Some(found.trim().to_owned()).filter(|name| process::is_object_name(name))
}

/// `None` for an invalid branch name, or a symbolic ref.
pub(crate) fn branch_ref(root: &Root, branch: &str) -> Result<Option<String>, Error> {
    let name = format!("refs/heads/{branch}");
    let (is_name, ..) = start(root, &["check-ref-format", &name], None, b"")?;
    let (is_symbolic, ..) = start(root, &["symbolic-ref", "--quiet", &name], None, b"")?;
    Ok(Some(name).filter(|_| is_name && !is_symbolic && !branch.starts_with('-')))
}

pub(crate) fn no_start(name: &str) -> Error {
    no_commit(name)
        .help("make a first commit that the task can begin from: `git commit --allow-empty --message start`")
}

/// `name` may be from anybody's record: only object names are passed to git, never an option.
fn object(name: &str) -> Result<&str, Error> {
    match process::is_object_name(name) {
        true => Ok(name),
        false => Err(no_start(name)),
    }
}

pub(crate) fn commit_work_tree(
    root: &Root,
    (origin, tip): (&str, &str),
    message: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Option<String>, Error> {
    let before = word(&ask(root, &["rev-parse", &format!("{}^{{tree}}", object(tip)?)], None, b"")?);
    let tree = tree_of_work_tree(root, origin, is_wanted)?;
    if tree == before {
        return Ok(None);
    }
    let commit = ask(root, &["commit-tree", &tree, "-p", tip], None, message.as_bytes())?;
    Ok(Some(word(&commit)))
}

/// Files that no commit of the checked-out branch holds as they are.
pub(crate) fn uncommitted(root: &Root) -> Result<HashSet<String>, Error> {
    let index = OwnIndex::new(root)?;
    ask(root, &["read-tree", "HEAD"], Some(&index.0), b"")?;
    let listed = differing(root, &index)?;
    Ok(names(&listed).filter_map(|name| Some(std::str::from_utf8(name).ok()?.to_owned())).collect())
}

pub(crate) fn tree_of_work_tree(
    root: &Root,
    base: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<String, Error> {
    let index = OwnIndex::new(root)?;
    ask(root, &["read-tree", object(base)?], Some(&index.0), b"")?;
    let listed = differing(root, &index)?;
    let wanted = names(&listed).filter(|name| std::str::from_utf8(name).is_ok_and(&is_wanted));
    let wanted: Vec<u8> = wanted.flat_map(|name| name.iter().copied().chain([0])).collect();
    ask(root, &["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], Some(&index.0), &wanted)?;
    Ok(word(&ask(root, &["write-tree"], Some(&index.0), b"")?))
}

fn differing(root: &Root, index: &OwnIndex) -> Result<Vec<u8>, Error> {
    let listed = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"];
    ask(root, &listed, Some(&index.0), b"")
}

fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

/// `old` is `None` for a ref that must not exist.
pub(crate) fn move_ref(root: &Root, name: &str, new: &str, old: Option<&str>) -> Result<(), Error> {
    let zero = "0".repeat(new.len());
    let (new, old) = (object(new)?, object(old.unwrap_or(&zero))?);
    ask(root, &["update-ref", "-m", "stepmark flow", name, new, old], None, b"").map(drop)
}

pub(crate) fn changed_between(root: &Root, from: &str, to: &str) -> Result<Vec<String>, Error> {
    let (from, to) = (object(from)?, object(to)?);
    let arguments = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--relative", from, to];
    let listed = ask(root, &arguments, None, b"")?;
    Ok(names(&listed).map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

pub(crate) fn patch_between(root: &Root, from: &str, to: &str) -> Result<String, Error> {
    let (from, to) = (object(from)?, object(to)?);
    let arguments = ["diff-tree", "-p", "-r", "--no-ext-diff", "--no-textconv", "--relative", from, to];
    Ok(String::from_utf8_lossy(&ask(root, &arguments, None, b"")?).into_owned())
}

/// Merges `tips`, each with its start commit and message, one by one onto `target`.
pub(crate) fn merge_onto(
    root: &Root,
    target: &str,
    tips: &[(String, String, String)],
) -> Result<PreparedMerge, Error> {
    let (mut merged, mut last) = (PreparedMerge::default(), target.to_owned());
    for (from, tip, message) in tips {
        let (base, tip) = (format!("--merge-base={}", object(from)?), object(tip)?);
        let arguments =
            ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", &base, &last, tip];
        let (is_clean, printed) = ask_either(root, &arguments)?;
        let mut parts =
            printed.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned());
        let tree = parts.next().unwrap_or_default();
        if !is_clean {
            merged.conflicts.extend(parts.take_while(|part| !part.is_empty()));
            continue;
        }
        last = word(&ask(root, &["commit-tree", tree.trim(), "-p", &last], None, message.as_bytes())?);
        merged.commits.push(last.clone());
    }
    merged.conflicts.sort();
    merged.conflicts.dedup();
    Ok(merged)
}

pub(crate) fn current_branch(root: &Root) -> Option<String> {
    let branch = process::printed(root, &["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    Some(branch.trim().to_owned()).filter(|branch| !branch.is_empty())
}

pub(crate) fn is_checked_out(root: &Root, branch: &str) -> bool {
    let listed = process::printed(root, &["worktree", "list", "--porcelain"]).unwrap_or_default();
    let wanted = format!("branch refs/heads/{branch}");
    listed.lines().any(|line| line == wanted)
}

impl OwnIndex {
    fn new(root: &Root) -> Result<Self, Error> {
        let folder = root.state().make(StateFolder::Cache).map_err(|error| pipe(io::Error::other(error)))?;
        Ok(Self(folder.join(format!("flow-index-{}", std::process::id()))))
    }
}

impl Drop for OwnIndex {
    #[expect(clippy::disallowed_methods, reason = "its own file goes")]
    fn drop(&mut self) {
        // A leftover is overwritten by the next user of its name.
        let _gone = fs::remove_file(&self.0);
    }
}

/// Uses `index` instead of the repository's, if given.
fn ask(root: &Root, arguments: &[&str], index: Option<&Path>, input: &[u8]) -> Result<Vec<u8>, Error> {
    let (is_fine, answer, reason) = start(root, arguments, index, input)?;
    match is_fine {
        true => Ok(answer),
        false => Err(failed_as(arguments, &reason)),
    }
}

/// Exit status 1 means that a difference was found.
fn ask_either(root: &Root, arguments: &[&str]) -> Result<(bool, Vec<u8>), Error> {
    let (is_fine, answer, reason) = start(root, arguments, None, b"")?;
    match is_fine || reason.is_empty() && !answer.is_empty() {
        true => Ok((is_fine, answer)),
        false => Err(failed_as(arguments, &reason)),
    }
}

fn start(
    root: &Root,
    arguments: &[&str],
    index: Option<&Path>,
    input: &[u8],
) -> Result<(bool, Vec<u8>, String), Error> {
    let mut command = process::git(root.path(), arguments);
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = piped.spawn().map_err(no_git)?;
    // These commands read all input before printing, so neither side blocks.
    let written = process.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input));
    let output = process.wait_with_output().map_err(pipe)?;
    if output.status.success() {
        written.map_err(pipe)?;
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok((output.status.success(), output.stdout, reason))
}

fn word(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).trim().to_owned()
}
