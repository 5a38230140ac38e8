//! The sides that a merge joins: each of them may have lost something.

use std::collections::HashSet;

use crate::git::version::{
    GitChanges, GitVersion, GitVersionError, Object, base,
    git_version::{Listing, parse},
    wanted::Wanted,
};
use stepmark_model::artifact::ProjectPath;

impl GitVersion {
    /// The files that a merged side changed and that are something else now, each as it was there and as it
    /// is: during a merge the other branch is looked at, of commits all sides of the merges among them.
    ///
    /// # Errors
    /// When git does not answer, or in a form that is not known.
    pub(crate) fn merged_changes(
        &self,
        is_wanted: &dyn Fn(&ProjectPath) -> bool,
    ) -> Result<GitChanges, GitVersionError> {
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
    pub(super) fn looked_at_in_merge(&self) -> Result<Option<HashSet<Vec<u8>>>, GitVersionError> {
        if !self.is_merging()? {
            return Ok(None);
        }
        let theirs = Listing::start(&self.root, &["diff-index", "--cached"], &["MERGE_HEAD"])?;
        let theirs = parse(&theirs.finish(&self.root)?)?;
        let mut paths = self.changed_on(&self.base, "MERGE_HEAD")?;
        paths.extend(theirs.into_iter().map(|change| change.path));
        Ok(Some(paths))
    }

    /// Returns whether a merge is not committed yet.
    pub(crate) fn is_merging(&self) -> Result<bool, GitVersionError> {
        let merged = self.objects().read(&["MERGE_HEAD^{tree}"])?;
        Ok(matches!(merged[..], [Object::Folder(_)]))
    }

    fn merged_sides(&self) -> Result<Vec<String>, GitVersionError> {
        if self.is_index() {
            return Ok(if self.is_merging()? { vec!["MERGE_HEAD".to_owned()] } else { Vec::new() });
        }
        if self.base == self.revision {
            return Ok(Vec::new());
        }
        let arguments = ["rev-list", "--merges", "--parents", &self.revision, "--not", &self.base];
        let listed = base::ask(&self.root, &arguments)?.unwrap_or_default();
        let mut sides: Vec<String> = Vec::new();
        for parent in String::from_utf8_lossy(&listed).lines().flat_map(|line| line.split(' ').skip(1)) {
            if parent != self.base && !sides.iter().any(|side| side == parent) {
                sides.push(parent.to_owned());
            }
        }
        Ok(sides)
    }

    /// The paths that `side` changed since it left `other`.
    fn changed_on(&self, side: &str, other: &str) -> Result<HashSet<Vec<u8>>, GitVersionError> {
        let fork = base::ask(&self.root, &["merge-base", other, side])?.unwrap_or_default();
        let fork = String::from_utf8_lossy(&fork).trim().to_owned();
        if fork.is_empty() {
            return Ok(HashSet::new());
        }
        let listing = Listing::start(&self.root, &["diff-tree"], &[&fork, side])?;
        Ok(parse(&listing.finish(&self.root)?)?.into_iter().map(|change| change.path).collect())
    }
}
