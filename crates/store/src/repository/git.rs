//! Facts from git about a file.

use std::{cell::RefCell, rc::Rc};

use crate::disk::root::Root;
use crate::git::{process::is_repository, process::printed, version::is_blob_of};
use crate::repository::CheckedOut;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{Actor, Digests, ExternalAuthor},
};

/// Git's answers about a change's files: looked up under the locks, queried outside of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct GitFacts(Rc<RefCell<Vec<(ProjectPath, GitFact)>>>);

/// For the file in the state `file`; `None`: not queried yet.
#[derive(Clone, Debug)]
pub(crate) struct GitFact {
    file: Option<Digests>,
    /// True if a checkout may have brought the file.
    pub(crate) is_checked_out: Option<bool>,
    pub(crate) author: Option<ExternalAuthor>,
}

impl GitFacts {
    pub(crate) fn of(&self, root: &Root, path: &ProjectPath, file: Option<Digests>) -> GitFact {
        let facts = self.0.borrow();
        let known = facts.iter().rev().find(|(of, fact)| of == path && fact.file == file);
        match known {
            Some((_, fact)) => fact.clone(),
            None if is_repository(root) => GitFact { file, is_checked_out: None, author: None },
            None => GitFact { file, is_checked_out: Some(false), author: Some(ExternalAuthor::unknown()) },
        }
    }

    /// Records that `actor` made this state, not a checkout.
    pub(crate) fn tell(&self, path: &ProjectPath, file: Option<Digests>, actor: &Actor) {
        let author = Some(ExternalAuthor { actor: actor.clone(), commit: None });
        self.0.borrow_mut().push((path.clone(), GitFact { file, is_checked_out: Some(false), author }));
    }

    /// Returns a query: is the file checked out, if that matters; if not, who changed it?
    pub(crate) fn question(
        &self,
        root: &Root,
        path: &ProjectPath,
        (file, bytes): (Option<Digests>, &[u8]),
        asks_checkout: bool,
    ) -> Box<dyn FnOnce()> {
        let (facts, root, path, bytes) = (self.clone(), root.clone(), path.clone(), bytes.to_vec());
        Box::new(move || {
            let is_checked_out = asks_checkout.then(|| CheckedOut::of(&root).explains(&path, file));
            let author = (is_checked_out != Some(true)).then(|| outsider(&root, &path, &bytes));
            facts.0.borrow_mut().push((path, GitFact { file, is_checked_out, author }));
        })
    }
}

/// The author of the file's last commit, if it is as committed; otherwise nobody.
///
/// `git status` would run filters named by `.gitattributes` and the repository's configuration.
fn outsider(root: &Root, path: &ProjectPath, bytes: &[u8]) -> ExternalAuthor {
    if !is_repository(root) {
        return ExternalAuthor::unknown();
    }
    let committed = printed(root, &["ls-tree", "-z", "HEAD", "--", path.as_str()]);
    let is_committed = committed.as_deref().and_then(object_of).is_some_and(|object| holds(object, bytes));
    if !is_committed {
        return ExternalAuthor::unknown();
    }
    let author = printed(root, &["log", "-1", "--format=%H%x00%an", "--", path.as_str()]);
    let author = author.as_deref().and_then(|line| line.trim_end().split_once('\0'));
    author.map_or_else(ExternalAuthor::unknown, |(commit, name)| ExternalAuthor {
        actor: Actor::human(name),
        commit: Some(commit.to_owned()),
    })
}

/// From `ls-tree`: `MODE TYPE OBJECT<TAB>PATH<NUL>`.
pub(crate) fn object_of(listed: &str) -> Option<&str> {
    listed.split_once('\t')?.0.rsplit(' ').next()
}

/// Also true for the line ends that git stores (`core.autocrlf`).
pub(crate) fn holds(object: &str, bytes: &[u8]) -> bool {
    is_blob_of(object, bytes) || is_blob_of(object, &with_lf(bytes))
}

pub(crate) fn with_lf(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    for (place, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(place + 1) != Some(&b'\n') {
            kept.push(*byte);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_committed_is_known_by_its_object_whatever_the_line_ends() {
        // `printf 'a\n' | git hash-object --stdin`
        let listed = "100644 blob 78981922613b2afb6025042ff6bd878ac1994e85\tdocs/a.md\0";
        let object = object_of(listed).unwrap();
        assert!(holds(object, b"a\n") && holds(object, b"a\r\n"));
        assert!(!holds(object, b"a\r") && !holds(object, b"b\n"));
        assert_eq!(object_of(""), None);
    }
}
