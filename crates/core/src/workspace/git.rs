//! What git knows of a file.

use std::process::Stdio;

use super::{
    Workspace,
    git_process::{git, is_repository},
};
use crate::{
    artifact::ProjectPath,
    journal::{Actor, Outsider},
    root::Root,
};

/// Who last changed the file, as far as git knows: the author of its last commit, if the file is as it was committed.
/// Without git, or for what is not committed, nobody.
pub(super) fn outsider(root: &Root, path: &ProjectPath) -> Outsider {
    if !is_repository(root) {
        return Outsider::unknown();
    }
    let is_committed =
        run(root, &["status", "--porcelain", "--untracked-files=all", "--ignored", "--", path.as_str()])
            .is_some_and(|changes| changes.is_empty());
    if !is_committed {
        return Outsider::unknown();
    }
    let author = run(root, &["log", "-1", "--format=%H%x00%an", "--", path.as_str()]);
    let author = author.as_deref().and_then(|line| line.trim_end().split_once('\0'));
    author.map_or_else(Outsider::unknown, |(commit, name)| Outsider {
        actor: Actor::human(name),
        commit: Some(commit.to_owned()),
    })
}

impl Workspace {
    /// Whether the commit that is checked out holds a file at `path`; `None` without git or a commit.
    pub fn is_in_checked_out_commit(&self, path: &ProjectPath) -> Option<bool> {
        let listed = run(self.root(), &["ls-tree", "--name-only", "HEAD", "--", path.as_str()])?;
        Some(!listed.trim().is_empty())
    }
}

/// What a command of git prints, if it succeeds.
fn run(root: &Root, arguments: &[&str]) -> Option<String> {
    let output = git(root.path(), arguments).stdout(Stdio::piped()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
