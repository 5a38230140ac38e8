//! The default branch's content, whatever is checked out.

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap, HashSet},
};

use crate::{
    Error,
    git::process::{is_object_name, is_repository, printed, printed_or_empty},
    history::{History, JoinedSegments, Removal, files_of_segment, joined_segments},
    repository::{
        CheckedOut, Repository,
        git::{holds, object_of},
        git_history::head_commit,
    },
};
use stepmark_model::artifact::ProjectPath;

/// In this order: the remote's as last fetched, then local ones.
const DEFAULT_BRANCHES: [&str; 4] =
    ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/heads/main", "refs/heads/master"];

/// A line with an artifact's id, as a regular expression of `git grep`.
const ID_LINE: &str = "^[\"']?(stepmark_id|id)[\"']?[ \t]*:";

const GREP: [&str; 9] =
    ["grep", "-h", "-I", "--no-line-number", "--no-column", "--no-color", "--no-break", "-E", "-e"];

impl Repository<'_> {
    /// Keys of artifacts with an id on the default branch, so that they are not gone although the work tree
    /// lacks them; without valid removals. Empty outside of git; `None` if git fails, or the default branch
    /// is unknown.
    pub fn kept_by_default_branch(&self) -> Result<Option<BTreeSet<String>>, Error> {
        if !is_repository(self.workspace.root()) {
            return Ok(Some(BTreeSet::new()));
        }
        let Some(lines) = self.id_lines_of_default_branch() else { return Ok(None) };
        let mut kept: BTreeSet<String> =
            lines.lines().filter_map(id_of).map(|id| format!("id:{id}")).collect();
        if !kept.is_empty() {
            let (mut head, joined) = (self.checked_out(), OnceCell::new());
            for removal in self.workspace.history().ask(History::removals)? {
                if kept.contains(&removal.key) && self.stands(&removal, &mut head, &joined)? {
                    kept.remove(&removal.key);
                }
            }
        }
        Ok(Some(kept))
    }

    /// True for a removal still in effect: the file is gone, and HEAD still has it, or has the event, too. A
    /// file restored after its removal may have been removed by other means.
    fn stands(
        &self,
        removal: &Removal,
        head: &mut CheckedOut,
        joined: &OnceCell<JoinedSegments>,
    ) -> Result<bool, Error> {
        if !self.workspace.read_file(&removal.path).is_err_and(|error| error.is_missing()) {
            return Ok(false);
        }
        if head.has(&removal.path) {
            return Ok(true);
        }
        // Unreadable files hold no event, and the ticket stays.
        let joined = joined.get_or_init(|| joined_segments(self.workspace.root()).unwrap_or_default());
        let segments = self.workspace.history().ask(|history| history.segments_of(removal.event))?;
        Ok(segments.iter().flat_map(|segment| files_of_segment(segment, joined)).any(|file| head.has(&file)))
    }

    /// The current and the default branch, if different. Without a branch, the commit, unless the default
    /// branch includes it.
    pub fn aside(&self) -> Option<(String, String)> {
        let root = self.workspace.root();
        let one_line = |arguments: &[&str]| Some(printed(root, arguments)?.trim().to_owned());
        let default = one_line(&["rev-parse", "--symbolic-full-name", &self.default_branch()?])?;
        let name = default.trim_start_matches("refs/remotes/origin/").trim_start_matches("refs/heads/");
        if let Some(branch) = one_line(&["symbolic-ref", "--quiet", "--short", "HEAD"]) {
            return (branch != name).then(|| (branch, name.to_owned()));
        }
        let own = format!("refs/heads/{name}");
        let holders = one_line(&["for-each-ref", "--count=1", "--contains", "HEAD", &default, &own])?;
        let commit = one_line(&["rev-parse", "--short", "HEAD"])?;
        holders.is_empty().then(|| (commit, name.to_owned()))
    }

    pub fn contained_commits(&self) -> HashSet<String> {
        let listed = printed(self.workspace.root(), &["rev-list", "HEAD"]).unwrap_or_default();
        listed.lines().map(str::to_owned).collect()
    }

    /// True for a known commit that no ref includes any more.
    pub fn was_given_up(&self, commit: &str) -> bool {
        let holders = ["for-each-ref", "--count=1", "--contains", commit];
        is_object_name(commit)
            && printed(self.workspace.root(), &holders).is_some_and(|found| found.is_empty())
    }

    fn default_branch(&self) -> Option<String> {
        let root = self.workspace.root();
        let is_there =
            |branch: &String| printed(root, &["rev-parse", "--verify", "--quiet", branch]).is_some();
        let configured = printed(root, &["config", "--get", "init.defaultBranch"]);
        let configured = configured.map(|name| format!("refs/heads/{}", name.trim()));
        let branches = DEFAULT_BRANCHES.iter().map(|branch| (*branch).to_owned()).chain(configured);
        branches.into_iter().find(is_there)
    }

    fn id_lines_of_default_branch(&self) -> Option<String> {
        let root = self.workspace.root();
        let Some(branch) = self.default_branch() else {
            // Before the first commit no branch has anything.
            return if printed(root, &["rev-parse", "--verify", "--quiet", "HEAD"]).is_none() {
                Some(String::new())
            } else {
                None
            };
        };
        printed_or_empty(root, &[&GREP[..], &[ID_LINE, &branch, "--", "."]].concat())
    }
}

/// Plain or quoted, possibly followed by a comment.
fn id_of(line: &str) -> Option<&str> {
    let value = line.split_once(':')?.1.trim();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split(" #").next()?.trim_end(),
    };
    (!value.is_empty()).then_some(value)
}

#[derive(Clone, Debug)]
pub struct CommittedFiles {
    pub commit: String,
    /// The project's folder in the repository: empty, or ending with `/`.
    pub folder: String,
    /// The remotes' URLs, in configured order. May contain credentials.
    pub remotes: Vec<String>,
    objects: HashMap<String, String>,
}

impl Repository<'_> {
    pub fn user(&self) -> Option<String> {
        let name = printed(self.workspace.root(), &["config", "--get", "user.name"])?;
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    }

    /// `None` without git or a commit, or if git fails.
    pub fn committed_files(&self) -> Option<CommittedFiles> {
        let root = self.workspace.root();
        let commit = head_commit(root)?;
        let folder =
            printed(root, &["rev-parse", "--show-prefix"])?.trim_end_matches(['\r', '\n']).to_owned();
        // Fails if there is none.
        let remotes =
            printed(root, &["config", "-z", "--get-regexp", r"^remote\..*\.url$"]).unwrap_or_default();
        let remotes =
            remotes.split('\0').filter_map(|entry| Some(entry.split_once('\n')?.1.to_owned())).collect();
        let listed = printed(root, &["ls-tree", "-r", "-z", &commit])?;
        let object = |entry: &str| {
            let (_, path) = entry.split_once('\t')?;
            Some((path.to_owned(), object_of(entry)?.to_owned()))
        };
        let objects = listed.split('\0').filter_map(object).collect();
        Some(CommittedFiles { commit, folder, remotes, objects })
    }
}

impl CommittedFiles {
    /// Ignores line ends.
    pub fn holds(&self, path: &ProjectPath, bytes: &[u8]) -> bool {
        self.objects.get(path.as_str()).is_some_and(|object| holds(object, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_yaml_writes_them() {
        for (line, expected) in [
            ("id: A-1", Some("A-1")),
            ("stepmark_id:  0198 # given by track", Some("0198")),
            ("\"id\": 'a b' # x", Some("a b")),
            ("id: \"x\"", Some("x")),
            ("id:", None),
            ("id: ''", None),
        ] {
            assert_eq!(id_of(line), expected, "{line}");
        }
    }
}
