//! The facts that git knows of a file.

use crate::disk::root::Root;
use crate::git::{process::is_repository, process::printed, version::is_blob_of};
use stepmark_model::{
    artifact::ProjectPath,
    journal::{Actor, ExternalAuthor},
};

/// The author who last changed the file that has `bytes`, as far as git knows: that of its last commit, if the file is as it was
/// committed. Without git, or for what is not committed, nobody.
///
/// `git status` would say whether it is, and run the filters that `.gitattributes` and the repository's configuration name.
pub(crate) fn outsider(root: &Root, path: &ProjectPath, bytes: &[u8]) -> ExternalAuthor {
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

/// The object of the one entry that `ls-tree` lists: `MODE TYPE OBJECT<TAB>PATH<NUL>`.
pub(crate) fn object_of(listed: &str) -> Option<&str> {
    listed.split_once('\t')?.0.rsplit(' ').next()
}

/// Returns whether the blob has these bytes, or has them with the line ends that git keeps (`core.autocrlf`).
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
