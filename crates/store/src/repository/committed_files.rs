//! The files of the project that the commit that is checked out holds.

use std::collections::HashMap;

use crate::repository::{git::holds, git::object_of, git_history::head_commit};
use crate::{git::process::printed, repository::Repository};
use stepmark_model::artifact::ProjectPath;

/// The commit that is checked out, as far as it is about files of the project.
#[derive(Clone, Debug)]
pub struct CommittedFiles {
    pub commit: String,
    /// The folder of the project in its repository: empty, or ending with `/`.
    pub folder: String,
    /// The addresses of the repository's remotes, in the order of the configuration. A credential may stand
    /// in one.
    pub remotes: Vec<String>,
    objects: HashMap<String, String>,
}

impl Repository<'_> {
    /// The name that git puts into commits; `None` where it is told none.
    pub fn user(&self) -> Option<String> {
        let name = printed(self.workspace.root(), &["config", "--get", "user.name"])?;
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    }

    /// The files that the commit that is checked out holds; `None` outside of git, before the first commit,
    /// or where git cannot be asked.
    pub fn committed_files(&self) -> Option<CommittedFiles> {
        let root = self.workspace.root();
        let commit = head_commit(root)?;
        let folder =
            printed(root, &["rev-parse", "--show-prefix"])?.trim_end_matches(['\r', '\n']).to_owned();
        // It fails where there is none.
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
    /// Returns whether it holds the file at `path` with these bytes, whatever their line ends.
    pub fn holds(&self, path: &ProjectPath, bytes: &[u8]) -> bool {
        self.objects.get(path.as_str()).is_some_and(|object| holds(object, bytes))
    }
}
